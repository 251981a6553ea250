/* One case of settlement each, on a real file. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "lib/ledger_fixture.h"

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
}

static void teardown(void)
{
	fixture_sound(&f);
	fixture_close(&f);
}

TestSuite(ledger, .init = setup, .fini = teardown);

/* An activity of 10.00 in 4 packets, open. */
static void open_activity(const char *id)
{
	fixture_created(&f, id, 1000, 4);
	fixture_loaded(&f, id, 3, 1, 1000, 4);
	fixture_changed(&f, id, 4, EVENT_OPENED);
	(void)fixture_apply(&f);
}

Test(ledger, credits_a_claim_from_the_pool)
{
	struct ledger_result r;
	struct ledger_totals t;
	struct ledger_record record;
	bool found = false;

	open_activity("a");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 1);
	cr_assert_eq(r.credited_cents, 250);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
	t = fixture_totals(&f, "a");
	cr_assert_str_eq(settle_state_name(t.books.state), "OPEN");
	cr_assert_str_eq(t.sponsor, "acme");
	cr_assert_str_eq(t.currency, "CNY");
	cr_assert_eq(t.revision, 4);
	cr_assert_eq(t.books.pool_cents, 750);
	cr_assert_eq(t.books.pool_packets, 3);
	cr_assert_eq(t.seq_count, 1);
	cr_assert_eq(ledger_record(f.reader, BYTES("a"), BYTES("u1"), &record,
				   &found),
		     0);
	cr_assert(found);
	cr_assert_str_eq(record.red_packet_id, "p1");
	cr_assert_eq(record.amount_cents, 250);
	cr_assert_eq(record.credited_ms, (int64_t)FIXTURE_NOW * 1000);
}

Test(ledger, a_claim_before_its_funds_waits_for_them)
{
	struct ledger_result r;
	struct ledger_totals t;

	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	r = fixture_apply(&f);
	cr_assert_eq(r.parked, 1);
	cr_assert_eq(fixture_balance(&f, "u1"), 0);
	t = fixture_totals(&f, "a"); /* the stub row */
	cr_assert_str_eq(settle_state_name(t.books.state), "UNKNOWN");
	cr_assert_eq(t.books.parked, 1);
	cr_assert_eq(t.books.max_seq, 1);
	cr_assert_str_eq(t.alarm, "");

	/* `loaded` without `created`: the sponsor is not known. */
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 0);
	fixture_created(&f, "a", 1000, 4);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 1);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.parked, 0);
	cr_assert_eq(t.total_cents, 1000);
}

Test(ledger, more_parked_claims_than_a_page_are_all_paid)
{
	char packet[16];
	char user[16];
	struct ledger_result r;

	for (unsigned i = 1; i <= 1201; i++) {
		(void)snprintf(packet, sizeof packet, "p%u", i);
		(void)snprintf(user, sizeof user, "u%u", i);
		fixture_claim(&f, "a", packet, user, 1, i);
	}
	r = fixture_apply(&f);
	cr_assert_eq(r.parked, 1201);
	fixture_created(&f, "a", 1201, 1201);
	fixture_loaded(&f, "a", 3, 1, 1201, 1201);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 1201);
	cr_assert_eq(fixture_totals(&f, "a").books.parked, 0);
	cr_assert_eq(fixture_totals(&f, "a").books.whole_seq, 1201);
}

Test(ledger, a_replay_changes_nothing)
{
	struct ledger_result r;

	open_activity("a");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 1);
	cr_assert_eq(r.replays, 1);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_created(&f, "a", 1000, 4);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 0);
	cr_assert_eq(r.replays, 1);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
	cr_assert_eq(fixture_totals(&f, "a").books.funded_cents, 1000);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM transfer"), 2);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM dead_letter"), 0);
}

Test(ledger, a_top_up_funds_its_own_claims)
{
	struct ledger_totals t;

	open_activity("a");
	fixture_claim_in(&f, "a", "p5", "u5", 500, 5, 2);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "u5"), 0);
	fixture_loaded(&f, "a", 5, 2, 500, 1);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "u5"), 500);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.total_cents, 1500);
	cr_assert_eq(t.total_packets, 5);
	cr_assert_eq(t.books.funded_cents, 1500);
	cr_assert_str_eq(settle_state_name(t.books.state), "OPEN");
}

Test(ledger, a_paid_packet_is_not_paid_to_another)
{
	struct ledger_result r;
	struct ledger_totals t;

	open_activity("a");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p1", "u2", 250, 2); /* another user */
	fixture_claim(&f, "a", "p1", "u1", 300, 1); /* another amount */
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 1);
	cr_assert_eq(r.conflicts, 2);
	cr_assert_eq(r.alarms, 1);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
	cr_assert_eq(fixture_balance(&f, "u2"), 0);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.pool_cents, 750);
	cr_assert_eq(t.books.held_cents, 0);
	cr_assert_eq(t.conflict_count, 2);
	cr_assert_eq(t.seq_count, 2);
	cr_assert(strstr(t.alarm, "2 claims in conflict") != NULL, "%s",
		  t.alarm);
	/* Again: nothing. */
	fixture_claim(&f, "a", "p1", "u2", 250, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.conflicts, 0);
	cr_assert_eq(r.replays, 1);
}

Test(ledger, a_second_packet_of_a_user_is_held_once)
{
	struct ledger_result r;
	struct ledger_totals t;

	open_activity("a");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "u1", 300, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 1);
	cr_assert_eq(r.conflicts, 1);
	fixture_claim(&f, "a", "p2", "u1", 300, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.replays, 1);
	/* Its money is held: nobody else gets it either. */
	fixture_claim(&f, "a", "p2", "u3", 300, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.conflicts, 1);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
	cr_assert_eq(fixture_balance(&f, "u3"), 0);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.held_cents, 300);
	cr_assert_eq(t.books.pool_cents, 450);
	cr_assert_eq(fixture_number(&f, "SELECT balance FROM account WHERE "
					"kind = 'held'"),
		     300);
	/* A person's decision stays. */
	(void)fixture_number(&f, "UPDATE conflict SET decision = 'kept' "
				 "RETURNING 1");
	fixture_claim(&f, "a", "p2", "u1", 300, 2);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM conflict WHERE "
					"decision <> ''"),
		     2);
	cr_assert_str_eq(fixture_totals(&f, "a").alarm, "");
}

Test(ledger, a_second_packet_with_the_same_seq_is_held)
{
	open_activity("a");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "u2", 250, 1);
	cr_assert_eq(fixture_apply(&f).conflicts, 1);
	cr_assert_eq(fixture_totals(&f, "a").books.held_cents, 250);
}

Test(ledger, a_void_claim_is_held)
{
	struct ledger_result r;

	open_activity("a");
	fixture_claim(&f, "a", "p1", "#1", 250, 1);
	fixture_claim(&f, "a", "p2", "#2", 300, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.conflicts, 2);
	cr_assert_eq(fixture_totals(&f, "a").books.held_cents, 550);
	fixture_claim(&f, "a", "p1", "#1", 250, 1);
	cr_assert_eq(fixture_apply(&f).replays, 1);
	cr_assert_eq(fixture_totals(&f, "a").books.held_packets, 2);
}

Test(ledger, a_pool_that_is_short_refuses_and_alarms)
{
	struct ledger_result r;
	struct ledger_totals t;

	open_activity("a");
	fixture_claim(&f, "a", "p1", "u1", 900, 1);
	fixture_claim(&f, "a", "p2", "u2", 200, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 1);
	cr_assert_eq(r.parked, 1);
	cr_assert_eq(r.alarms, 1);
	t = fixture_totals(&f, "a");
	cr_assert(strstr(t.alarm, "1 claim is owed") != NULL, "%s", t.alarm);
	/* It stays owed, and more money pays it. */
	fixture_claim(&f, "a", "p2", "u2", 200, 2);
	cr_assert_eq(fixture_apply(&f).replays, 1);
	fixture_loaded(&f, "a", 5, 2, 500, 1);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "u2"), 200);
	cr_assert_str_eq(fixture_totals(&f, "a").alarm, "");
}

Test(ledger, refunds_when_every_seq_is_accounted_for)
{
	struct ledger_result r;
	struct ledger_totals t;

	open_activity("a");
	fixture_claim(&f, "a", "p2", "u2", 300, 2);
	fixture_closed(&f, "a", 5, 3, 1);
	fixture_counted(&f, "a", 6, 150);
	r = fixture_apply(&f);
	cr_assert_eq(r.refunds, 0);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	cr_assert_eq(fixture_apply(&f).refunds, 0);
	cr_assert_str_eq(fixture_totals(&f, "a").alarm, "");
	fixture_claim(&f, "a", "p3", "u3", 300, 3);
	r = fixture_apply(&f);
	cr_assert_eq(r.refunds, 1);
	cr_assert_eq(r.refunded_cents, 150);
	t = fixture_totals(&f, "a");
	cr_assert(t.books.refund_done);
	cr_assert_eq(t.books.credited_cents + t.books.refunded_cents, 1000);
	cr_assert_eq(t.books.final_claims, 3);
	cr_assert_eq(t.books.leftover_cents, 150);
	cr_assert_eq(fixture_number(&f, "SELECT balance FROM account WHERE "
					"kind = 'sponsor'"),
		     -850);
	/* A late stranger is not paid, and does not vanish. */
	fixture_claim(&f, "a", "p4", "u4", 150, 4);
	cr_assert_eq(fixture_apply(&f).parked, 1);
	cr_assert(strstr(fixture_totals(&f, "a").alarm, "owed") != NULL);
}

Test(ledger, a_sold_out_activity_needs_no_transfer_to_be_done)
{
	fixture_created(&f, "a", 500, 1);
	fixture_loaded(&f, "a", 3, 1, 500, 1);
	fixture_claim(&f, "a", "p1", "u1", 500, 1);
	fixture_closed(&f, "a", 5, 1, 0);
	fixture_counted(&f, "a", 6, 0);
	cr_assert_eq(fixture_apply(&f).refunds, 1);
	cr_assert(fixture_totals(&f, "a").books.refund_done);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM transfer WHERE "
					"kind = 'refund'"),
		     0);
}

Test(ledger, refuses_a_refund_that_does_not_add_up)
{
	struct ledger_totals t;

	open_activity("a");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_closed(&f, "a", 5, 1, 3);
	fixture_counted(&f, "a", 6, 700);
	cr_assert_eq(fixture_apply(&f).refunds, 0);
	t = fixture_totals(&f, "a");
	cr_assert_not(t.books.refund_done);
	cr_assert(strstr(t.alarm, "750") != NULL, "%s", t.alarm);
	cr_assert(strstr(t.alarm, "700") != NULL, "%s", t.alarm);
	cr_assert_eq(t.books.pool_cents, 750);
}

Test(ledger, cancelled_gives_all_back_in_any_order)
{
	struct ledger_totals t;

	fixture_created(&f, "early", 1000, 4);
	fixture_changed(&f, "early", 4, EVENT_CANCELLED);
	(void)fixture_apply(&f);
	/* Nothing was funded: done at once. */
	cr_assert(fixture_totals(&f, "early").books.refund_done);
	fixture_loaded(&f, "early", 3, 1, 1000, 4);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "early");
	cr_assert_eq(t.books.refunded_cents, 1000);
	cr_assert_eq(t.books.pool_cents, 0);
	cr_assert_str_eq(settle_state_name(t.books.state), "CANCELLED");

	fixture_created(&f, "late", 1000, 4);
	fixture_loaded(&f, "late", 3, 1, 1000, 4);
	(void)fixture_apply(&f);
	fixture_changed(&f, "late", 4, EVENT_CANCELLED);
	cr_assert_eq(fixture_apply(&f).refunded_cents, 1000);
	cr_assert(fixture_totals(&f, "late").books.refund_done);
	cr_assert_eq(fixture_number(&f, "SELECT balance FROM account WHERE "
					"kind = 'sponsor'"),
		     0);
}

Test(ledger, the_state_only_moves_to_a_higher_revision)
{
	struct ledger_totals t;

	open_activity("a");
	fixture_changed(&f, "a", 7, EVENT_HALTED);
	fixture_changed(&f, "a", 8, EVENT_RESUMED);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert_str_eq(settle_state_name(t.books.state), "PAUSED");
	fixture_changed(&f, "a", 9, EVENT_RESUMED);
	fixture_changed(&f, "a", 5, EVENT_PAUSED);
	fixture_changed(&f, "a", 6, EVENT_RESUMED);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert_str_eq(settle_state_name(t.books.state), "OPEN");
	cr_assert_eq(t.revision, 9);
}
