#include "pace.h"

#include "base/check.h"

enum {
	/* Two calls that left together come back together: what is between
	 * two of them is the mean of long and short. */
	SMOOTH = 8,
	/* One long silence is not what is usual from now on. */
	OUTLIER = 8,
};

void pace_done(struct pace *p, uint64_t sent_us, uint64_t now_us)
{
	uint64_t from = sent_us > p->last_us ? sent_us : p->last_us;
	uint64_t took = now_us > from ? now_us - from : 0;

	p->last_us = now_us;
	if (p->call_us == 0) {
		p->call_us = took;
		return;
	}
	if (took > OUTLIER * p->call_us) {
		took = OUTLIER * p->call_us;
	}
	p->call_us = (p->call_us * (SMOOTH - 1) + took) / SMOOTH;
}

uint64_t pace_wait_us(const struct pace *p, const struct pace_view *v)
{
	uint64_t call_us = p->call_us;

	check(v->batch_max > 0);
	if (v->calls > 0) {
		uint64_t from =
			v->oldest_us > p->last_us ? v->oldest_us : p->last_us;

		if (v->now_us > from && v->now_us - from > call_us) {
			call_us = v->now_us - from;
		}
	}
	return call_us * (v->calls + v->waiting / v->batch_max + 1);
}

bool pace_room(const struct pace *p, const struct pace_view *v,
	       uint64_t left_us, uint64_t most_us)
{
	bool beyond_one = v->waiting >= v->batch_max;
	uint64_t wait_us;

	if (v->calls == 0 && !beyond_one) {
		return true;
	}
	wait_us = pace_wait_us(p, v);
	return wait_us <= left_us && (!beyond_one || wait_us <= most_us);
}
