#include "gateway/bucket.h"

enum { NS_PER_S = 1000000000 };

/* Clocks of two threads never differ by as much. What is further ahead than an
 * empty bucket is left over from a rate that was slower. */
static const int64_t strange_ns = NS_PER_S;

/* So that depth and the times made of it stay far from overflow. */
static const int64_t depth_max_ns = INT64_MAX / 8;

struct rate rate_make(int64_t per_s, int64_t burst)
{
	struct rate r = { 0 };

	if (per_s <= 0) {
		return r;
	}
	if (burst < 1) {
		burst = 1;
	}
	r.gap_ns = per_s < NS_PER_S ? (NS_PER_S + per_s - 1) / per_s : 1;
	r.depth_ns = burst < depth_max_ns / r.gap_ns ? burst * r.gap_ns
						     : depth_max_ns;
	return r;
}

int64_t bucket_take(struct bucket *b, struct rate r, int64_t now_ns)
{
	int64_t full = atomic_load_explicit(&b->full_ns, memory_order_relaxed);
	int64_t next;

	if (r.gap_ns == 0) {
		return 0;
	}
	do {
		int64_t at = full > now_ns ? full : now_ns;

		if (at > now_ns + r.depth_ns + strange_ns) {
			at = now_ns + r.depth_ns;
		}
		next = at + r.gap_ns;
		if (next > now_ns + r.depth_ns) {
			if (at != full && full > now_ns) {
				/* Forget the old rate's debt. */
				(void)atomic_compare_exchange_strong_explicit(
					&b->full_ns, &full, at,
					memory_order_relaxed,
					memory_order_relaxed);
			}
			return next - (now_ns + r.depth_ns);
		}
	} while (!atomic_compare_exchange_weak_explicit(
		&b->full_ns, &full, next, memory_order_relaxed,
		memory_order_relaxed));
	return 0;
}

bool bucket_full(const struct bucket *b, int64_t now_ns)
{
	return atomic_load_explicit(&b->full_ns, memory_order_relaxed) <=
	       now_ns;
}
