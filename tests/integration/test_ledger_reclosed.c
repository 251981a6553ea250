/* An activity that was halted after its close, and closed again: only what was
 * counted after the last close speaks for a refund. */
#include <criterion/criterion.h>

#include "lib/ledger_fixture.h"

static struct fixture f;

static void start(void)
{
	fixture_open(&f);
}

static void stop(void)
{
	fixture_close(&f);
}

TestSuite(ledger_reclosed, .init = start, .fini = stop, .timeout = 60);

/* 1,000 cents in 4 packets, of which 2 with 400 cents were taken. */
static void closed_and_halted(void)
{
	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_changed(&f, "a", 4, EVENT_OPENED);
	fixture_claim(&f, "a", "p1", "u1", 100, 1);
	fixture_closed(&f, "a", 5, 2, 2);
	fixture_counted(&f, "a", 6, 600);
	fixture_changed(&f, "a", 7, EVENT_HALTED);
	(void)fixture_apply(&f);
	cr_assert(!fixture_totals(&f, "a").books.refund_done);
}

Test(ledger_reclosed, an_old_count_does_not_refund)
{
	struct ledger_totals t;

	closed_and_halted();
	fixture_closed(&f, "a", 8, 2, 1);
	fixture_claim(&f, "a", "p2", "u2", 300, 2);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.leftover_cents, -1);
	cr_assert_eq(t.books.pool_cents, 600);
	cr_assert(!t.books.refund_done);

	/* A packet was taken by a stranger: what is left is not the pool. */
	fixture_counted(&f, "a", 9, 350);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert(!t.books.refund_done);
	cr_assert_neq(t.alarm[0], '\0');
	fixture_sound(&f);
}

Test(ledger_reclosed, the_new_count_does)
{
	struct ledger_totals t;

	closed_and_halted();
	fixture_closed(&f, "a", 8, 2, 2);
	fixture_claim(&f, "a", "p2", "u2", 300, 2);
	(void)fixture_apply(&f);
	fixture_counted(&f, "a", 9, 600);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert(t.books.refund_done);
	cr_assert_eq(t.books.refunded_cents, 600);
	fixture_sound(&f);
}

/* Revisions may come in any order: the newest close decides. */
Test(ledger_reclosed, a_count_that_comes_late_is_still_old)
{
	struct ledger_totals t;

	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_claim(&f, "a", "p1", "u1", 100, 1);
	fixture_claim(&f, "a", "p2", "u2", 300, 2);
	fixture_closed(&f, "a", 8, 2, 1);
	(void)fixture_apply(&f);
	fixture_counted(&f, "a", 6, 600);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert(!t.books.refund_done);
	cr_assert_eq(t.books.leftover_cents, -1);
}
