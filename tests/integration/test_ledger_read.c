/* Pages of records and activities, and what the gap watch sees. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
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

TestSuite(read, .init = setup, .fini = teardown);

static void rain(const char *id, unsigned claims)
{
	char packet[16];
	char user[16];

	fixture_created(&f, id, 100000, 1000);
	fixture_loaded(&f, id, 3, 1, 100000, 1000);
	for (unsigned i = 1; i <= claims; i++) {
		(void)snprintf(packet, sizeof packet, "p%u", i);
		(void)snprintf(user, sizeof user, "u%u", i);
		fixture_claim(&f, id, packet, user, i, i);
	}
	(void)fixture_apply(&f);
}

Test(read, records_of_an_activity_come_by_seq)
{
	struct ledger_record *r = calloc(10, sizeof *r);
	struct ledger_page page = { .activity_id = BYTES("a"),
				    .after = 20,
				    .limit = 10 };
	size_t n = 0;

	rain("a", 25);
	rain("b", 3);
	cr_assert_eq(ledger_records(f.reader, &page, r, &n), 0);
	cr_assert_eq(n, 5);
	cr_assert_eq(r[0].seq, 21);
	cr_assert_str_eq(r[4].user_id, "u25");
	page.after = 0;
	cr_assert_eq(ledger_records(f.reader, &page, r, &n), 0);
	cr_assert_eq(n, 10);
	page.activity_id = BYTES("none");
	cr_assert_eq(ledger_records(f.reader, &page, r, &n), 0);
	cr_assert_eq(n, 0);
	free(r);
}

Test(read, records_of_a_user_come_newest_first)
{
	struct ledger_record r[3];
	struct ledger_page page = { .user_id = BYTES("u1"), .limit = 2 };
	size_t n = 0;

	rain("a", 2);
	rain("b", 2);
	rain("c", 2);
	cr_assert_eq(ledger_records(f.reader, &page, r, &n), 0);
	cr_assert_eq(n, 2);
	cr_assert_str_eq(r[0].activity_id, "c");
	cr_assert_str_eq(r[1].activity_id, "b");
	page.after = r[1].number;
	cr_assert_eq(ledger_records(f.reader, &page, r, &n), 0);
	cr_assert_eq(n, 1);
	cr_assert_str_eq(r[0].activity_id, "a");
}

Test(read, activities_come_in_pages)
{
	struct ledger_totals *t = calloc(2, sizeof *t);
	size_t n = 0;

	rain("a", 1);
	rain("b", 2);
	rain("c", 3);
	cr_assert_eq(ledger_activities(f.reader, BYTES(""), 2, t, &n), 0);
	cr_assert_eq(n, 2);
	cr_assert_str_eq(t[1].activity_id, "b");
	cr_assert_eq(t[1].books.credited_packets, 2);
	cr_assert_eq(ledger_activities(f.reader, BYTES("b"), 2, t, &n), 0);
	cr_assert_eq(n, 1);
	cr_assert_str_eq(t[0].activity_id, "c");
	free(t);
}

static void expect_topups(const struct ledger_totals *t)
{
	static const int64_t cents[] = { 300, 500, 500 };

	cr_assert_eq(t->topup_count, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct ledger_topup *u = &t->topups[i];

		cr_assert_eq(u->tranche, i == 0 ? 2 : 3);
		cr_assert_eq(u->packets, i == 0 ? 3 : 2);
		cr_assert_eq(u->amount_cents, cents[i]);
		cr_assert_str_eq(u->commitment, FIXTURE_COMMITMENT);
	}
}

/* By their events, of which one says again what is known. */
Test(read, each_announcement_of_a_tranche_is_told)
{
	struct ledger_totals *t = calloc(2, sizeof *t);
	size_t n = 0;

	fixture_created(&f, "a", 1000, 4);
	fixture_created(&f, "b", 1000, 4);
	fixture_loaded(&f, "a", 2, 1, 1000, 4);
	fixture_loaded(&f, "a", 4, 3, 500, 2);
	fixture_loaded(&f, "a", 3, 2, 300, 3);
	fixture_loaded(&f, "a", 5, 3, 500, 2);
	(void)fixture_apply(&f);
	t[0] = fixture_totals(&f, "a");
	expect_topups(&t[0]);
	cr_assert_eq(ledger_activities(f.reader, BYTES(""), 2, t, &n), 0);
	cr_assert_eq(n, 2);
	expect_topups(&t[0]);
	cr_assert_eq(t[1].topup_count, 0);
	free(t);
}

Test(read, an_unknown_activity_and_user_are_unknown)
{
	struct ledger_totals t;
	struct ledger_record r;
	bool known = true;

	cr_assert_eq(ledger_totals(f.reader, BYTES("x"), &t, &known), 0);
	cr_assert_not(known);
	cr_assert_eq(
		ledger_record(f.reader, BYTES("x"), BYTES("u"), &r, &known), 0);
	cr_assert_not(known);
	cr_assert_eq(fixture_balance(&f, "u"), 0);
}

Test(read, the_watch_sees_gaps_first)
{
	struct ledger_watch w[4];
	size_t n = 0;

	rain("whole", 3);
	rain("gap", 3);
	rain("newer", 2);
	fixture_claim(&f, "gap", "p9", "u9", 1, 9);
	(void)fixture_apply(&f);
	cr_assert_eq(ledger_watch(f.reader, w, 4, &n), 0);
	cr_assert_eq(n, 3);
	cr_assert_str_eq(w[0].activity_id, "gap");
	cr_assert_eq(w[0].gap_after, 3);
	cr_assert_eq(w[1].gap_after, -1);
	cr_assert_eq(fixture_totals(&f, "gap").seq_count, 4);

	/* A tail that never came is a gap as soon as `closed` names it. */
	fixture_closed(&f, "whole", 9, 5, 0);
	(void)fixture_apply(&f);
	cr_assert_eq(ledger_watch(f.reader, w, 4, &n), 0);
	cr_assert_str_eq(w[0].activity_id, "gap");
	cr_assert_str_eq(w[1].activity_id, "whole");
	cr_assert_eq(w[1].gap_after, 3);
}

/* Shown, not asserted: the machine decides. */
Test(read, throughput, .timeout = 110)
{
	enum { CLAIMS = 100000, BATCH = 20000 };
	char packet[24];
	char user[24];
	uint64_t start;
	uint64_t took;

	fixture_created(&f, "big", CLAIMS, CLAIMS);
	fixture_loaded(&f, "big", 3, 1, CLAIMS, CLAIMS);
	(void)fixture_apply(&f);
	start = clock_mono_us();
	for (unsigned i = 0; i < CLAIMS; i++) {
		(void)snprintf(packet, sizeof packet, "3656286178808%05u", i);
		/* Users come in no order. */
		(void)snprintf(user, sizeof user, "2656286%05u",
			       (i * 7919U) % CLAIMS);
		fixture_claim(&f, "big", packet, user, 1, i + 1);
		if ((i + 1) % BATCH == 0) {
			cr_assert_eq(fixture_apply(&f).credits, BATCH);
		}
	}
	took = clock_mono_us() - start;
	(void)fprintf(stderr,
		      "%d claims in batches of %d: %.2f s, %.1f us a claim\n",
		      CLAIMS, BATCH, (double)took / 1e6, (double)took / CLAIMS);
	cr_assert_eq(fixture_totals(&f, "big").books.credited_cents, CLAIMS);
}
