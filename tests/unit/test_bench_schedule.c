/* When taps are due, and that a stall is seen by all who had to wait. */
#include <criterion/criterion.h>

#include "base/histogram.h"
#include "bench/schedule.h"

Test(bench_schedule, a_constant_rate)
{
	struct schedule s = { .rate = 1000, .stride = 1 };

	cr_assert_eq(schedule_due_us(&s, 0), 0);
	cr_assert_eq(schedule_due_us(&s, 1), 1000);
	cr_assert_eq(schedule_due_us(&s, 59999), 59999000);
	s.rate = 3; /* a third of a second is no whole number */
	cr_assert_eq(schedule_due_us(&s, 1), 333333);
	cr_assert_eq(schedule_due_us(&s, 3 * 86400), UINT64_C(86400000000));
}

/* The threads together have the taps of the one schedule, each once. */
Test(bench_schedule, threads_share_it)
{
	struct schedule all = { .rate = 700, .ramp_us = 2e6, .stride = 1 };

	for (uint64_t n = 0; n < 3000; n++) {
		struct schedule one = { .rate = 700,
					.ramp_us = 2e6,
					.stride = 3,
					.offset = n % 3 };

		cr_assert_eq(schedule_due_us(&one, n / 3),
			     schedule_due_us(&all, n));
	}
}

/* 1,000 a second after a ramp of 4 s: the ramp has 2,000 taps, after its first
 * half (a quarter of its area) 500 have left, and then one leaves each ms. */
Test(bench_schedule, a_ramp)
{
	struct schedule s = { .rate = 1000, .ramp_us = 4e6, .stride = 1 };
	uint64_t before = 0;

	cr_assert_eq(schedule_due_us(&s, 0), 0);
	cr_assert_eq(schedule_due_us(&s, 500), 2000000);
	cr_assert_eq(schedule_due_us(&s, 2000), 4000000);
	cr_assert_eq(schedule_due_us(&s, 2001), 4001000);
	cr_assert_eq(schedule_due_us(&s, 5000), 7000000);
	for (uint64_t n = 1; n < 5000; n++) {
		uint64_t due = schedule_due_us(&s, n);

		cr_assert(due >= before);
		before = due;
	}
}

Test(bench_schedule, connections_of_a_closed_loop)
{
	cr_assert_eq(schedule_begin_us(0, 9, 10), 0);
	cr_assert_eq(schedule_begin_us(1000000, 0, 10), 0);
	cr_assert_eq(schedule_begin_us(1000000, 5, 10), 500000);
	cr_assert_eq(schedule_begin_us(1000000, 9, 10), 900000);
}

/* A server that answers within 100 us stands still from 5 s to 6 s. */
static uint64_t answered_us(uint64_t asked_us)
{
	uint64_t at =
		asked_us >= 5000000 && asked_us < 6000000 ? 6000000 : asked_us;

	return at + 100;
}

static struct histogram open_loop;
static struct histogram closed_loop;

/* Of 10,000 taps in 10 s a thousand were due while it stood still: a tenth, the
 * first of them waited for a second, the last for a millisecond. A client that
 * waits for its answer before it taps again saw one slow answer. */
Test(bench_schedule, a_stall_is_not_omitted)
{
	struct schedule s = { .rate = 1000, .stride = 1 };
	uint64_t slow = 0;
	uint64_t now = 0;

	for (uint64_t n = 0; n < 10000; n++) {
		uint64_t due = schedule_due_us(&s, n);
		uint64_t took = answered_us(due) - due;

		histogram_add(&open_loop, took);
		slow += took >= 500000;
	}
	cr_assert_eq(slow, 501); /* due from 5.000 s to 5.500 s */
	cr_assert_eq(histogram_percentile(&open_loop, 0.9), 100);
	/* 9,500 of 10,000 had waited for 500.1 ms at most. */
	cr_assert_float_eq((double)histogram_percentile(&open_loop, 0.95),
			   500100, 500);
	cr_assert_float_eq((double)histogram_percentile(&open_loop, 0.99),
			   900100, 900);
	cr_assert_eq(open_loop.max, 1000100);

	while (now < 10000000) {
		uint64_t answer = answered_us(now);

		histogram_add(&closed_loop, answer - now);
		now = answer > now + 1000 ? answer : now + 1000;
	}
	/* 5,000 before, one that waits, 4,000 from 6.0001 s on. */
	cr_assert_eq(closed_loop.total, 9001);
	cr_assert_eq(histogram_percentile(&closed_loop, 0.999), 100);
}
