/* Verification of an activity with a tranche that was added: 3 packets of 2.00
 * in the plan, 2 of 1.00 behind them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "console/verify.h"

enum { BASE = 7000, MORE = 9000 };

static struct verify v;

static void setup(void)
{
	struct verify_topup *t = &v.topups[0];

	verify_init(&v, "quiz-1");
	(void)snprintf(v.plan.activity_id, sizeof(v.plan.activity_id),
		       "quiz-1");
	v.plan.rule = (struct allocate_rule){ .total_cents = 600,
					      .count = 3,
					      .min_cents = 1,
					      .algorithm = ALLOCATE_EQUAL };
	plan_commitment(v.seed, &v.plan, v.commitment);
	v.ledger_commitment = xstrndup(v.commitment, strlen(v.commitment));
	v.ledger_entropy = xstrndup("", 0);
	v.id_base = BASE;
	v.settled = true;
	v.topup_count = 1;
	*t = (struct verify_topup){
		.tranche = { .activity_id = "quiz-1",
			     .number = 2,
			     .rule = { .total_cents = 200,
				       .count = 2,
				       .min_cents = 1,
				       .algorithm = ALLOCATE_EQUAL } },
		.id_base = MORE,
		.loaded = 2,
	};
	/* (head -c 32 /dev/zero; printf TEXT) | sha256sum */
	(void)snprintf(
		t->commitment, sizeof(t->commitment), "%s",
		"42d9febf07f240b18f0bcbf24ba572fc4d02d859543efcefc7ac5115274d5e11");
}

static void teardown(void)
{
	verify_close(&v);
}

TestSuite(verify_topup, .init = setup, .fini = teardown);

/* So many claims are made and credited, in order. */
static void claimed(uint64_t claims)
{
	for (uint64_t k = 1; k <= claims; k++) {
		char packet[24], user[24];
		int64_t cents = k <= 3 ? 200 : 100;

		(void)snprintf(packet, sizeof(packet), "%d",
			       (k <= 3 ? BASE - 1 : MORE - 4) + (int)k);
		(void)snprintf(user, sizeof(user), "u%d", (int)k);
		verify_enter(&v.claims, k, bytes_str(packet), bytes_str(user),
			     cents);
		verify_enter(&v.credits, k, bytes_str(packet), bytes_str(user),
			     cents);
	}
	v.final_claims = claims;
	v.ledger_claims = (int64_t)claims;
	v.leftover_cents = claims <= 3 ? 800 - 200 * (int64_t)claims
				       : 200 - 100 * (int64_t)(claims - 3);
}

static void left(const char *packet, int64_t cents)
{
	verify_enter(&v.left, 0, bytes_str(packet), BYTES(""), cents);
}

static void says(uint64_t differences, const char *line, const char *summary)
{
	char text[VERIFY_SUMMARY];

	verify_judge(&v);
	cr_assert_eq(v.differences, differences, "%s", v.lines[0]);
	cr_assert(differences == 0 ||
			  strncmp(v.lines[0], line, strlen(line)) == 0,
		  "%s", v.lines[0]);
	verify_summary(&v, text);
	cr_assert_str_eq(text, summary);
}

Test(verify_topup, all_are_there)
{
	claimed(2);
	left("7002", 200);
	left("9000", 100);
	left("9001", 100);
	says(0, "", "verify: all 5 packets proven: 2 claimed, 3 left");
}

Test(verify_topup, some_of_them_were_won)
{
	claimed(4);
	left("9001", 100);
	says(0, "", "verify: all 5 packets proven: 4 claimed, 1 left");
}

Test(verify_topup, from_the_ledger_alone)
{
	claimed(5);
	v.lists_gone = true;
	says(0, "",
	     "verify: all 5 packets proven from the ledger alone, the lists "
	     "have left Redis: 5 claimed, 0 left");
}

Test(verify_topup, it_was_never_whole)
{
	claimed(3);
	left("9000", 100);
	v.topups[0].loaded = 1;
	says(0, "",
	     "verify: all 5 packets proven: 3 claimed, 1 left, 1 never loaded");
}

Test(verify_topup, a_packet_is_lost)
{
	claimed(3);
	left("9000", 100);
	says(1, "packet 9001 with 1.00 in the plan is neither claimed nor left",
	     "verify: 1 difference");
}

Test(verify_topup, another_seed)
{
	claimed(5);
	v.topups[0].seed[0] = 1;
	says(1, "commitment of tranche 2: activity show says ",
	     "verify: 1 difference");
}

/* Its ids do not follow those of the plan. */
Test(verify_topup, a_foreign_packet)
{
	claimed(3);
	left("7003", 100);
	left("9001", 100);
	says(2, "left: packet 7003 with 1.00 is not in the plan",
	     "verify: 2 differences");
}
