/* Verification: one wrong thing at a time, and the line that names it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/verify_case.h"

Test(verify, what_the_seed_makes_is_proven)
{
	sound();
	proven("verify: all 8 packets proven: 5 claimed, 3 left");
	cr_assert_eq(v.credited, 5);
}

Test(verify, credits_that_are_still_to_come_are_no_difference)
{
	sound();
	v.settled = false;
	v.leftover_cents = -1;
	drop_last(&v.credits);
	drop_last(&v.credits);
	proven("verify: all 8 packets proven: 5 claimed, 3 left, 2 not "
	       "credited yet");
}

Test(verify, a_settled_one_has_all_credits)
{
	sound();
	v.credits.entries[4].seq = 4;
	verify_judge(&v);
	cr_assert_eq(v.differences, 2);
	cr_assert_str_eq(v.lines[0],
			 "credit for claim 4 is there twice: packet 7003 to "
			 "user u4, and packet 7004 to user u5");
	cr_assert_str_eq(v.lines[1],
			 "claim 5: packet 7004 with 8.58 is not credited");
	verify_close(&v);
}

/* The commitment is of the seed alone, the packets are of the entropy too. */
Test(verify, entropy_makes_other_packets)
{
	sound();
	v.mixed[31] ^= 1;
	verify_judge(&v);
	cr_assert_gt(v.differences, 5);
	cr_assert(strstr(v.lines[0], "claim 1 of user u1") == v.lines[0], "%s",
		  v.lines[0]);
	verify_close(&v);
}

Test(verify, a_claim_with_another_amount)
{
	sound();
	v.claims.entries[2].amount_cents++;
	differs(1,
		"claim 3 of user u3: packet 7002 has 8.55, 8.54 in the plan");
}

Test(verify, a_claim_with_another_packet)
{
	sound();
	set_text(&v.claims.entries[2].packet, "7006");
	differs(1,
		"claim 3 of user u3: packet 7006 with 8.54, in the plan it is "
		"packet 7002 with 8.54");
	sound();
	set_text(&v.claims.entries[2].packet, "07002");
	differs(1, "claim 3 of user u3: packet 07002 with 8.54, in the plan it "
		   "is packet 7002 with 8.54");
}

Test(verify, a_claim_that_is_missing)
{
	sound();
	v.claims.entries[1].seq = 9;
	verify_judge(&v);
	cr_assert_eq(v.differences, 3);
	cr_assert_str_eq(v.lines[0],
			 "claim 9 of user u2: the plan has packets 1 to 8");
	cr_assert_str_eq(v.lines[1], "claim 2 is missing: packet 7001 with "
				     "1.69 in the plan");
	cr_assert_str_eq(v.lines[2], "credit for claim 2 of user u2: Redis "
				     "does not have the claim");
	verify_close(&v);
}

Test(verify, a_claim_that_is_there_twice)
{
	sound();
	verify_enter(&v.claims, 4, BYTES("7003"), BYTES("mallory"), 1942);
	v.final_claims = 6;
	v.ledger_claims = 6;
	differs(1, "claim 4 is there twice: packet 7003 to user u4, and packet "
		   "7003 to user mallory");
	sound();
	verify_enter(&v.claims, 0, BYTES("7003"), BYTES("mallory"), 1942);
	v.final_claims = 6;
	v.ledger_claims = 6;
	differs(1, "claim 0 of user mallory: the plan has packets 1 to 8");
}

Test(verify, a_user_with_two_claims)
{
	sound();
	set_text(&v.claims.entries[3].user, "u2");
	differs(2, "user u2 has claims 2 and 4");
	sound();
	set_text(&v.credits.entries[3].user, "u2");
	differs(2, "credit for claim 4 of user u2: the claim is of user u4");
}

Test(verify, a_packet_left_with_another_amount)
{
	sound();
	v.left.entries[1].amount_cents = 1;
	differs(1, "left: packet 7006 has 0.01, 18.20 in the plan");
}

/* One line, not one for each that moved up. */
Test(verify, a_packet_that_somebody_took_from_the_list)
{
	sound();
	set_text(&v.left.entries[0].packet, "7006");
	set_text(&v.left.entries[1].packet, "7007");
	v.left.entries[0].amount_cents = amounts[6];
	v.left.entries[1].amount_cents = amounts[7];
	drop_last(&v.left);
	differs(1, "packet 7005 with 16.30 in the plan is neither claimed nor "
		   "left");
	sound();
	drop_last(&v.left);
	differs(1, "packet 7007 with 11.57 in the plan is neither claimed nor "
		   "left");
}

Test(verify, a_packet_left_that_must_not_be)
{
	sound();
	verify_enter(&v.left, 0, BYTES("7004"), BYTES(""), 858);
	differs(1, "left: packet 7004 is that of claim 5");
	sound();
	verify_enter(&v.left, 0, BYTES("7005"), BYTES(""), 1630);
	differs(1, "left: packet 7005 is there twice, or not in its place");
	sound();
	verify_enter(&v.left, 0, BYTES("7008"), BYTES(""), 100);
	differs(1, "left: packet 7008 with 1.00 is not in the plan");
	sound();
	verify_enter(&v.left, 0, BYTES("07005"), BYTES(""), 100);
	differs(1, "left: packet 07005 with 1.00 is not in the plan");
}

Test(verify, packets_left_in_another_order)
{
	struct verify_entry first;

	sound();
	first = v.left.entries[0];
	v.left.entries[0] = v.left.entries[1];
	v.left.entries[1] = first;
	differs(2, "packet 7005 with 16.30 in the plan is neither claimed nor "
		   "left");
}

Test(verify, a_credit_that_is_not_its_claim)
{
	sound();
	v.credits.entries[0].amount_cents = 1571;
	differs(1,
		"credit for claim 1 of user u1: packet 7000 has 15.71, 15.70 "
		"in the plan");
	sound();
	set_text(&v.credits.entries[0].user, "mallory");
	differs(1,
		"credit for claim 1 of user mallory: the claim is of user u1");
	sound();
	enter(&v.credits, 6, true);
	differs(1, "credit for claim 6 of user u6: Redis does not have the "
		   "claim");
}

Test(verify, a_leftover_that_is_not_the_plans)
{
	sound();
	v.leftover_cents--;
	differs(1, "left: the ledger heard of 46.06 in all, it is 46.07 in the "
		   "plan");
}

Test(verify, without_the_lists_the_ledger_proves_it)
{
	gone();
	proven("verify: all 8 packets proven from the ledger alone, the "
	       "lists have left Redis: 5 claimed, 3 left");
	gone();
	v.credits.entries[1].amount_cents = 168;
	differs(1,
		"credit for claim 2 of user u2: packet 7001 has 1.68, 1.69 in "
		"the plan");
	gone();
	enter(&v.credits, 6, true);
	differs(1, "credit for claim 6 of user u6: there were 5 claims");
	gone();
	v.final_claims = 6;
	v.ledger_claims = 6;
	v.leftover_cents = 1820 + 1157;
	differs(1, "claim 6: packet 7005 with 16.30 is not credited");
	gone();
	set_text(&v.credits.entries[3].user, "u2");
	differs(1, "user u2 has credits 2 and 4");
}

/* The first hundred are named, all are counted. */
Test(verify, more_differences_than_lines)
{
	sound();
	for (int i = 0; i < VERIFY_LINES + 33; i++) {
		verify_enter(&v.left, 0, BYTES("prize"), BYTES(""), 1);
	}
	verify_judge(&v);
	cr_assert_eq(v.differences, VERIFY_LINES + 33);
	cr_assert_str_eq(v.lines[VERIFY_LINES - 1],
			 "left: packet prize with 0.01 is not in the plan");
	says("verify: 133 differences");
	verify_close(&v);
}
