/* Well-formed messages that nobody of ours sent: what moves money, and what
 * does not. Whatever they say, no more leaves a pool than was put into it. */
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

TestSuite(strangers, .init = setup, .fini = teardown);

#define FAR INT64_C(9007199254740991)

/* Told after an activity of 1000 cents in 4 packets, whose first two are won:
 * p1 by u1 with seq 1, p2 by u2 with seq 2, 250 each. */
struct told {
	const char *what;
	const char *packet;
	const char *user;
	int64_t cents;
	int64_t seq;
	uint32_t tranche;
	/* What becomes of it. */
	int64_t credited;
	int64_t held;
	int64_t parked;
	int64_t conflicts;
	int64_t dead;
	bool alarm;
};

static const struct told claims[] = {
	{ "the same again", "p1", "u1", 250, 1, 1, .credited = 0 },
	{ "another amount", "p1", "u1", 900, 1, 1, .conflicts = 1,
	  .alarm = true },
	{ "another user of a paid packet", "p1", "x", 250, 1, 1, .conflicts = 1,
	  .alarm = true },
	{ "another seq of a paid packet", "p1", "u1", 250, 3, 1, .conflicts = 1,
	  .alarm = true },
	{ "a second packet for a winner", "p3", "u1", 250, 3, 1, .held = 250,
	  .conflicts = 1, .alarm = true },
	{ "another packet with a seq that is paid", "p3", "x", 250, 2, 1,
	  .held = 250, .conflicts = 1, .alarm = true },
	{ "a packet of nobody", "p3", "#3", 250, 3, 1, .held = 250,
	  .conflicts = 1, .alarm = true },
	{ "more than the pool has", "p3", "x", 501, 3, 1, .parked = 1,
	  .alarm = true },
	{ "more than there is", "p3", "x", FAR, 3, 1, .parked = 1,
	  .alarm = true },
	{ "a tranche that was never funded", "p3", "x", 250, 3, 7,
	  .parked = 1 },
	{ "nothing", "p3", "x", 0, 3, 1, .dead = 1 },
	{ "less than nothing", "p3", "x", -250, 3, 1, .dead = 1 },
	{ "beyond all money", "p3", "x", FAR + 1, 3, 1, .dead = 1 },
	{ "seq 0", "p3", "x", 250, 0, 1, .dead = 1 },
	{ "tranche 0", "p3", "x", 250, 3, 0, .dead = 1 },
	{ "a user with a space", "p3", "x y", 250, 3, 1, .dead = 1 },
	{ "no packet", "", "x", 250, 3, 1, .dead = 1 },
	/* Whoever may write to the topic can name a packet that is not won
	 * yet: it is paid, out of this pool and no other. */
	{ "a packet that is not won yet", "p3", "x", 250, 3, 1,
	  .credited = 250 },
	{ "a seq far ahead", "p3", "x", 250, FAR, 1, .credited = 250 },
};

static void activity(const char *id)
{
	fixture_created(&f, id, 1000, 4);
	fixture_loaded(&f, id, 3, 1, 1000, 4);
	fixture_changed(&f, id, 4, EVENT_OPENED);
	fixture_claim(&f, id, "p1", "u1", 250, 1);
	fixture_claim(&f, id, "p2", "u2", 250, 2);
	(void)fixture_apply(&f);
}

static void expect_books(const char *id, const struct told *c,
			 const struct ledger_result *r)
{
	struct ledger_totals t = fixture_totals(&f, id);

	cr_assert_eq(t.books.credited_cents, 500 + c->credited, "%s", c->what);
	cr_assert_eq(t.books.held_cents, c->held, "%s", c->what);
	cr_assert_eq(t.books.pool_cents, 500 - c->credited - c->held, "%s",
		     c->what);
	cr_assert_eq(t.books.parked, c->parked, "%s", c->what);
	cr_assert_eq(t.conflict_count, c->conflicts, "%s", c->what);
	cr_assert_eq(t.alarm[0] != '\0', c->alarm, "%s: %s", c->what, t.alarm);
	cr_assert_eq(r->dead_letters, c->dead, "%s", c->what);
}

Test(strangers, false_claims_move_what_their_pool_has_at_most)
{
	for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
		const struct told *c = &claims[i];
		struct ledger_result r;
		char id[16];

		(void)snprintf(id, sizeof id, "a%zu", i);
		activity(id);
		for (int again = 0; again < 2; again++) {
			fixture_claim_in(&f, id, c->packet, c->user, c->cents,
					 (uint64_t)c->seq, c->tranche);
			r = fixture_apply(&f);
			if (again == 0) {
				expect_books(id, c, &r);
			}
		}
		r.dead_letters = c->dead; /* the same bytes count once */
		expect_books(id, c, &r);
	}
}

/* The winner of a packet that a stranger was paid finds its money held or owed:
 * an alarm, and the pool is never overdrawn. */
Test(strangers, a_winner_whose_packet_was_taken_is_not_forgotten)
{
	struct ledger_totals t;

	activity("a");
	fixture_claim(&f, "a", "q1", "x", 500, 3); /* all that was left */
	fixture_claim(&f, "a", "p3", "u3", 250, 3);
	fixture_claim(&f, "a", "p4", "u4", 250, 4);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.credited_cents, 1000);
	cr_assert_eq(t.books.parked, 2);
	cr_assert_not_null(strstr(t.alarm, "2 claims are owed"), "%s", t.alarm);
	fixture_closed(&f, "a", 5, 4, 0);
	fixture_counted(&f, "a", 6, 0);
	(void)fixture_apply(&f);
	cr_assert_not(fixture_totals(&f, "a").books.refund_done);
}

/* F44: an activity that never comes. Its claims wait and move nothing. */
Test(strangers, claims_of_an_unknown_activity_wait)
{
	struct ledger_totals t;

	activity("a");
	fixture_claim(&f, "never", "p1", "x", 250, 1);
	fixture_claim(&f, "never", "p1", "y", 250, 1);
	(void)fixture_apply(&f);
	t = fixture_totals(&f, "never");
	cr_assert_eq(t.books.parked, 2);
	cr_assert_eq(fixture_balance(&f, "x"), 0);
	cr_assert_eq(fixture_totals(&f, "a").books.credited_cents, 500);
}

static void expect_change(const char *id, const char *what, int64_t dead,
			  int64_t pool, const char *state)
{
	struct ledger_result r = fixture_apply(&f);
	struct ledger_totals t = fixture_totals(&f, id);

	cr_assert_eq(r.dead_letters, dead, "%s: %lld", what,
		     (long long)r.dead_letters);
	cr_assert_eq(t.books.pool_cents, pool, "%s: %lld", what,
		     (long long)t.books.pool_cents);
	cr_assert_str_eq(settle_state_name(t.books.state), state, "%s", what);
	cr_assert_eq(t.books.credited_cents, 500);
}

Test(strangers, false_changes_contradict_the_true_ones)
{
	activity("a");
	fixture_changed(&f, "a", 4, EVENT_PAUSED);
	expect_change("a", "a revision that is known", 1, 500, "OPEN");
	fixture_loaded(&f, "a", 3, 1, 9999, 4);
	expect_change("a", "a larger total", 1, 500, "OPEN");
	fixture_loaded(&f, "a", 90, 1, 9999, 4);
	expect_change("a", "the tranche with another total", 1, 500, "LOADED");
	fixture_created_by(&f, "a", "x", 9999, 4);
	expect_change("a", "another sponsor", 1, 500, "LOADED");
	cr_assert_str_eq(fixture_totals(&f, "a").sponsor, "acme");
	fixture_changed(&f, "a", 91, EVENT_CANCELLED);
	expect_change("a", "cancelled, though people won", 1, 500, "CANCELLED");
	cr_assert_not(fixture_totals(&f, "a").books.cancelled);
	fixture_claim(&f, "a", "p3", "u3", 250, 3);
	(void)fixture_apply(&f);
	cr_assert_eq(fixture_balance(&f, "u3"), 250);
	/* A false end gives nothing back while the numbers differ. */
	fixture_closed(&f, "a", 92, 0, 4);
	fixture_counted(&f, "a", 93, 1000);
	(void)fixture_apply(&f);
	cr_assert_not(fixture_totals(&f, "a").books.refund_done);
	cr_assert_not_null(strstr(fixture_totals(&f, "a").alarm, "no refund"));
}
