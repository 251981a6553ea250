/* Token buckets: never more than burst + rate * t over any window. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "gateway/bucket.h"

static const int64_t second = 1000000000;

Test(bucket, a_burst_and_then_the_rate)
{
	struct rate r = rate_make(10, 5);
	struct bucket b = { 0 };
	int64_t now = 7 * second;
	int64_t wait;

	for (int i = 0; i < 5; i++) {
		cr_assert_eq(bucket_take(&b, r, now), 0);
	}
	wait = bucket_take(&b, r, now);
	cr_assert_eq(wait, second / 10);
	/* It was not taken, so asking again costs nothing. */
	cr_assert_eq(bucket_take(&b, r, now), wait);
	cr_assert_eq(bucket_take(&b, r, now + wait - 1), 1);
	cr_assert_eq(bucket_take(&b, r, now + wait), 0);
	cr_assert_gt(bucket_take(&b, r, now + wait), 0);
	cr_assert(!bucket_full(&b, now + wait));
	/* Full after burst / rate, and never fuller. */
	now += wait + second / 2;
	cr_assert(bucket_full(&b, now));
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(bucket_take(&b, r, now + 100 * second), 0);
	}
	cr_assert_gt(bucket_take(&b, r, now + 100 * second), 0);
}

Test(bucket, no_limit)
{
	struct rate r = rate_make(0, 5);
	struct bucket b = { 0 };

	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(bucket_take(&b, r, 1), 0);
	}
	cr_assert(bucket_full(&b, 1));
}

Test(bucket, the_largest_and_the_smallest)
{
	struct bucket b = { 0 };
	struct rate r = rate_make(INT64_MAX, INT64_MAX);

	cr_assert_eq(bucket_take(&b, r, second), 0);
	r = rate_make(1, INT64_MAX);
	b = (struct bucket){ 0 };
	for (int i = 0; i < 100000; i++) {
		cr_assert_eq(bucket_take(&b, r, second), 0);
	}
	r = rate_make(1, 0);
	b = (struct bucket){ 0 };
	cr_assert_eq(bucket_take(&b, r, second), 0);
	cr_assert_eq(bucket_take(&b, r, second), second);
}

/* A reload makes a slow rate fast: the old debt must not lock anybody out. */
Test(bucket, the_debt_of_another_rate_is_forgotten)
{
	struct rate slow = rate_make(1, 1000);
	struct rate fast = rate_make(100, 10);
	struct bucket b = { 0 };
	int64_t now = second;

	while (bucket_take(&b, slow, now) == 0) {
	}
	cr_assert_eq(bucket_take(&b, fast, now), fast.gap_ns);
	cr_assert_eq(bucket_take(&b, fast, now + fast.gap_ns), 0);
}

struct taken {
	int64_t *at;
	size_t count;
};

/* Over every window that begins and ends with a token. */
static void expect_bound(const struct taken *t, int64_t per_s, int64_t burst)
{
	for (size_t first = 0; first < t->count; first += 7) {
		for (size_t last = first; last < t->count; last++) {
			__extension__ typedef __int128 wide;
			wide span = t->at[last] - t->at[first];
			wide most = (wide)burst * second + span * per_s;

			cr_assert((wide)(last - first + 1) * second <= most,
				  "%zu taken in %lld ns at %lld/s, burst %lld",
				  last - first + 1, (long long)span,
				  (long long)per_s, (long long)burst);
		}
	}
}

Test(bucket, never_more_than_burst_and_rate_over_any_window, .timeout = 60)
{
	static const int64_t rates[] = { 1, 3, 7, 20, 999, 1000, 333333 };
	unsigned seed = (unsigned)clock_mono_us();
	enum { TRIES = 3000 };
	int64_t at[TRIES];

	printf("seed %u\n", seed);
	srandom(seed);
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		for (int64_t burst = 1; burst < 200; burst = burst * 3 + 1) {
			struct rate r = rate_make(rates[i], burst);
			struct bucket b = { 0 };
			struct taken t = { .at = at };
			int64_t now = second;

			for (int n = 0; n < TRIES; n++) {
				/* Storms, trickles, and silence. */
				if (random() % 3 != 0) {
					now += random() % (r.gap_ns + 1);
				} else if (random() % 200 == 0) {
					now += r.depth_ns;
				}
				if (bucket_take(&b, r, now) == 0) {
					at[t.count++] = now;
				}
			}
			cr_assert_gt(t.count, 0);
			expect_bound(&t, rates[i], burst);
		}
	}
}

/* Whoever waits as long as it is told gets a token then. */
Test(bucket, the_wait_is_what_it_takes)
{
	struct rate r = rate_make(7, 3);
	struct bucket b = { 0 };
	int64_t now = second;

	for (int i = 0; i < 1000; i++) {
		int64_t wait = bucket_take(&b, r, now);

		if (wait > 0) {
			cr_assert_gt(bucket_take(&b, r, now + wait - 1), 0);
			cr_assert_eq(bucket_take(&b, r, now + wait), 0);
			now += wait;
		}
	}
}
