/* What the books cannot hold, or the database refuses, stops nobody else. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "base/amount.h"
#include "base/err.h"
#include "lib/ledger_fixture.h"
#include "settle-worker/ledger_sqlite.h"

enum { MOST = 512 }; /* largest amounts that a balance may come to */

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

TestSuite(limits, .init = setup, .fini = teardown, .timeout = 120);

static const char *name(char out[16], const char *stem, unsigned i)
{
	(void)snprintf(out, 16, "%s%u", stem, i);
	return out;
}

static void largest(const char *id, const char *sponsor)
{
	fixture_created_by(&f, id, sponsor, AMOUNT_MAX_CENTS, 1);
	fixture_loaded(&f, id, 3, 1, AMOUNT_MAX_CENTS, 1);
}

/* A sponsor's balance ends somewhere: the tranche waits, with an alarm, and so
 * do its claims; everybody else goes on. */
Test(limits, a_tranche_beyond_its_sponsors_balance_waits)
{
	char id[16];
	char user[16];
	struct ledger_totals t;

	for (unsigned i = 1; i <= MOST + 600; i++) {
		largest(name(id, "a", i), "giant");
		fixture_claim(&f, id, "p1", name(user, "u", i), 7, 1);
	}
	largest("other", "small");
	fixture_claim(&f, "other", "p1", "v", 7, 1);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "v"), 7);
	cr_assert_eq(fixture_balance(&f, "u512"), 7);
	cr_assert_eq(fixture_balance(&f, "u513"), 0);
	t = fixture_totals(&f, "a513");
	cr_assert_eq(t.books.funded_cents, 0);
	cr_assert_eq(t.books.parked, 1);
	cr_assert_not_null(strstr(t.alarm, "1 tranche is not funded"), "%s",
			   t.alarm);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM dead_letter"), 0);
}

/* It is funded as soon as there is room, and what waited is paid. */
Test(limits, a_tranche_that_waits_is_funded_when_there_is_room)
{
	char id[16];

	for (unsigned i = 1; i <= MOST; i++) {
		largest(name(id, "a", i), "giant");
	}
	largest("late", "giant");
	fixture_claim(&f, "late", "p1", "u", 7, 1);
	(void)fixture_apply(&f);
	cr_assert_neq(fixture_totals(&f, "late").alarm[0], '\0');
	fixture_changed(&f, "a1", 4, EVENT_CANCELLED);
	(void)fixture_apply(&f);
	fixture_claim(&f, "late", "p1", "u", 7, 1); /* a rewind */
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "u"), 7);
	cr_assert_str_eq(fixture_totals(&f, "late").alarm, "");
}

/* The money of one activity is exact in every reader. */
Test(limits, top_ups_beyond_what_an_activity_may_have_wait)
{
	struct ledger_totals t;

	largest("a", "acme");
	for (unsigned i = 2; i <= 1100; i++) {
		fixture_loaded(&f, "a", i + 2, i, AMOUNT_MAX_CENTS,
			       (uint64_t)AMOUNT_MAX_CENTS);
	}
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.funded_cents, AMOUNT_MAX_CENTS);
	cr_assert_not_null(strstr(t.alarm, "1099 tranches are not funded"),
			   "%s", t.alarm);
	/* However many they are, the state is what it was before. */
	cr_assert_str_eq(settle_state_name(t.books.state), "LOADED");
}

/* In and out, again and again: the balance is small, its history is not. */
Test(limits, the_audit_adds_up_more_than_a_number_can_hold)
{
	char id[16];

	for (unsigned i = 1; i <= 1100; i++) {
		largest(name(id, "a", i), "giant");
		fixture_changed(&f, id, 4, EVENT_CANCELLED);
		if (i % 100 == 0) {
			(void)fixture_apply(&f);
		}
	}
	cr_assert_eq(fixture_number(&f, "SELECT balance FROM account WHERE "
					"owner = 'giant'"),
		     0);
	fixture_run(&f, "UPDATE account SET balance = -3 WHERE "
			"owner = 'giant'");
	cr_assert_eq(fixture_audit(&f).violations, 1);
	fixture_run(&f, "UPDATE account SET balance = 0 WHERE "
			"owner = 'giant'");
}

/* More than a batch can add, and more than a balance can hold: what does not
 * fit is owed, with an alarm. */
Test(limits, a_credit_beyond_a_users_balance_is_owed)
{
	char id[16];
	char sponsor[16];
	struct ledger_totals t;

	for (unsigned i = 1; i <= 1100; i++) {
		largest(name(id, "a", i), name(sponsor, "s", i));
		fixture_claim(&f, id, "p1", "lucky", AMOUNT_MAX_CENTS, 1);
	}
	largest("other", "small");
	fixture_claim(&f, "other", "p1", "v", 7, 1);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "v"), 7);
	cr_assert_eq(fixture_balance(&f, "lucky"), MOST * AMOUNT_MAX_CENTS);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM parked_claim "
					"WHERE reason = 'balance'"),
		     1100 - MOST);
	t = fixture_totals(&f, "a1100");
	cr_assert_not_null(strstr(t.alarm, "1 claim is owed"), "%s", t.alarm);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM dead_letter"), 0);
}

/* Whoever wins beside them, before and after, in the same activity is paid. */
Test(limits, a_full_balance_among_others_stops_only_its_user)
{
	char id[16];
	char user[16];
	char packet[16];
	struct ledger_totals t;

	for (unsigned i = 1; i <= MOST; i++) {
		largest(name(id, "a", i), name(user, "s", i));
		fixture_claim(&f, id, "p1", "lucky", AMOUNT_MAX_CENTS, 1);
	}
	fixture_created(&f, "b", 100000, 100);
	fixture_loaded(&f, "b", 3, 1, 100000, 100);
	(void)fixture_apply(&f);
	for (unsigned i = 1; i <= 70; i++) {
		fixture_claim(&f, "b", name(packet, "p", i),
			      i == 40 ? "lucky" : name(user, "u", i), 1000, i);
	}
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "b");
	cr_assert_eq(t.books.credited_packets, 69);
	cr_assert_eq(t.books.parked, 1);
	cr_assert_eq(fixture_balance(&f, "u39"), 1000);
	cr_assert_eq(fixture_balance(&f, "u41"), 1000);
	cr_assert_eq(fixture_balance(&f, "lucky"), MOST * AMOUNT_MAX_CENTS);
}

/* F43: what the database refuses again and again is kept as a dead letter, with
 * the reason; its money stays in the pool, nothing is refunded without it, and
 * it is paid once the cause is gone and it comes again. */
Test(limits, a_message_that_the_database_refuses_stops_no_other)
{
	struct ledger_result r;
	struct ledger_totals t;

	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_run(&f, "CREATE TRIGGER odd BEFORE INSERT ON red_packet_record "
			"WHEN NEW.red_packet_id = 'p2' BEGIN "
			"SELECT RAISE(ABORT, 'not this one'); END");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "u2", 250, 2);
	fixture_claim(&f, "a", "p3", "u3", 250, 3);
	fixture_closed(&f, "a", 5, 3, 1);
	fixture_counted(&f, "a", 6, 250);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 2);
	cr_assert_eq(r.credited_cents, 500);
	cr_assert_eq(r.dead_letters, 1);
	cr_assert_eq(r.changes, 4);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
	cr_assert_eq(fixture_balance(&f, "u2"), 0);
	cr_assert_eq(fixture_balance(&f, "u3"), 250);
	cr_assert_eq(fixture_number(&f,
				    "SELECT count(*) FROM dead_letter WHERE "
				    "reason LIKE '%not this one%'"),
		     1);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.pool_cents, 500);
	cr_assert_not(t.books.refund_done);
	cr_assert_eq(t.books.whole_seq, 1, "the gap is asked for again");
	fixture_claim(&f, "a", "p2", "u2", 250, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.dead_letters, 0, "the same bytes again");
	fixture_run(&f, "DROP TRIGGER odd");
	fixture_claim(&f, "a", "p2", "u2", 250, 2);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "u2"), 250);
	t = fixture_totals(&f, "a");
	cr_assert(t.books.refund_done);
	cr_assert_eq(t.books.refunded_cents, 250);
}

/* A message that was refused says nothing about those that come later: one that
 * fails for another reason, even in what only the audit reads, is not the
 * database's refusal, and is tried again. */
Test(limits, a_failure_after_a_refusal_is_no_refusal)
{
	struct ledger_sqlite *l =
		container_of(f.ledger, struct ledger_sqlite, base);
	const char *const *texts = l->audit.texts;
	static const char *broken[A_COUNT];
	struct ledger_result r;
	size_t last;

	for (int i = 0; i < A_COUNT; i++) {
		broken[i] = "SELECT no such thing";
	}
	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_run(&f, "CREATE TRIGGER odd BEFORE INSERT ON red_packet_record "
			"WHEN NEW.red_packet_id = 'p2' BEGIN "
			"SELECT RAISE(ABORT, 'not this one'); END");
	fixture_claim(&f, "a", "p2", "u2", 250, 2);
	fixture_closed(&f, "a", 5, 1, 3);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	r = fixture_apply(&f);
	cr_assert_eq(r.dead_letters, 1);
	fixture_counted(&f, "a", 6, 750);
	last = f.count - 1;
	l->audit.texts = broken;
	cr_assert_eq(fixture_try(&f, &last, 1, &r), ERR_STORE);
	l->audit.texts = texts;
	r = fixture_apply(&f);
	cr_assert_eq(r.dead_letters, 0);
	cr_assert_eq(r.refunds, 1);
}
