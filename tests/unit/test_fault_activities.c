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
	cr_assert_neq(a.foreign_seed, c.foreign_seed);
}
