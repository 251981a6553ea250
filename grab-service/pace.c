#include "pace.h"

#include "base/check.h"

void pace_done(struct pace *p, uint64_t sent_us, uint64_t now_us)
{
	uint64_t from = sent_us > p->last_us ? sent_us : p->last_us;
	uint64_t took = now_us > from ? now_us - from : 0;

	p->last_us = now_us;
	if (p->call_us == 0) {
		p->call_us = took;
	} else if (took > p->call_us) {
		p->call_us += (took - p->call_us) / 4;
	} else {
		/* Good news are believed sooner: one long silence shall not
		 * keep people away from a Redis that is fast again. */
		p->call_us -= (p->call_us - took) / 2;
	}
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
