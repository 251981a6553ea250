#include <criterion/criterion.h>
#include <string.h>

#include "base/amount.h"
#include "settle-worker/settle.h"

static struct settle_claim payable(void)
{
	return (struct settle_claim){ .funded = true,
				      .pool_cents = 100,
				      .amount_cents = 100 };
}

static void expect(const struct settle_claim *c, enum settle_action action,
		   const char *why)
{
	struct settle_verdict v = settle_claim(c);

	cr_assert_eq(v.action, action);
	if (why == NULL) {
		cr_assert_null(v.why);
	} else {
		cr_assert_str_eq(v.why, why);
	}
}

Test(claim, is_credited_to_the_last_cent_of_the_pool)
{
	struct settle_claim c = payable();

	expect(&c, SETTLE_CREDIT, NULL);
	c.pool_cents = 99;
	expect(&c, SETTLE_PARK, "short");
}

Test(claim, waits_until_its_tranche_is_funded)
{
	struct settle_claim c = payable();

	c.funded = false;
	expect(&c, SETTLE_PARK, "unfunded");
	/* Even what looks like a conflict: nothing is known yet. */
	c.found = SETTLE_FOUND_USER;
	expect(&c, SETTLE_PARK, "unfunded");
}

Test(claim, that_is_known_is_a_replay_whatever_else)
{
	struct settle_claim c = { .found = SETTLE_FOUND_SAME,
				  .refunded = true,
				  .amount_cents = 5 };

	expect(&c, SETTLE_REPLAY, NULL);
}

Test(claim, of_a_packet_whose_money_moved_moves_none)
{
	struct settle_claim c = payable();

	c.found = SETTLE_FOUND_PACKET;
	expect(&c, SETTLE_CONFLICT, "packet");
	c.void_claim = true;
	expect(&c, SETTLE_CONFLICT, "packet");
	c.found = SETTLE_FOUND_HELD;
	expect(&c, SETTLE_CONFLICT, "held");
	c.pool_cents = 0;
	expect(&c, SETTLE_CONFLICT, "held");
}

Test(claim, of_an_unpaid_packet_that_contradicts_is_held)
{
	struct settle_claim c = payable();

	c.found = SETTLE_FOUND_USER;
	expect(&c, SETTLE_HOLD, "user");
	c.found = SETTLE_FOUND_SEQ;
	expect(&c, SETTLE_HOLD, "seq");
	c.found = SETTLE_FOUND_NOTHING;
	c.void_claim = true;
	expect(&c, SETTLE_HOLD, "void");
	c.pool_cents = 1;
	expect(&c, SETTLE_PARK, "short");
}

Test(claim, is_not_paid_from_what_went_back)
{
	struct settle_claim c = payable();

	c.refunded = true;
	expect(&c, SETTLE_PARK, "refunded");
	c.cancelled = true;
	expect(&c, SETTLE_PARK, "cancelled");
}

#define STATE(want, ...)                                                      \
	do {                                                                  \
		const enum event_change_kind kinds_[] = { __VA_ARGS__ };      \
		cr_assert_eq(                                                 \
			settle_state(kinds_, sizeof kinds_ / sizeof *kinds_), \
			(want));                                              \
	} while (0)

Test(state, follows_the_newest_change_that_has_one)
{
	cr_assert_eq(settle_state(NULL, 0), SETTLE_STATE_UNKNOWN);
	STATE(SETTLE_STATE_CREATED, EVENT_CREATED);
	STATE(SETTLE_STATE_CREATED, EVENT_ENTROPY, EVENT_CREATED);
	STATE(SETTLE_STATE_LOADED, EVENT_LOADED, EVENT_CREATED);
	STATE(SETTLE_STATE_OPEN, EVENT_TOPPED_UP, EVENT_OPENED, EVENT_LOADED);
	STATE(SETTLE_STATE_PAUSED, EVENT_TOPPED_UP, EVENT_PAUSED);
	STATE(SETTLE_STATE_CLOSED, EVENT_COUNTED, EVENT_CLOSED);
	STATE(SETTLE_STATE_SETTLED, EVENT_SETTLED, EVENT_COUNTED);
	STATE(SETTLE_STATE_CANCELLED, EVENT_CANCELLED, EVENT_LOADED);
}

Test(state, after_resumed_depends_on_what_was_before)
{
	STATE(SETTLE_STATE_OPEN, EVENT_RESUMED, EVENT_PAUSED);
	STATE(SETTLE_STATE_PAUSED, EVENT_RESUMED, EVENT_HALTED);
	STATE(SETTLE_STATE_OPEN, EVENT_RESUMED, EVENT_RESUMED, EVENT_HALTED);
}

Test(state, has_a_name_that_leads_back)
{
	for (int s = 0; s < SETTLE_STATE_END; s++) {
		const char *name = settle_state_name((enum settle_state)s);

		cr_assert_eq((int)settle_state_named(bytes_str(name)), s);
	}
	cr_assert_eq(settle_state_named(BYTES("x")), SETTLE_STATE_UNKNOWN);
}

/* Closed with 3 claims, all seen, 40 cents left. */
static struct settle_books closed(void)
{
	return (struct settle_books){ .state = SETTLE_STATE_CLOSED,
				      .funded_cents = 100,
				      .credited_cents = 60,
				      .pool_cents = 40,
				      .final_claims = 3,
				      .leftover_cents = 40,
				      .max_seq = 3,
				      .whole_seq = 3 };
}

Test(refund, comes_when_everything_agrees)
{
	struct settle_books b = closed();

	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_NOW);
	b.refund_done = true;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
}

Test(refund, waits_for_each_of_its_conditions)
{
	struct settle_books b = closed();

	b.whole_seq = 2;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
	b = closed();
	b.final_claims = -1;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
	b = closed();
	b.leftover_cents = -1;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
	b = closed();
	b.parked = 1;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
	b = closed();
	b.waiting_tranches = 1;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
	b = closed();
	b.state = SETTLE_STATE_HALTED;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
	b.state = SETTLE_STATE_OPEN;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
}

Test(refund, is_refused_when_the_numbers_differ)
{
	struct settle_books b = closed();
	struct buf text;

	b.leftover_cents = 39;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_DIFFERS);
	b = closed();
	b.max_seq = 4;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_DIFFERS);
	buf_init(&text);
	settle_alarm(&b, &text);
	buf_put_u8(&text, 0);
	cr_assert_str_eq((const char *)buf_live(&text).p,
			 "no refund: closed with 3 claims, but seq 4 was seen; "
			 "");
	buf_close(&text);
}

Test(refund, of_a_cancelled_activity_takes_all_each_time)
{
	struct settle_books b = { .state = SETTLE_STATE_CANCELLED,
				  .cancelled = true,
				  .final_claims = -1,
				  .leftover_cents = -1 };

	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_NOW);
	b.refund_done = true;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_WAIT);
	b.pool_cents = 5; /* funded after all */
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_NOW);
	b.credited_cents = 1;
	cr_assert_eq(settle_refund(&b), SETTLE_REFUND_DIFFERS);
}

Test(alarm, counts_one_claim_as_one)
{
	struct settle_books b = { .conflicts = 1, .parked_alarming = 1 };
	struct buf text;

	buf_init(&text);
	settle_alarm(&b, &text);
	b.conflicts = b.parked_alarming = 2;
	settle_alarm(&b, &text);
	buf_put_u8(&text, 0);
	cr_assert_str_eq((const char *)buf_live(&text).p,
			 "1 claim in conflict waits for a decision; "
			 "1 claim is owed and cannot be paid from the pool; "
			 "2 claims in conflict wait for a decision; "
			 "2 claims are owed and cannot be paid from the pool; "
			 "");
	buf_close(&text);
}

Test(alarm, is_the_same_whatever_it_counts)
{
	cr_assert(settle_alarm_same("", ""));
	cr_assert(settle_alarm_same("2 claims wait; ", "14 claims wait; "));
	cr_assert(settle_alarm_same("seq 9", "seq 10"));
	cr_assert_not(settle_alarm_same("2 claims wait; ", ""));
	cr_assert_not(settle_alarm_same("", "2 claims wait; "));
	cr_assert_not(settle_alarm_same("2 claims wait; ",
					"2 claims wait; 1 is owed; "));
	cr_assert_not(settle_alarm_same("pool 5", "held 5"));
}

Test(gap, is_behind_the_last_whole_seq)
{
	struct settle_books b = { .max_seq = 5,
				  .whole_seq = 5,
				  .final_claims = -1 };

	cr_assert_eq(settle_gap(&b), -1);
	b.final_claims = 7;
	cr_assert_eq(settle_gap(&b), 5);
	b.final_claims = -1;
	b.whole_seq = 2;
	cr_assert_eq(settle_gap(&b), 2);
	b = (struct settle_books){ .final_claims = -1 };
	cr_assert_eq(settle_gap(&b), -1);
}

Test(settle, the_books_hold_only_so_much)
{
	struct settle_books b = { 0 };
	int64_t most = AMOUNT_MAX_CENTS;

	cr_assert(settle_fundable(&b, 0, most, most));
	cr_assert(settle_fundable(&b, most - SETTLE_BALANCE_MAX, most, 1));
	cr_assert_not(
		settle_fundable(&b, most - SETTLE_BALANCE_MAX - 1, most, 1));
	b.funded_cents = most - 5;
	cr_assert(settle_fundable(&b, 0, 5, 1));
	cr_assert_not(settle_fundable(&b, 0, 6, 1));
	b.funded_packets = most;
	cr_assert_not(settle_fundable(&b, 0, 1, 1));
	cr_assert(settle_creditable(SETTLE_BALANCE_MAX - 1, 1));
	cr_assert_not(settle_creditable(SETTLE_BALANCE_MAX, 1));
}
