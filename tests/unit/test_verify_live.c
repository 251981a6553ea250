/* Verification of a live activity: of what is left there are two numbers. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "lib/verify_case.h"

/* As docs/fairness.md has them, for the same seed and total. */
static const int64_t drawn[COUNT] = { 567, 261, 799, 3029, 2670, 83, 2570, 21 };

/* verify.py has it of the plan's text with the line mode=live. */
#define LIVE_COMMITMENT \
	"a44ead86fcf09867117e22b7ed187a4c0c03646555513f3eb117cd3f61adfcbe"

static void enter_drawn(struct verify_list *list, uint64_t k)
{
	char packet[24], name[24];

	(void)snprintf(packet, sizeof(packet), "%d", BASE + (int)k - 1);
	(void)snprintf(name, sizeof(name), "u%d", (int)k);
	verify_enter(list, k, bytes_str(packet), bytes_str(name), drawn[k - 1]);
}

static void sound_live(void)
{
	published();
	v.plan.rule.live = true;
	(void)snprintf(v.commitment, sizeof(v.commitment), LIVE_COMMITMENT);
	set_text(&v.ledger_commitment, LIVE_COMMITMENT);
	for (uint64_t k = 1; k <= CLAIMS; k++) {
		enter_drawn(&v.claims, k);
		enter_drawn(&v.credits, k);
	}
	v.undrawn = COUNT - CLAIMS;
	v.undrawn_cents = v.leftover_cents = 83 + 2570 + 21;
}

Test(verify_live, what_the_seed_draws_is_proven)
{
	sound_live();
	proven("verify: all 8 packets proven: 5 claimed, 3 left");
}

Test(verify_live, one_that_nobody_grabbed)
{
	published();
	v.plan.rule.live = true;
	(void)snprintf(v.commitment, sizeof(v.commitment), LIVE_COMMITMENT);
	set_text(&v.ledger_commitment, LIVE_COMMITMENT);
	v.final_claims = 0;
	v.ledger_claims = 0;
	v.undrawn = COUNT;
	v.undrawn_cents = v.leftover_cents = 10000;
	proven("verify: all 8 packets proven: 0 claimed, 8 left");
}

Test(verify_live, the_split_of_a_list_is_another)
{
	sound_live();
	v.plan.rule.live = false;
	verify_judge(&v);
	cr_assert_gt(v.differences, CLAIMS);
	verify_close(&v);
}

Test(verify_live, a_claim_with_another_amount)
{
	sound_live();
	v.claims.entries[4].amount_cents = 2671;
	differs(1,
		"claim 5 of user u5: packet 7004 has 26.71, 26.70 in the plan");
}

Test(verify_live, money_that_is_left_and_should_not_be)
{
	sound_live();
	v.undrawn_cents++;
	differs(1, "left: Redis has 3 packets with 26.75, in the plan it is 3 "
		   "with 26.74");
}

Test(verify_live, packets_that_are_left_and_should_not_be)
{
	sound_live();
	v.undrawn = 1;
	differs(1, "left: Redis has 1 packet with 26.74, in the plan it is 3 "
		   "with 26.74");
}

Test(verify_live, a_list_that_somebody_made)
{
	sound_live();
	verify_enter(&v.left, 0, BYTES("7005"), BYTES(""), 83);
	differs(1, "left: packet 7005 is in a list, a live activity has none");
}

Test(verify_live, lists_that_are_gone)
{
	sound_live();
	while (v.claims.count > 0) {
		drop_last(&v.claims);
	}
	v.lists_gone = true;
	v.undrawn = 0;
	v.undrawn_cents = 0;
	proven("verify: all 8 packets proven from the ledger alone, the lists "
	       "have left Redis: 5 claimed, 3 left");
}

static void cancelled(uint64_t left, int64_t cents)
{
	sound_live();
	while (v.claims.count > 0) {
		drop_last(&v.claims);
		drop_last(&v.credits);
	}
	v.cancelled = v.ledger_cancelled = true;
	v.final_claims = 0;
	v.ledger_claims = -1;
	v.leftover_cents = -1;
	v.undrawn = left;
	v.undrawn_cents = cents;
}

Test(verify_live, one_that_was_cancelled)
{
	cancelled(COUNT, 10000);
	proven("verify: proven: it was cancelled, 8 of 8 packets could be "
	       "drawn, none was claimed");
	cancelled(0, 0);
	proven("verify: proven: it was cancelled, 0 of 8 packets could be "
	       "drawn, none was claimed");
	cancelled(COUNT, 9999);
	differs(1, "left: Redis has 8 packets with 99.99, in the plan it is 8 "
		   "with 100.00");
}
