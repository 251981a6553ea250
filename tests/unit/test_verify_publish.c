/* Verification: what Redis tells of an activity against what the ledger heard. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/verify_case.h"
#include "proto/proto_util.h"

Test(verify_publish, another_seed_than_that_of_the_commitment)
{
	sound();
	(void)snprintf(v.commitment, sizeof(v.commitment), OTHER);
	differs(1, "commitment: activity show says " OTHER
		   ", seed and plan make " COMMITMENT);
	sound();
	set_text(&v.ledger_commitment, OTHER);
	differs(1, "commitment: the ledger has " OTHER
		   ", seed and plan make " COMMITMENT);
}

Test(verify_publish, a_ledger_without_a_commitment)
{
	sound();
	free(v.ledger_commitment);
	v.ledger_commitment = NULL;
	differs(1, "commitment: the ledger has none");
	sound();
	v.settled = false;
	free(v.ledger_commitment);
	v.ledger_commitment = NULL;
	proven("verify: all 8 packets proven: 5 claimed, 3 left; the ledger "
	       "has no commitment yet");
}

Test(verify_publish, the_plan_of_another_activity)
{
	sound();
	v.activity[0] = 'Q';
	differs(1, "plan: it is that of activity quiz-1");
}

/* Never opened: nothing was closed or counted. */
static void cancelled(void)
{
	published();
	v.cancelled = true;
	v.ledger_cancelled = true;
	v.final_claims = 0;
	v.ledger_claims = -1;
	v.leftover_cents = -1;
}

Test(verify_publish, a_cancelled_one_may_be_loaded_in_part)
{
	cancelled();
	enter(&v.left, 1, false);
	enter(&v.left, 2, false);
	proven("verify: proven: it was cancelled, 2 of 8 packets are in "
	       "Redis, none was claimed");
	cancelled();
	v.lists_gone = true;
	proven("verify: proven: it was cancelled, 0 of 8 packets are in "
	       "Redis, none was claimed");
	cancelled();
	v.settled = v.ledger_cancelled = false;
	proven("verify: proven: it was cancelled, 0 of 8 packets are in "
	       "Redis, none was claimed; the ledger has not heard yet that it "
	       "was cancelled");
}

Test(verify_publish, a_cancelled_one_of_which_somebody_has_something)
{
	cancelled();
	enter(&v.claims, 1, true);
	differs(2, "cancelled: Redis has 1 claim");
	cancelled();
	v.claims.unreadable = 2;
	differs(3, "cancelled: Redis has 2 claims");
	cancelled();
	v.lists_gone = true;
	enter(&v.credits, 1, true);
	differs(2, "cancelled: the ledger has 1 credit");
	cancelled();
	v.final_claims = 5;
	differs(1, "cancelled: activity show says that it was closed with 5 "
		   "claims");
	cancelled();
	v.leftover_cents = 4607;
	differs(1, "cancelled: the ledger heard of 46.07 left");
	cancelled();
	v.ledger_claims = 1;
	differs(1,
		"cancelled: the ledger heard that it was closed with 1 claim");
	cancelled();
	v.ledger_cancelled = false;
	differs(1, "cancelled: the ledger has not heard of it");
}

/* Redis alone says so: what the ledger knows to be closed must be whole. */
Test(verify_publish, a_closed_one_that_is_called_cancelled)
{
	sound();
	v.cancelled = true;
	drop_last(&v.left);
	differs(6, "cancelled: Redis has 5 claims");
	sound();
	v.ledger_cancelled = true;
	differs(1, "cancelled: the ledger heard of it, activity show says that "
		   "it was closed");
}

Test(verify_publish, entropy_that_the_ledger_has_not_heard_of)
{
	sound();
	(void)snprintf(v.entropy, sizeof(v.entropy), "%s", BEACON);
	differs(1,
		"entropy: activity show says " BEACON ", the ledger has none");
	sound();
	set_text(&v.ledger_entropy, BEACON);
	differs(1, "entropy: activity show says none, the ledger has " BEACON);
	sound();
	set_text(&v.ledger_entropy, BEACON);
	(void)snprintf(v.entropy, sizeof(v.entropy), "f%s", &BEACON[1]);
	differs(1,
		"entropy: activity show says f0112233445566778899aabbccddeeff"
		", the ledger has " BEACON);
	sound();
	(void)snprintf(v.entropy, sizeof(v.entropy), "%s", BEACON);
	set_text(&v.ledger_entropy, BEACON);
	proven("verify: all 8 packets proven: 5 claimed, 3 left");
}

Test(verify_publish, entropy_that_is_still_on_its_way)
{
	sound();
	(void)snprintf(v.entropy, sizeof(v.entropy), "%s", BEACON);
	free(v.ledger_entropy);
	v.ledger_entropy = NULL;
	v.settled = false;
	proven("verify: all 8 packets proven: 5 claimed, 3 left; the ledger "
	       "has no entropy yet");
	sound();
	(void)snprintf(v.entropy, sizeof(v.entropy), "%s", BEACON);
	free(v.ledger_entropy);
	v.ledger_entropy = NULL;
	differs(1,
		"entropy: activity show says " BEACON ", the ledger has none");
}

Test(verify_publish, another_number_than_it_was_closed_with)
{
	sound();
	v.final_claims = 4;
	v.ledger_claims = 4;
	differs(1, "claims: Redis has 5, it was closed with 4");
	sound();
	v.ledger_claims = 6;
	differs(1, "closed: activity show says with 5 claims, the ledger heard "
		   "of 6");
	sound();
	v.ledger_claims = -1;
	differs(1, "closed: the ledger has not heard of it");
	sound();
	v.leftover_cents = -1;
	differs(1, "left: the ledger has not heard how much");
}

Test(verify_publish, lists_that_are_empty_and_not_given_up)
{
	gone();
	v.lists_gone = false;
	differs(1, "lists: both are empty, and Redis has not given them up");
	gone();
	v.settled = false;
	differs(1, "lists: Redis has given them up, and it is not settled");
}

static void unreadable(struct verify_list *list, const char *why)
{
	cr_assert(verify_unreadable(&v, list, bytes_str(why)));
}

/* The rest is judged as far as it goes. */
Test(verify_publish, elements_that_cannot_be_read)
{
	sound();
	drop_last(&v.left);
	unreadable(&v.left, "element 3 of packets: no JSON object");
	differs(2, "element 3 of packets cannot be read: no JSON object");
	sound();
	drop_last(&v.claims);
	unreadable(&v.claims, "element 5 of claims: no userId");
	v.left.entries[0].amount_cents++;
	differs(4, "element 5 of claims cannot be read: no userId");
}

Test(verify_publish, a_list_with_too_many_elements_that_cannot_be_read)
{
	sound();
	for (int i = 1; i < VERIFY_LINES; i++) {
		unreadable(&v.left, "element: junk");
	}
	cr_assert_not(verify_unreadable(&v, &v.left, BYTES("element: junk")));
	cr_assert_eq(v.differences, VERIFY_LINES + 1);
	verify_close(&v);
}

static void take_claim(const char *told)
{
	Rain__Claim c = RAIN__CLAIM__INIT;
	Rain__Answer answer = RAIN__ANSWER__INIT;

	c.red_packet_id = to_pb_str("7004");
	c.user_id = to_pb_str("u5");
	c.seq = 5;
	c.amount_cents = 858;
	answer.text = to_pb_str(told != NULL ? told : "");
	c.answer = told != NULL ? &answer : NULL;
	drop_last(&v.claims);
	verify_take_claim(&v, &c);
}

Test(verify_publish, a_user_who_is_told_something_else)
{
	sound();
	take_claim(NULL);
	proven("verify: all 8 packets proven: 5 claimed, 3 left");
	sound();
	take_claim("");
	differs(1, "user u5 is told nothing instead of claim 5, packet 7004 "
		   "with 8.58");
	sound();
	take_claim("{\"redPacketId\":\"7004\",\n\"amount\":\"8.57\"}");
	differs(1, "user u5 is told {\"redPacketId\":\"7004\",?\"amount\":"
		   "\"8.57\"} instead of claim 5, packet 7004 with 8.58");
}

/* An activity as ActivityService tells it; the plan is that of v. */
struct told {
	Rain__Activity activity;
	Rain__Plan plan;
};

static void tell(struct told *t)
{
	t->activity = (Rain__Activity)RAIN__ACTIVITY__INIT;
	t->plan = (Rain__Plan)RAIN__PLAN__INIT;
	t->plan.activity_id = to_pb_str("quiz-1");
	t->plan.sponsor = to_pb_str("acme");
	t->plan.currency = to_pb_str("CNY");
	t->plan.total_cents = 10000;
	t->plan.packets = COUNT;
	t->plan.algorithm = to_pb_str("double_mean");
	t->plan.min_cents = 1;
	t->plan.ack = to_pb_str("redis");
	t->activity.plan = &t->plan;
	t->activity.state = RAIN__STATE__SETTLED;
	t->activity.seed = to_pb_str("00010203040506070809"
				     "0a0b0c0d0e0f1011121314151617"
				     "18191a1b1c1d1e1f");
	t->activity.id_base = to_pb_str("7000");
	t->activity.commitment = to_pb_str(COMMITMENT);
}

static int take_entropy(const char *hex)
{
	struct told t;
	struct buf why;
	int rc;

	tell(&t);
	t.activity.entropy = to_pb_str(hex);
	verify_init(&v, "quiz-1");
	buf_init(&why);
	rc = verify_take_activity(&v, &t.activity, &why);
	cr_assert(rc == CTL_OK ||
			  bytes_eq(buf_live(&why),
				   BYTES("its entropy is not 16 to 64 bytes as "
					 "hex digits")),
		  "%.*s", BYTES_FMT(buf_live(&why)));
	buf_close(&why);
	return rc;
}

Test(verify_publish, what_entropy_may_be)
{
	cr_assert_eq(take_entropy(""), CTL_OK);
	cr_assert_str_eq(v.entropy, "");
	cr_assert_eq(take_entropy(BEACON), CTL_OK);
	cr_assert_str_eq(v.entropy, BEACON);
	cr_assert_eq(take_entropy(BEACON BEACON BEACON BEACON), CTL_OK);
	cr_assert_eq(take_entropy("0"), CTL_NO);
	cr_assert_eq(take_entropy("00"), CTL_NO);
	cr_assert_eq(take_entropy("00112233445566778899aabbccddee"), CTL_NO);
	cr_assert_eq(take_entropy(BEACON "0"), CTL_NO);
	cr_assert_eq(take_entropy(BEACON BEACON BEACON BEACON "00"), CTL_NO);
	cr_assert_eq(take_entropy("zz112233445566778899aabbccddeeff"), CTL_NO);
}

Test(verify_publish, what_the_ledger_has_heard_so_far)
{
	Rain__TotalsReply t = RAIN__TOTALS_REPLY__INIT;

	verify_init(&v, "quiz-1");
	verify_take_totals(&v, &t);
	cr_assert_null(v.ledger_commitment);
	cr_assert_null(v.ledger_entropy);
	cr_assert_eq(v.ledger_claims, -1);
	t.known = true;
	t.revision = 1;
	t.commitment = to_pb_str(COMMITMENT);
	t.final_claims = t.leftover_cents = -1;
	verify_take_totals(&v, &t);
	cr_assert_str_eq(v.ledger_commitment, COMMITMENT);
	cr_assert_null(v.ledger_entropy);
	verify_close(&v);
	verify_init(&v, "quiz-1");
	t.revision = 4;
	t.cancelled = true;
	t.final_claims = 5;
	verify_take_totals(&v, &t);
	cr_assert_str_eq(v.ledger_entropy, "");
	cr_assert(v.ledger_cancelled);
	cr_assert_eq(v.ledger_claims, 5);
	verify_close(&v);
}
