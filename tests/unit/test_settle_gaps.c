#include <criterion/criterion.h>
#include <stdio.h>

#include "settle-worker/gaps.h"

static struct gaps g;

static void see(const char *id, int64_t whole, int64_t gap, bool caught_up,
		uint64_t now)
{
	struct ledger_watch w = { .whole_seq = whole, .gap_after = gap };

	(void)snprintf(w.activity_id, sizeof w.activity_id, "%s", id);
	gaps_update(&g, &w, 1, caught_up, now);
}

static void setup(void)
{
	g = (struct gaps){ .age_ms = 100 };
}

TestSuite(gaps, .init = setup);

Test(gaps, is_asked_for_once_it_is_old_enough)
{
	see("a", 3, 3, true, 1000);
	cr_assert_null(gaps_due(&g, 1000));
	see("a", 3, 3, true, 1099);
	cr_assert_null(gaps_due(&g, 1099));
	see("a", 3, 3, true, 1100);
	cr_assert_str_eq(gaps_due(&g, 1100)->activity_id, "a");
	cr_assert_null(gaps_due(&g, 1100));
	/* Again after twice the time. */
	cr_assert_null(gaps_due(&g, 1299));
	cr_assert_not_null(gaps_due(&g, 1300));
}

Test(gaps, that_moves_is_young_again)
{
	see("a", 3, 3, true, 1000);
	see("a", 4, 4, true, 1099);
	cr_assert_null(gaps_due(&g, 1150));
	cr_assert_not_null(gaps_due(&g, 1199));
}

Test(gaps, does_not_age_while_more_is_on_its_way)
{
	see("a", 3, 3, true, 1000);
	see("a", 3, 3, false, 1090);
	cr_assert_null(gaps_due(&g, 1120));
}

/* What is published again keeps the worker busy: that is no reason to ask for
 * it sooner than after twice the time. */
Test(gaps, that_stay_are_asked_for_less_often_also_when_there_is_work)
{
	uint64_t wait = 100;
	uint64_t now = 1000;

	see("a", 3, 3, true, now);
	for (int i = 0; i < 3; i++) {
		cr_assert_null(gaps_due(&g, now + wait - 1));
		now += wait;
		cr_assert_not_null(gaps_due(&g, now));
		now += 10;
		see("a", 3, 3, false, now);
		see("a", 3, 3, true, now);
		wait *= 2;
	}
}

Test(gaps, that_is_closed_is_forgotten)
{
	see("a", 3, 3, true, 1000);
	see("a", 9, -1, true, 1050);
	cr_assert_null(gaps_due(&g, 5000));
	see("b", 0, -1, true, 1060);
	cr_assert_eq(g.count, 1);
}

Test(gaps, opens_when_more_was_published_than_came)
{
	see("a", 3, -1, true, 1000);
	gaps_counters(&g, BYTES("a"), 9, 9, 0);
	see("a", 3, -1, true, 1010);
	see("a", 3, -1, true, 1110);
	cr_assert_eq(gaps_due(&g, 1110)->whole_seq, 3);
}

Test(gaps, opens_when_a_change_of_the_activity_did_not_come)
{
	see("a", 3, -1, true, 1000);
	gaps_counters(&g, BYTES("a"), 3, 3, 2);
	see("a", 3, -1, true, 1010);
	see("a", 3, -1, true, 1110);
	cr_assert_eq(gaps_due(&g, 1110)->whole_seq, 3);
}
