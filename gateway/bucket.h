/**
 * Token buckets: at most `burst` at once and `per_s` a second for long. A
 * bucket is one number, the time at which it is full again, so taking from it
 * needs no lock, and a bucket that nobody knows is a full one.
 */
#ifndef GATEWAY_BUCKET_H
#define GATEWAY_BUCKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct rate {
	int64_t gap_ns;   /* in which a token comes; 0: no limit */
	int64_t depth_ns; /* in which an empty bucket fills */
};

/* All zero: full. Times are of any one clock that does not go back by more
 * than its users bear: so much may be taken too early. */
struct bucket {
	_Atomic int64_t full_ns;
};

/** per_s 0: no limit. Neither is negative; burst 0 counts as 1. Never more
 * than was asked for: the gap is rounded up. */
struct rate rate_make(int64_t per_s, int64_t burst);

/** Take a token: 0; or how many nanoseconds until there is one, and nothing
 * was taken. From any thread. Within any span t of now_ns at most
 * burst + per_s * t are taken. */
int64_t bucket_take(struct bucket *b, struct rate r, int64_t now_ns);

/** Whether forgetting b changes nothing. */
bool bucket_full(const struct bucket *b, int64_t now_ns);

#endif
