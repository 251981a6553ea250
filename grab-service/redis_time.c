#include "redis_time.h"

#include "base/check.h"
#include "base/clock.h"

void redis_time_sample(struct redis_time *t, uint64_t sent_us,
		       uint64_t received_us, int64_t redis_ms)
{
	uint64_t rtt = received_us - sent_us;
	bool stale;

	check(received_us >= sent_us);
	stale = received_us - t->sampled_us > REDIS_TIME_KEEP_MS * 1000;
	if (t->known && !stale && rtt > t->rtt_us) {
		return;
	}
	t->known = true;
	t->rtt_us = rtt;
	t->sampled_us = received_us;
	t->offset_ms = redis_ms - (int64_t)((sent_us + rtt / 2) / 1000);
}

int64_t redis_time_at(const struct redis_time *t, uint64_t now_us)
{
	if (!t->known) {
		return clock_wall_ms();
	}
	return (int64_t)(now_us / 1000) + t->offset_ms;
}

int64_t redis_time_now(const struct redis_time *t)
{
	return redis_time_at(t, clock_mono_us());
}
