/* The rules of fault_check about packets: those that are added while people
 * grab, and those of a list that somebody else has made. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/fault_tables.h"

#define COMMITMENT \
	"42d9febf07f240b18f0bcbf24ba572fc4d02d859543efcefc7ac5115274d5e11"

static void enter(struct check_activity *a, uint64_t seq, const char *user,
		  const char *packet, int64_t cents, int64_t at_ms,
		  uint32_t tranche)
{
	struct check_claim claim = { .amount_cents = cents,
				     .at_ms = at_ms,
				     .seq = seq,
				     .tranche = tranche };

	snprintf(claim.packet, sizeof claim.packet, "%s", packet);
	for (int i = 0; i < CHECK_PLACES; i++) {
		check_enter_claim(a, (enum check_place)i, &claim,
				  bytes_str(user));
	}
	a->books.counts.claims++;
	a->books.counts.users++;
	a->row.credited_cents += cents;
	a->row.credited_packets++;
}

/* topped_up has revision 5, and all from there on one later. */
static void announce(struct check_activity *a)
{
	struct check_event e = { .revision = 5,
				 .kind = CHANGE(TOPPED_UP),
				 .at_ms = 6000 };

	check_event_tranche(&e, 2, 2, 900, BYTES(COMMITMENT));
	for (int place = 0; place < CHECK_PLACES; place++) {
		size_t i = a->event_count[place];
		struct check_event *list;

		check_enter_event(a, (enum check_place)place, &e);
		list = a->events[place];
		for (; list[i - 1].revision >= 5; i--) {
			list[i] = list[i - 1];
			list[i].revision++;
		}
		list[i] = e;
	}
	a->revision++;
	a->row.revision++;
}

/* Carol has won the last packet of Friday at 5900; at 6000 two more are
 * announced, of which dave wins one at 6200. */
static struct check_activity *topped_up(void)
{
	struct check_activity *a = sound();

	announce(a);
	enter(a, 3, "carol", "1002", 300, 5900, 1);
	enter(a, 4, "dave", "2000", 400, 6200, 2);
	a->tranche_count = 2;
	a->tranches[1] = (struct check_tranche){ 2, 2, 900, COMMITMENT };
	check_enter_plan(a, BYTES("2000"), 400);
	check_enter_plan(a, BYTES("2001"), 500);
	a->left_count = 0;
	a->books.left = (struct book_sum){ 0, 0 };
	check_enter_left(a, BYTES("2001"), 500);
	a->books.counts.left = 1;
	a->books.funded_cents = a->row.funded_cents = 1500;
	a->books.funded_packets = 5;
	a->row.funded_packets = 5;
	a->row.total_cents = 1500;
	a->row.refunded_cents = a->books.refunded_cents = 500;
	a->row.leftover_cents = a->leftover_cents = 500;
	return a;
}

/* What the apps wrote down of it. */
static void all_win(void)
{
	both_win();
	ask(3, false, "carol", 5895);
	told(3, false, "WON", 5905, "1002", 300, 5900);
	ask(4, false, "dave", 6195);
	told(4, false, "WON", 6205, "2000", 400, 6200);
}

Test(fault_check_plan, packets_that_were_added)
{
	topped_up();
	all_win();
	expect(NULL);
}

Test(fault_check_plan, a_packet_that_the_tranche_does_not_have)
{
	topped_up()->plan[3].amount_cents = 401;
	all_win();
	expect("dave has packet 2000, 400 cents, seq 4, and the plan has packet "
	       "2000, 401 cents");
	topped_up()->plan_count = 3;
	all_win();
	expect("dave has packet 2000, 400 cents, seq 4, and the plan has packet "
	       "none, 0 cents");
}

Test(fault_check_plan, a_claim_of_another_tranche)
{
	struct check_activity *a = topped_up();

	check_person(a, BYTES("dave"))->in[CHECK_LEDGER].tranche = 1;
	all_win();
	expect("dave has packet 2000, seq 4, of tranche 1 in the ledger; it is "
	       "of tranche 2");
}

Test(fault_check_plan, another_announcement)
{
	static const char *const words[CHECK_PLACES] = {
		"revision 5 announces tranche 2, 2 packets, 901 cents, "
		"commitment " COMMITMENT "; meta has tranche 2, 2 packets, 900",
		"901 cents, commitment " COMMITMENT " in the topic",
		"901 cents, commitment " COMMITMENT " in the ledger",
	};

	for (int i = 0; i < CHECK_PLACES; i++) {
		struct check_activity *a = topped_up();

		check_event_tranche(&a->events[i][3], 2, 2, 901,
				    BYTES(COMMITMENT));
		all_win();
		expect(words[i]);
	}
}

Test(fault_check_plan, a_tranche_that_nobody_announced)
{
	struct check_activity *a = topped_up();

	a->tranches[2] = a->tranches[1];
	a->tranche_count = 3;
	all_win();
	expect("meta has 3 tranches, its events announce 2");
	topped_up()->tranche_count = 1;
	all_win();
	expect("meta has 1 tranches, its events announce 2");
}

Test(fault_check_plan, what_is_left_is_not_what_follows)
{
	topped_up()->left[0].amount_cents = 501;
	all_win();
	expect("packet 2001, 501 cents, is left in place 5, and the plan has "
	       "packet 2001, 500 cents");
	check_enter_left(topped_up(), BYTES("2002"), 1);
	all_win();
	expect("packet 2002, 1 cents, is left, and the plan has only 5");
}

static void told_sold_out(int64_t asked_ms, const char *word)
{
	topped_up();
	all_win();
	grab(5, "erin", asked_ms, "SOLD_OUT");
	expect(word);
}

/* All were gone from 5900 until those that were added came, before 6200. */
Test(fault_check_plan, sold_out_for_a_while)
{
	told_sold_out(5885, NULL);
	told_sold_out(6000, NULL);
	told_sold_out(6490, NULL);
	told_sold_out(5500, "tells SOLD_OUT, but packets were there at each "
			    "moment in between");
	told_sold_out(6800, "tells SOLD_OUT, but packets were there at each "
			    "moment in between");
}

/* A tranche comes in chunks: the first one was gone from 6300 until 7000. */
Test(fault_check_plan, sold_out_between_two_chunks)
{
	struct check_activity *a = topped_up();
	char why[CHECK_WHAT_MAX];

	a->tranches[1].packets = a->tranches[1].loaded = CHECK_CHUNK + 100;
	enter(a, 3 + CHECK_CHUNK, "last", "2499", 1, 6300, 2);
	enter(a, 4 + CHECK_CHUNK, "next", "2500", 1, 7000, 2);
	cr_assert(check_sold_out(a, 6500, 6510, why));
	cr_assert_not(check_sold_out(a, 7400, 7410, why));
	check_close(&check);
}

/* Opened at 3000. Carol's is the third of three packets, not of five. */
Test(fault_check_plan, what_is_added_is_released_when_it_is_there)
{
	topped_up()->release_ms = 4350;
	all_win();
	expect(NULL);
	topped_up()->release_ms = 4351;
	all_win();
	expect("carol has packet 1002, seq 3, claimed 2900 ms after the start, "
	       "before it was released");
}

/* ---- Adopted ---- */

/* Friday, whose list is the one in this file. */
static struct check_activity *adopted(const char *lines)
{
	char path[] = "/tmp/fault_lists.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
	struct check_activity *a = sound();
	struct buf why;

	cr_assert(f != NULL);
	fputs(lines, f);
	fclose(f);
	a->adopted = true;
	a->plan_count = 0;
	buf_init(&why);
	cr_assert_eq(check_read_lists(path, &check, &why), CTL_OK);
	buf_close(&why);
	unlink(path);
	return a;
}

Test(fault_check_plan, a_list_that_somebody_else_has_made)
{
	adopted("friday 1000 100\nsunday 7 7\nfriday 1001 200\n"
		"friday 1002 300\n");
	both_win();
	expect(NULL);
	adopted("friday 1000 100\nfriday 1001 201\nfriday 1002 300\n");
	both_win();
	expect("bob has packet 1001, 200 cents, seq 2, and the plan has packet "
	       "1001, 201 cents");
	adopted("friday 1001 200\nfriday 1000 100\nfriday 1002 300\n");
	both_win();
	expect("alice has packet 1000, 100 cents, seq 1, and the plan has packet "
	       "1001, 200 cents");
	adopted("friday 1000 100\nfriday 1001 200\nfriday 1003 300\n");
	both_win();
	expect("packet 1002, 300 cents, is left in place 3, and the plan has "
	       "packet 1003, 300 cents");
	adopted("friday 1000 100\nfriday 1001 200\n");
	both_win();
	expect("it is of 3 packets, and 2 lay in the list that it adopted");
}

Test(fault_check_plan, a_file_of_lists_that_cannot_be_read)
{
	struct buf why;

	sound();
	buf_init(&why);
	cr_assert_eq(check_read_lists("/nowhere/lists", &check, &why),
		     CTL_UNKNOWN);
	cr_assert_gt(buf_len(&why), 0);
	buf_close(&why);
	check_close(&check);
}
