/* The rules of fault_check about live activities: what is left of them is two
 * numbers, and each claim is the packet of its place. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "lib/fault_tables.h"

/* The example of docs/fairness.md: 567 261 799 3029 2670 83 2570 21. */
enum { TOTAL = 10000, PACKETS = 8, ALICE = 567, BOB = 261 };

static void enter_claim(struct check_activity *a, uint64_t seq,
			const char *user, int64_t cents)
{
	struct check_claim claim = { .amount_cents = cents,
				     .at_ms = 4900 + 100 * (int64_t)seq,
				     .seq = seq,
				     .tranche = 1 };

	snprintf(claim.packet, sizeof claim.packet, "%d", 999 + (int)seq);
	for (int i = 0; i < CHECK_PLACES; i++) {
		check_enter_claim(a, (enum check_place)i, &claim,
				  bytes_str(user));
	}
}

static void enter_events(struct check_activity *a)
{
	static const struct check_event events[] = {
		{ 1, CHANGE(CREATED), 1000, "" },
		{ 3, CHANGE(LOADED), 2000, "" },
		{ 4, CHANGE(OPENED), 3000, "" },
		{ 5, CHANGE(CLOSED), 9000, "" },
		{ 6, CHANGE(COUNTED), 9001, "" },
		{ 7, CHANGE(SETTLED), 9500, "" },
	};

	for (int place = 0; place < CHECK_PLACES; place++) {
		for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
			check_enter_event(a, (enum check_place)place,
					  &events[i]);
		}
	}
}

/* What the ledger has, of claims of so many cents. */
static void enter_ledger(struct check_activity *a, int64_t total,
			 int64_t packets, int64_t claimed)
{
	a->row = (struct check_row){
		.there = true,
		.total_cents = total,
		.funded_cents = total,
		.funded_packets = packets,
		.credited_cents = claimed,
		.credited_packets = 2,
		.refunded_cents = total - claimed,
		.refunded_packets = packets - 2,
		.leftover_cents = total - claimed,
		.revision = 7,
		.refund_done = true,
	};
	a->books.funded_cents = total;
	a->books.funded_packets = (uint64_t)packets;
	a->books.refunded_cents = total - claimed;
	a->books.refund_done = true;
}

/* Packets of which alice and bob have won the first two; what meta says is
 * what is left by these, or drawn. */
static struct check_activity *live(int64_t total, int64_t packets,
				   int64_t alice, int64_t bob,
				   const struct check_live *drawn)
{
	const struct allocate_rule rule = { .total_cents = total,
					    .count = (uint64_t)packets,
					    .min_cents = 1,
					    .algorithm = ALLOCATE_DOUBLE_MEAN,
					    .live = true };
	const struct check_live left = { packets - 2, total - alice - bob,
					 alice + bob };
	struct check_activity *a;
	uint8_t seed[ALLOCATE_SEED];

	for (uint8_t i = 0; i < ALLOCATE_SEED; i++) {
		seed[i] = i;
	}
	check_init(&check);
	a = check_activity(&check, "friday");
	a->wanted = a->known = a->live = a->planned_live = true;
	a->state = RAIN__STATE__SETTLED;
	a->revision = 7;
	check_enter_tranche(a, seed, &rule, 1000);
	enter_events(a);
	enter_claim(a, 1, "alice", alice);
	enter_claim(a, 2, "bob", bob);
	enter_ledger(a, total, packets, alice + bob);
	a->leftover_cents = total - alice - bob;
	check_enter_drawn(a, drawn != NULL ? drawn : &left);
	a->books.counts = (struct book_counts){ 2, 2, a->books.left.count };
	return a;
}

static struct check_activity *friday(void)
{
	return live(TOTAL, PACKETS, ALICE, BOB, NULL);
}

static void win(int64_t alice, int64_t bob)
{
	ask(1, false, "alice", 4995);
	told(1, false, "WON", 5010, "1000", alice, 5000);
	ask(2, false, "bob", 5095);
	told(2, false, "WON", 5110, "1001", bob, 5100);
}

/* The verdict where meta says these, and all else is in order. */
static void expect_of_meta(int64_t left, int64_t balance, int64_t claimed,
			   const char *word)
{
	const struct check_live drawn = { left, balance, claimed };

	live(TOTAL, PACKETS, ALICE, BOB, &drawn);
	win(ALICE, BOB);
	expect(word);
}

Test(fault_check_live, what_is_sound_passes)
{
	friday();
	win(ALICE, BOB);
	grab(3, "carol", 9600, "ENDED");
	expect(NULL);
	expect_of_meta(6, 9172, 828, NULL);
}

Test(fault_check_live, packets_that_are_left)
{
	expect_of_meta(5, 9172, 828,
		       "friday: left is 5, but packets less claims is 6");
	expect_of_meta(7, 9172, 828,
		       "friday: left is 7, but packets less claims is 6");
	expect_of_meta(-1, 9172, 828,
		       "friday: meta has no left, packets less claims is 6");
}

Test(fault_check_live, a_balance_that_the_claims_do_not_leave)
{
	expect_of_meta(6, 9173, 828,
		       "friday: balance is 9173, but the total less all claims "
		       "is 9172");
	expect_of_meta(
		6, 9171, 828,
		"friday: balance is 9171, but the sum of the places that "
		"nobody took is 9172");
	expect_of_meta(6, -1, 828, "friday: meta has no balance");
	expect_of_meta(6, 9173, 828, "money: funded 100.00, but left 91.73");
}

/* The services compare these two with each other and with the total only. */
Test(fault_check_live, a_cent_moved_between_the_two_sums)
{
	expect_of_meta(
		6, 9171, 829,
		"friday: claimed_cents is 829, but the sum of the claims "
		"is 828");
	expect_of_meta(6, 9172, 829, "claimed_cents is 829");
	expect_of_meta(6, 9172, -1, "friday: meta has no claimed_cents");
}

/* All sums hold, and it is not what seed and plan say. */
Test(fault_check_live, a_claim_that_is_not_the_packet_of_its_place)
{
	live(TOTAL, PACKETS, ALICE, BOB + 1, NULL);
	win(ALICE, BOB + 1);
	expect("bob has packet 1001, 262 cents, seq 2, and the plan has packet "
	       "1001, 261 cents");
	live(TOTAL, PACKETS, ALICE, BOB + 1, NULL);
	win(ALICE, BOB + 1);
	expect("balance is 9171, but the sum of the places that nobody took is "
	       "9172");
	live(TOTAL, PACKETS, BOB, ALICE, NULL);
	win(BOB, ALICE);
	expect("alice has packet 1000, 261 cents, seq 1, and the plan has packet "
	       "1000, 567 cents");
}

Test(fault_check_live, a_list_beside_the_sums)
{
	check_enter_left(friday(), BYTES("1002"), 799);
	win(ALICE, BOB);
	expect("friday: it is live, and has a list of 1 packets");
}

Test(fault_check_live, a_tranche_that_was_added)
{
	struct check_activity *a = friday();

	a->tranches[a->tranche_count++] = a->tranches[0];
	win(ALICE, BOB);
	expect("friday: it is live, and has 2 tranches");
}

Test(fault_check_live, another_mode_than_was_planned)
{
	friday()->planned_live = false;
	win(ALICE, BOB);
	expect("friday: it was to have a list, and is live");
	sound()->planned_live = true;
	both_win();
	expect("friday: it was to be live, and has a list");
}

Test(fault_check_live, a_leftover_that_is_not_the_balance)
{
	friday()->leftover_cents = 9171;
	win(ALICE, BOB);
	expect("friday: leftover_cents is 9171, but the balance is 9172");
	friday()->row.leftover_cents = 9171;
	win(ALICE, BOB);
	expect("the ledger's leftover is 9171, but the leftover in Redis is "
	       "9172");
}

Test(fault_check_live, a_refund_that_is_not_the_balance)
{
	struct check_activity *a = friday();

	a->row.refunded_cents = a->books.refunded_cents = 9171;
	win(ALICE, BOB);
	expect("refunded is 9171, but the leftover in Redis is 9172");
	friday()->row.refund_done = false;
	win(ALICE, BOB);
	expect("friday: is closed, and not refunded");
}

Test(fault_check_live, sold_out_while_packets_are_left)
{
	const struct check_live none = { 0, 0, TOTAL };

	friday();
	win(ALICE, BOB);
	grab(3, "carol", 6000, "SOLD_OUT");
	expect("tells SOLD_OUT, but 6 packets are left");
	/* Who believed a meta that is wrong has told a lie all the same. */
	live(TOTAL, PACKETS, ALICE, BOB, &none);
	win(ALICE, BOB);
	grab(3, "carol", 6000, "SOLD_OUT");
	expect("tells SOLD_OUT, but 6 packets are left");
}

/* Of 10.00 in two packets the first is 1 + floor(u * 999 / 2^96), u being the
 * draw of the example: 227. */
Test(fault_check_live, sold_out_when_it_is)
{
	live(1000, 2, 227, 773, NULL);
	win(227, 773);
	grab(3, "carol", 5200, "SOLD_OUT");
	expect(NULL);
	live(1000, 2, 227, 773, NULL);
	ask(1, false, "alice", 4995);
	told(1, false, "WON", 5010, "1000", 227, 5000);
	grab(3, "carol", 5020, "SOLD_OUT");
	ask(2, false, "bob", 5095);
	told(2, false, "WON", 5110, "1001", 773, 5100);
	expect("tells SOLD_OUT, but there was a claim at 5100");
}

/* Nothing stands in meta before it is loaded. */
Test(fault_check_live, nothing_is_left_of_what_was_never_loaded)
{
	const struct check_live none = { -1, -1, -1 };
	struct check_activity *a = live(TOTAL, PACKETS, ALICE, BOB, &none);

	a->event_count[CHECK_REDIS] = 1;
	check_judge_live(&check, a);
	cr_assert_eq(check.violations, 0);
	a->event_count[CHECK_REDIS] = 2;
	check_judge_live(&check, a);
	cr_assert_gt(check.violations, 0);
	check_close(&check);
}

/* When the lists are gone the claims in the topic are held against the plan. */
Test(fault_check_live, what_was_settled_long_ago)
{
	const struct check_live none = { -1, -1, -1 };
	struct check_activity *a = live(TOTAL, PACKETS, ALICE, BOB, &none);

	a->lists_gone = true;
	check_judge_live(&check, a);
	cr_assert_eq(check.violations, 0);
	check_person(a, BYTES("bob"))->in[CHECK_TOPIC].amount_cents = 262;
	check_judge_persons(&check, a);
	cr_assert_gt(check.violations, 0);
	check_close(&check);
}
