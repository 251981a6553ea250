/* The rules of fault_check about answers and users: what is sound passes, and
 * each thing that breaks an invariant is named (F11, F12, F14, F53, F69). */
#include <criterion/criterion.h>

#include "lib/fault_tables.h"

Test(fault_check, what_is_sound_passes)
{
	sound();
	grab(10, "alice", 2500, "NOT_STARTED");
	both_win();
	grab(11, "carol", 5200, "BUSY");
	grab(12, "carol", 5300, "PENDING");
	ask(13, true, "alice", 9600);
	told(13, true, "ALREADY_GRABBED", 9610, "1000", 100, 5000);
	grab(14, "carol", 9600, "ENDED");
	cr_assert_eq(check.wins, 2);
	expect(NULL);
}

Test(fault_check, a_lost_answer_explains_a_claim)
{
	sound();
	alice_wins();
	ask(2, false, "bob", 5095);
	check_log_line(&check, &(struct check_line){ .kind = CHECK_CLOSED,
						     .mono_ms = 5200,
						     .wall_ms = 5200,
						     .connection = 1,
						     .seq = 2 });
	expect(NULL);
}

Test(fault_check, another_packet_than_before)
{
	sound();
	both_win();
	ask(3, true, "alice", 5500);
	told(3, true, "ALREADY_GRABBED", 5510, "1002", 300, 5000);
	expect("tells packet 1002, 300 cents, won at 5000; it was packet 1000");
}

Test(fault_check, another_amount_than_before)
{
	sound();
	both_win();
	ask(3, true, "alice", 5500);
	told(3, true, "ALREADY_GRABBED", 5510, "1000", 101, 5000);
	expect("tells packet 1000, 101 cents");
}

Test(fault_check, one_packet_told_to_two)
{
	sound();
	both_win();
	ask(3, false, "carol", 5500);
	told(3, false, "WON", 5510, "1000", 100, 5000);
	expect("friday: carol: grab on connection 1 seq 3 (asked 5500, answered "
	       "5510) tells packet 1000, which alice was told too");
}

Test(fault_check, a_winner_is_told_that_there_is_nothing)
{
	sound();
	both_win();
	grab(3, "alice", 9600, "ENDED");
	expect("tells ENDED, but the user has packet 1000, told before");
}

Test(fault_check, a_winner_whose_answer_was_lost_is_told_it_too)
{
	sound();
	alice_wins();
	grab(2, "bob", 5099, "PENDING");
	ask(3, true, "bob", 5300);
	told(3, true, "BUSY", 5310, NULL, 0, 0);
	expect("tells BUSY, but the user has packet 1001, claimed at 5100");
}

/* Asked before the winning answer arrived: it may have overtaken. */
Test(fault_check, an_overtaken_answer_is_no_violation)
{
	sound();
	ask(3, false, "alice", 4990);
	ask(1, false, "alice", 4995);
	told(1, false, "WON", 5010, "1000", 100, 5000);
	told(3, false, "BUSY", 5020, NULL, 0, 0);
	bob_wins();
	expect(NULL);
}

Test(fault_check, sold_out_before_the_last_claim)
{
	sound()->books.left = (struct book_sum){ 0, 0 };
	alice_wins();
	grab(3, "carol", 5020, "SOLD_OUT");
	bob_wins();
	expect("tells SOLD_OUT, but there was a claim at 5100");
}

Test(fault_check, sold_out_though_packets_are_left)
{
	sound();
	both_win();
	grab(3, "carol", 5500, "SOLD_OUT");
	expect("tells SOLD_OUT, but 1 packets are left");
}

Test(fault_check, words_that_were_never_true)
{
	static const char *const wrong[] = { "PAUSED", "ENDED", "NOT_STARTED",
					     "NO_SUCH_ACTIVITY" };

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		sound();
		both_win();
		grab(3, "carol", 5500, wrong[i]);
		expect("which it was not at any moment in between");
	}
}

Test(fault_check, words_that_are_no_answer)
{
	static const char *const wrong[] = { "DENIED", "BAD_SEQ", "?",
					     "STATUS_UNSPECIFIED" };

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		sound();
		both_win();
		grab(3, "carol", 5500, wrong[i]);
		expect("which is no answer to it");
	}
}

Test(fault_check, a_packet_where_none_should_be)
{
	sound();
	both_win();
	ask(3, false, "alice", 5500);
	told(3, false, "PENDING", 5510, "1000", 100, 5000);
	expect("tells PENDING with a packet");
	sound();
	both_win();
	grab(3, "alice", 5500, "WON");
	expect("tells WON without a packet");
}

Test(fault_check, told_and_not_claimed)
{
	sound();
	both_win();
	ask(3, false, "carol", 5500);
	told(3, false, "WON", 5510, "1002", 300, 5500);
	expect("carol was told packet 1002, 300 cents, and has no claim in "
	       "Redis");
}

Test(fault_check, told_another_amount_than_claimed)
{
	sound();
	bob_wins();
	ask(1, false, "alice", 4995);
	told(1, false, "WON", 5010, "1000", 99, 5000);
	expect("alice was told packet 1000, 99 cents, won at 5000; the ledger "
	       "has packet 1000, 100 cents");
}

Test(fault_check, a_claim_that_is_missing_somewhere)
{
	static const char *const words[CHECK_PLACES] = {
		"and has no claim in Redis",
		"seq 2: packet 1001 of bob is missing in kafka",
		"seq 2: packet 1001 of bob is missing in ledger",
	};

	for (int i = 0; i < CHECK_PLACES; i++) {
		tables((struct hole){ i, "bob" });
		both_win();
		expect(words[i]);
	}
}

Test(fault_check, a_claim_of_which_nobody_knows)
{
	sound();
	alice_wins();
	expect("bob has packet 1001, claimed at 5100, but no grab can have made "
	       "that claim");
	sound();
	check.others = true;
	alice_wins();
	expect(NULL);
}

Test(fault_check, a_grab_that_was_refused_and_executed)
{
	static const char *const refused[] = { "BUSY", "RATE_LIMITED",
					       "UNAVAILABLE" };

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		sound();
		alice_wins();
		ask(2, false, "bob", 5095);
		told(2, false, refused[i], 5110, NULL, 0, 0);
		expect("no grab can have made that claim");
	}
}

Test(fault_check, a_grab_that_was_executed_too_late)
{
	sound();
	alice_wins();
	grab(2, "bob", 4000, "PENDING"); /* not after 5000 */
	expect("bob has packet 1001, claimed at 5100, but no grab");
}

Test(fault_check, a_packet_outside_the_plan)
{
	struct check_activity *a = sound();

	a->plan[1].amount_cents = 201;
	both_win();
	expect("bob has packet 1001, 200 cents, seq 2, and the plan has packet "
	       "1001, 201 cents");
	a = sound();
	snprintf(a->plan[0].id, sizeof a->plan[0].id, "5000");
	both_win();
	expect("and the plan has packet 5000");
}

Test(fault_check, a_claim_after_the_end)
{
	sound()->events[CHECK_REDIS][3].at_ms = 5050; /* closed */
	both_win();
	expect("bob has packet 1001, claimed at 5100, when it was not OPEN");
}

/* Opened at 3000, alice won packet 1 at 5000 and bob packet 2 at 5100. */
Test(fault_check, a_claim_before_its_packet_was_released)
{
	sound()->release_ms = 6300;
	both_win();
	expect(NULL);
	sound()->release_ms = 6303;
	both_win();
	expect("bob has packet 1001, seq 2, claimed 2100 ms after the start, "
	       "before it was released");
}

Test(fault_check, an_answer_that_nobody_waits_for)
{
	sound();
	both_win();
	told(2, false, "WON", 5120, "1001", 200, 5100);
	expect("answers nothing, or for the second time");
}

Test(fault_check, a_request_that_is_never_answered)
{
	sound();
	both_win();
	ask(3, false, "carol", 5200); /* not after 6200 */
	grab(4, "carol", 30000, "ENDED");
	grab(5, "carol", 31500, "ENDED");
	expect("carol: grab on connection 1 seq 3 (asked 5200) has no answer, "
	       "but later ones have");
	sound();
	both_win();
	ask(3, false, "carol", 5200);
	grab(4, "carol", 5300, "BUSY");
	expect(NULL);
}
