/* How long a grab would wait, and whether it may. F66, F26. */
#include <criterion/criterion.h>

#include "grab-service/pace.h"

enum { MS = 1000, MOST = 100 * MS, LEFT = 450 * MS };

static struct pace pace;

/* Calls that come back every gap_us, until now. */
static uint64_t calls(uint64_t now_us, uint64_t gap_us, int n)
{
	for (int i = 0; i < n; i++) {
		now_us += gap_us;
		pace_done(&pace, now_us - gap_us, now_us);
	}
	return now_us;
}

static struct pace_view view(uint64_t now_us, size_t in_flight, size_t waiting)
{
	return (struct pace_view){ .now_us = now_us,
				   .oldest_us = now_us,
				   .calls = in_flight,
				   .waiting = waiting,
				   .batch_max = 128 };
}

Test(pace, nothing_is_known_at_first_and_all_may_come)
{
	struct pace_view v = view(5 * MS, 2, 5000);

	pace = (struct pace){ 0 };
	cr_assert(pace_room(&pace, &v, LEFT, MOST));
}

Test(pace, the_wait_is_what_is_in_front)
{
	uint64_t now = calls(MS, 5 * MS, 50);
	struct pace_view v = view(now, 2, 0);

	cr_assert_eq(pace_wait_us(&pace, &v), 3 * 5 * MS);
	v.waiting = 256;
	cr_assert_eq(pace_wait_us(&pace, &v), 5 * 5 * MS);
	cr_assert(pace_room(&pace, &v, LEFT, MOST));
	cr_assert(!pace_room(&pace, &v, 24 * MS, MOST), "no time left");
	v.waiting = 17 * 128;
	cr_assert(pace_room(&pace, &v, LEFT, MOST));
	v.waiting = 18 * 128;
	cr_assert(!pace_room(&pace, &v, LEFT, MOST), "longer than anybody");
}

/* A call that is out for long is what Redis has become. */
Test(pace, silence_counts_while_it_lasts)
{
	uint64_t now = calls(MS, 5 * MS, 50);
	struct pace_view v = view(now, 1, 0);

	v.now_us = now + 100 * MS;
	cr_assert_eq(pace_wait_us(&pace, &v), 200 * MS);
	cr_assert(pace_room(&pace, &v, LEFT, MOST), "less than a batch waits");
	v.now_us = now + 300 * MS;
	cr_assert(!pace_room(&pace, &v, LEFT, MOST));
}

Test(pace, with_nothing_in_flight_a_batch_may_go)
{
	uint64_t now = calls(MS, 5000 * MS, 20);
	struct pace_view v = view(now, 0, 127);

	cr_assert(pace_room(&pace, &v, LEFT, MOST));
	v.waiting = 128;
	cr_assert(!pace_room(&pace, &v, LEFT, MOST));
}

/* One long silence does not keep people away. */
Test(pace, one_silence_is_not_what_is_usual)
{
	uint64_t now = calls(MS, 5 * MS, 50);
	struct pace_view v;

	now = calls(now, 3000 * MS, 1);
	v = view(now, 2, 128);
	cr_assert(pace_room(&pace, &v, LEFT, MOST));
}

/* A Redis that is slow for good is found out within some calls, and so is one
 * that is fast again. */
Test(pace, what_lasts_is_believed)
{
	uint64_t now = calls(MS, 5 * MS, 50);
	struct pace_view v;

	now = calls(now, 100 * MS, 10);
	v = view(now, 2, 128);
	cr_assert(!pace_room(&pace, &v, LEFT, MOST));
	now = calls(now, 5 * MS, 20);
	v = view(now, 2, 128);
	cr_assert(pace_room(&pace, &v, LEFT, MOST));
}

/* Two that leave together come back together. */
Test(pace, pairs_count_half_each)
{
	uint64_t now = MS;

	for (int i = 0; i < 50; i++) {
		pace_done(&pace, now, now + 20 * MS);
		pace_done(&pace, now, now + 20 * MS);
		now += 20 * MS;
	}
	cr_assert_geq(pace.call_us, 8 * MS);
	cr_assert_leq(pace.call_us, 12 * MS);
}
