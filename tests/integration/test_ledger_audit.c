/* Whoever changes the books behind the worker's back is found, by name. */
#include <criterion/criterion.h>
#include <string.h>

#include "lib/ledger_fixture.h"

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "bob", 300, 2);
	fixture_created(&f, "b", 500, 2);
	fixture_loaded(&f, "b", 3, 1, 500, 2);
	fixture_claim(&f, "b", "p1", "u1", 100, 1);
	fixture_claim(&f, "b", "p2", "u1", 100, 2);
	(void)fixture_apply(&f);
	fixture_sound(&f);
}

static void teardown(void)
{
	fixture_close(&f);
}

TestSuite(audit, .init = setup, .fini = teardown);

/* Asserts that one of the findings is this, of this activity. */
static void expect(const struct audit *a, const char *activity,
		   const char *sentence)
{
	struct buf all;

	buf_init(&all);
	for (size_t i = 0; i < a->count; i++) {
		size_t at = buf_len(&all);
		size_t n;

		audit_say(&a->findings[i], &all);
		n = buf_len(&all) - at;
		if (n == strlen(sentence) &&
		    memcmp(buf_live(&all).p + at, sentence, n) == 0) {
			cr_assert_str_eq(a->findings[i].activity_id, activity);
			buf_close(&all);
			return;
		}
		buf_printf(&all, "\n");
	}
	cr_assert_fail("not found: %s\nbut:\n%.*s", sentence,
		       BYTES_FMT(buf_live(&all)));
}

static void drop_triggers(void)
{
	fixture_run(&f, "DROP TRIGGER record_kept; DROP TRIGGER record_stays;"
			"DROP TRIGGER posting_kept; DROP TRIGGER "
			"posting_stays; DROP TRIGGER conflict_kept");
}

Test(audit, a_shift_between_two_balances_names_both)
{
	struct audit a;

	fixture_run(&f, "UPDATE account SET balance = balance - 100 WHERE "
			"owner = 'bob'; UPDATE account SET balance = balance "
			"+ 100 WHERE owner = 'u1'");
	a = fixture_audit(&f);
	cr_assert_eq(a.violations, 2);
	expect(&a, "",
	       "account 5 (user bob, CNY): balance: expected 300 (its "
	       "postings), found 200");
	expect(&a, "",
	       "account 4 (user u1, CNY): balance: expected 350 (its "
	       "postings), found 450");
}

Test(audit, a_tampered_pool_belongs_to_its_activity)
{
	struct audit a;

	fixture_run(&f, "UPDATE account SET balance = balance + 1 WHERE "
			"kind = 'pool' AND owner = 'a'");
	a = fixture_audit(&f);
	cr_assert_eq(a.violations, 2);
	expect(&a, "a",
	       "activity a: remaining_amount: expected 451 (the "
	       "balance of its pool account), found 450");
	expect(&a, "a",
	       "account 2 (pool a, CNY): balance: expected 450 (its "
	       "postings), found 451");
}

Test(audit, a_deleted_record_is_missed)
{
	struct audit a;

	drop_triggers();
	fixture_run(&f, "DELETE FROM red_packet_record WHERE amount = 300");
	a = fixture_audit(&f);
	cr_assert_eq(a.violations, 2);
	expect(&a, "a",
	       "activity a: credited_amount: expected 250 (its "
	       "records), found 550");
	expect(&a, "a",
	       "activity a: credited_packet: expected 1 (its "
	       "records), found 2");
}

Test(audit, a_changed_record_and_posting_are_missed)
{
	struct audit a;

	drop_triggers();
	fixture_run(&f, "UPDATE red_packet_record SET amount = amount + 7 "
			"WHERE red_packet_id = 'p1' AND amount = 250;"
			"UPDATE posting SET delta = delta - 5 "
			"WHERE delta = 100");
	a = fixture_audit(&f);
	expect(&a, "a",
	       "activity a: credited_amount: expected 557 (its "
	       "records), found 550");
	expect(&a, "a",
	       "activity a: records without a posting of their "
	       "amount: expected 0 (every record has one), found 1");
	expect(&a, "b",
	       "activity b: sum of its postings: expected 0 (both "
	       "sides), found -10");
	expect(&a, "b",
	       "activity b: credited_amount: expected 95 (its credit "
	       "postings), found 100");
	expect(&a, "b",
	       "transfer 4 (credit, b): sum of its postings: "
	       "expected 0 (both sides), found -5");
	expect(&a, "",
	       "account 4 (user u1, CNY): balance: expected 345 (its "
	       "postings), found 350");
}

Test(audit, columns_of_an_activity_are_proved_by_its_rows)
{
	struct audit a;

	drop_triggers();
	fixture_run(&f, "UPDATE red_packet_info SET funded_amount = "
			"funded_amount + 9, refunded_amount = 9, parked_count "
			"= 3 WHERE activity_id = 'a';"
			"DELETE FROM conflict");
	a = fixture_audit(&f);
	expect(&a, "a",
	       "activity a: funded_amount: expected 1000 (its funded "
	       "tranches), found 1009");
	expect(&a, "a",
	       "activity a: refunded_amount: expected 0 (its refund "
	       "postings), found 9");
	expect(&a, "a",
	       "activity a: parked_count: expected 0 (its parked "
	       "claims), found 3");
	expect(&a, "b",
	       "activity b: held_amount: expected 0 (its conflicts "
	       "with a hold), found 100");
	expect(&a, "b",
	       "activity b: conflict_count: expected 0 (its "
	       "conflicts), found 1");
}

/* However short its steps are, a round comes to its end, once over all. */
Test(audit, steps_without_time_go_on_where_they_were)
{
	struct audit a = { 0 };
	int steps = 0;

	fixture_run(&f, "UPDATE account SET balance = balance + 1");
	while (!a.done) {
		cr_assert_eq(ledger_audit(f.reader, &a, 0), 0);
		cr_assert_lt(++steps, 100);
	}
	cr_assert_gt(steps, 5);
	cr_assert_eq(a.violations, fixture_audit(&f).violations);
}

Test(audit, names_twenty_and_counts_all)
{
	struct audit a;

	fixture_run(&f,
		    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
		    "FROM n WHERE i < 30) INSERT INTO account (kind, owner, "
		    "currency, balance) SELECT 'user', 'x' || i, 'CNY', 1 "
		    "FROM n");
	a = fixture_audit(&f);
	cr_assert_eq(a.violations, 30);
	cr_assert_eq(a.count, 20);
}

/* ---- Refunds ---- */

static struct ledger_totals close_a(void)
{
	fixture_closed(&f, "a", 5, 2, 2);
	fixture_counted(&f, "a", 6, 450);
	(void)fixture_apply(&f);
	return fixture_totals(&f, "a");
}

Test(audit, no_refund_of_an_activity_that_lost_a_record)
{
	struct ledger_totals t;

	drop_triggers();
	fixture_run(&f, "CREATE TABLE lost AS SELECT * FROM red_packet_record "
			"WHERE amount = 300; DELETE FROM red_packet_record "
			"WHERE amount = 300");
	t = close_a();
	cr_assert_not(t.books.refund_done);
	cr_assert_eq(t.books.pool_cents, 450);
	cr_assert_str_eq(t.alarm, "no refund, the books are not sound: "
				  "activity a: credited_amount: expected 250 "
				  "(its records), found 550 and 1 more; ");
	/* Others are credited meanwhile, and refunded. */
	fixture_created(&f, "c", 100, 1);
	fixture_loaded(&f, "c", 3, 1, 100, 1);
	fixture_claim(&f, "c", "p1", "u1", 70, 1);
	fixture_closed(&f, "c", 5, 1, 0);
	fixture_counted(&f, "c", 6, 30);
	cr_assert_eq(fixture_apply(&f).refunds, 1);
	/* A person put the record back: the next message refunds. */
	fixture_run(&f, "INSERT INTO red_packet_record SELECT * FROM lost;"
			"DROP TABLE lost");
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	cr_assert_eq(fixture_apply(&f).refunds, 1);
	cr_assert_str_eq(fixture_totals(&f, "a").alarm, "");
	fixture_sound(&f);
}

Test(audit, no_refund_of_a_cancelled_activity_with_another_pool)
{
	fixture_created(&f, "c", 100, 1);
	fixture_loaded(&f, "c", 3, 1, 100, 1);
	(void)fixture_apply(&f);
	fixture_run(&f, "UPDATE account SET balance = 60 WHERE owner = 'c'");
	fixture_changed(&f, "c", 5, EVENT_CANCELLED);
	cr_assert_eq(fixture_apply(&f).refunds, 0);
	cr_assert(strstr(fixture_totals(&f, "c").alarm,
			 "expected 60 (the balance of its pool account), "
			 "found 100") != NULL);
}

/* ---- Alarms ---- */

Test(audit, an_alarm_that_counts_on_is_told_once)
{
	struct ledger_result r;

	fixture_claim(&f, "b", "p8", "u8", 900, 3);
	r = fixture_apply(&f);
	cr_assert_eq(r.alarms, 1);
	cr_assert(strstr(fixture_totals(&f, "b").alarm, "1 claim is owed"));
	fixture_claim(&f, "b", "p9", "u9", 900, 4);
	(void)fixture_apply(&f);
	fixture_claim(&f, "b", "p10", "u10", 900, 5);
	r = fixture_apply(&f);
	cr_assert_eq(r.alarms, 0);
	cr_assert(strstr(fixture_totals(&f, "b").alarm, "3 claims are owed"));
}
