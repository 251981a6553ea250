/* What a round of the torture adds to its activities comes from the seed. */
#include <criterion/criterion.h>

#include "fault/activities.h"

static struct activities planned(uint64_t seed, size_t round)
{
	struct activities a;

	activities_plan(&a, seed, round, 800, 30000);
	return a;
}

Test(fault_activities, some_of_each_in_any_four_rounds)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		int adopted = 0, topups = 0, none = 0, both = 0;

		for (size_t round = 0; round < 4; round++) {
			struct activities a = planned(seed, round);
			int here = activities_has(&a, "topup 1") +
				   activities_has(&a, "topup 2");

			cr_assert(a.adopted == ACTIVITY_LEFT ||
				  a.adopted == ACTIVITY_LATE ||
				  a.adopted == ROUND_ACTIVITIES);
			adopted += a.adopted != ROUND_ACTIVITIES;
			topups += here;
			both += here == 2;
			none += here == 0;
			cr_assert(activities_has(&a, "close"));
		}
		cr_assert_eq(adopted, 2);
		cr_assert_eq(topups, 4);
		cr_assert_eq(both, 1);
		cr_assert_eq(none, 1);
	}
}

Test(fault_activities, a_seed_replays_what_is_added)
{
	struct activities a = planned(77, 1), b = planned(77, 1);
	struct activities c = planned(79, 1);

	cr_assert_eq(a.adopted, b.adopted);
	cr_assert_eq(a.foreign_seed, b.foreign_seed);
	cr_assert_eq(a.more[1], b.more[1]);
	cr_assert_arr_eq(a.live, b.live, sizeof a.live);
	cr_assert_neq(a.foreign_seed, c.foreign_seed);
}

Test(fault_activities, live_are_some_that_are_neither_adopted_nor_topped_up)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct activities a = planned(seed, 2);

		for (int i = 0; i < ROUND_ACTIVITIES; i++) {
			cr_assert_not(a.live[i] && (int)a.adopted == i);
		}
		cr_assert_not(a.live[ACTIVITY_SOLD] &&
			      (activities_has(&a, "topup 1") ||
			       activities_has(&a, "topup 2")));
	}
}

/* Also a short run has both, among those that people tap for. */
Test(fault_activities, live_and_lists_in_any_two_rounds)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		int live = 0, lists = 0;

		for (size_t round = 0; round < 2; round++) {
			struct activities a = planned(seed, round);

			for (int i = 0; i < ACTIVITY_NEVER; i++) {
				live += a.live[i];
				lists += !a.live[i];
			}
		}
		cr_assert_geq(live, 1, "seed %d", (int)seed);
		cr_assert_geq(lists, 2, "seed %d", (int)seed);
	}
}

/* Every way of being live comes along: sold out, with entropy (in odd rounds)
 * and without, released over time (in even ones) and at once, cancelled. */
Test(fault_activities, every_way_of_being_live)
{
	int sold = 0, left[2] = { 0 }, late[2] = { 0 }, never = 0;

	for (uint64_t seed = 0; seed < 50; seed++) {
		for (size_t round = 0; round < 4; round++) {
			struct activities a = planned(seed, round);

			sold += a.live[ACTIVITY_SOLD];
			left[round % 2] += a.live[ACTIVITY_LEFT];
			late[round % 2] += a.live[ACTIVITY_LATE];
			never += a.live[ACTIVITY_NEVER];
		}
	}
	cr_assert_eq(sold, 50);
	cr_assert_gt(left[0], 10);
	cr_assert_gt(left[1], 10);
	cr_assert_gt(late[0], 10);
	cr_assert_gt(late[1], 10);
	cr_assert_gt(never, 50);
}
