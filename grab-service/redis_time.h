/**
 * The time of Redis, told from this process's own clock and the times in the
 * replies. A reply says what Redis's clock showed somewhere between sending
 * and receiving; the exchange with the shortest round trip says it best.
 */
#ifndef GRAB_REDIS_TIME_H
#define GRAB_REDIS_TIME_H

#include <stdbool.h>
#include <stdint.h>

enum {
	REDIS_TIME_KEEP_MS = 10000, /* then a worse sample is better than it */
};

struct redis_time {
	bool known;
	int64_t offset_ms;   /* Redis's wall clock minus our monotonic one */
	uint64_t rtt_us;     /* of the sample it comes from */
	uint64_t sampled_us; /* monotonic, when that was */
};

/** One exchange: sent and received on the monotonic clock. */
void redis_time_sample(struct redis_time *t, uint64_t sent_us,
		       uint64_t received_us, int64_t redis_ms);

/** Redis's time now, in ms since 1970; our own wall clock before the first
 * sample. */
int64_t redis_time_at(const struct redis_time *t, uint64_t now_us);
int64_t redis_time_now(const struct redis_time *t);

#endif
