/* Verification of an activity with a tranche that was added: 3 packets of 2.00
 * in the plan, 2 of 1.00 behind them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "console/verify.h"
#include "proto/proto_util.h"

enum { BASE = 7000, MORE = 9000 };

#define COMMITMENT \
	"42d9febf07f240b18f0bcbf24ba572fc4d02d859543efcefc7ac5115274d5e11"
#define OTHER "52d9febf07f240b18f0bcbf24ba572fc4d02d859543efcefc7ac5115274d5e11"

static struct verify v;

/* So the ledger has heard of a tranche, after those that it knows already. */
static void heard(uint32_t number, uint64_t packets, int64_t cents,
		  const char *commitment)
{
	Rain__TotalsReply t = RAIN__TOTALS_REPLY__INIT;
	Rain__AnnouncedTranche rows[2], *list[2] = { &rows[0], &rows[1] };
	struct verify_heard *old = v.heard;

	for (size_t i = 0; i <= v.heard_count; i++) {
		bool last = i == v.heard_count;

		rain__announced_tranche__init(&rows[i]);
		rows[i].number = last ? number : old[i].number;
		rows[i].packets = last ? packets : old[i].packets;
		rows[i].total_cents = last ? cents : old[i].total_cents;
		rows[i].commitment =
			to_pb_str(last ? commitment : old[i].commitment);
	}
	t.n_topups = v.heard_count + 1;
	t.topups = list;
	verify_take_heard(&v, &t);
	free(old);
}

/* The ledger has heard of nothing. */
static void heard_nothing(void)
{
	free(v.heard);
	v.heard = NULL;
	v.heard_count = 0;
}

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
	(void)snprintf(t->commitment, sizeof(t->commitment), COMMITMENT);
	heard(2, 2, 200, COMMITMENT);
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
	says(2, "commitment of tranche 2: activity show says " COMMITMENT,
	     "verify: 2 differences");
	cr_assert_eq(strncmp(v.lines[1],
			     "commitment of tranche 2: the ledger has "
			     "" COMMITMENT ", seed and text make ",
			     120),
		     0, "%s", v.lines[1]);
}

/* As one judges of which only the ledger's word about the tranche is other. */
static void ledger_differs(uint32_t number, uint64_t packets, int64_t cents,
			   const char *commitment, const char *line)
{
	teardown();
	setup();
	claimed(5);
	heard_nothing();
	heard(number, packets, cents, commitment);
	says(1, line, "verify: 1 difference");
	cr_assert_str_eq(v.lines[0], line);
}

Test(verify_topup, the_ledger_has_another_record)
{
	ledger_differs(2, 2, 200, OTHER,
		       "commitment of tranche 2: the ledger has " OTHER
		       ", seed and text make " COMMITMENT);
	ledger_differs(2, 2, 200, COMMITMENT "0",
		       "commitment of tranche 2: the ledger has " COMMITMENT
		       "0, seed and text make " COMMITMENT);
	ledger_differs(2, 2, 200, "",
		       "commitment of tranche 2: the ledger has none, seed and "
		       "text make " COMMITMENT);
	ledger_differs(
		2, 3, 200, COMMITMENT,
		"tranche 2: activity show says 2 packets, the ledger has "
		"3");
	ledger_differs(2, 2, 201, COMMITMENT,
		       "tranche 2: activity show says 2.00 in all, the ledger "
		       "has 2.01");
}

Test(verify_topup, the_ledger_has_more)
{
	claimed(5);
	heard(3, 7, 150, OTHER);
	says(1,
	     "tranche 3: the ledger has it with 7 packets and 1.50, activity "
	     "show has not",
	     "verify: 1 difference");
}

Test(verify_topup, the_ledger_has_it_twice)
{
	claimed(5);
	heard(2, 2, 200, OTHER);
	says(1,
	     "tranche 2: the ledger has it twice, then with 2 packets and 2.00",
	     "verify: 1 difference");
}

Test(verify_topup, the_ledger_has_not_heard_of_it)
{
	claimed(5);
	heard_nothing();
	says(1, "tranche 2: the ledger has not heard of it",
	     "verify: 1 difference");
}

/* It announces first and closes afterwards. */
Test(verify_topup, the_ledger_has_heard_of_the_close_and_not_of_it)
{
	claimed(5);
	heard_nothing();
	v.settled = false;
	says(1, "tranche 2: the ledger has not heard of it",
	     "verify: 1 difference");
}

Test(verify_topup, the_ledger_may_not_have_heard_of_it_yet)
{
	claimed(5);
	heard_nothing();
	v.settled = false;
	v.ledger_claims = v.leftover_cents = -1;
	says(0, "",
	     "verify: all 5 packets proven: 5 claimed, 0 left; the ledger has "
	     "not heard yet of tranche 2");
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
