/* The rules of fault_check about states and money (F68, F73, F78). */
#include <criterion/criterion.h>
#include <stdio.h>

#include "lib/fault_tables.h"

Test(fault_check_books, events_with_a_hole)
{
	struct check_activity *a;

	sound();
	a = check_activity(&check, "friday");
	a->events[CHECK_REDIS][2].revision = 5;
	a->events[CHECK_REDIS][3].revision = 6;
	both_win();
	expect("revision 5 (opened) follows on 3");
}

Test(fault_check_books, a_transition_that_is_not_allowed)
{
	sound()->events[CHECK_REDIS][4].kind = CHANGE(OPENED);
	both_win();
	expect("revision 6: opened cannot follow on closed");
}

/* Entropy at revision `revision`, and all from there on one later. */
static void with_entropy(uint64_t revision)
{
	struct check_activity *a = sound();
	const struct check_event entropy = { .revision = revision,
					     .kind = CHANGE(ENTROPY),
					     .at_ms = 1500 };

	for (int place = 0; place < CHECK_PLACES; place++) {
		struct check_event *e;
		size_t i = a->event_count[place];

		check_enter_event(a, (enum check_place)place, &entropy);
		e = a->events[place];
		for (; i > 0 && e[i - 1].revision >= revision; i--) {
			e[i] = e[i - 1];
			e[i].revision++;
		}
		e[i] = entropy;
	}
	a->revision++;
	a->row.revision++;
	both_win();
}

Test(fault_check_books, entropy_comes_before_the_packets)
{
	with_entropy(2);
	expect(NULL);
	with_entropy(4);
	expect("revision 4: entropy cannot follow on loaded");
}

Test(fault_check_books, meta_and_events_differ)
{
	sound()->state = RAIN__STATE__CLOSED;
	both_win();
	expect("meta has state 6");
	sound()->revision = 9;
	both_win();
	expect("revision 9, and its events lead to state 7, revision 7");
}

Test(fault_check_books, an_event_that_is_missing_somewhere)
{
	struct check_activity *a = sound();

	a->event_count[CHECK_TOPIC] = 5;
	both_win();
	expect("revision 7 (settled) is in Redis and not in the topic");
	a = sound();
	a->event_count[CHECK_LEDGER] = 5;
	both_win();
	expect("revision 7 (settled) is in Redis and not in the ledger");
	a = sound();
	check_enter_event(a, CHECK_TOPIC,
			  &(struct check_event){ 8, CHANGE(HALTED), 9600, "" });
	both_win();
	expect("revision 8 (halted) is in the topic and not in Redis");
}

Test(fault_check_books, an_event_that_came_twice_and_differs)
{
	struct check_activity *a = sound();

	check_enter_event(a, CHECK_TOPIC,
			  &(struct check_event){ 4, CHANGE(OPENED), 3000, "" });
	both_win();
	expect(NULL); /* at least once, that is */
	a = sound();
	check_enter_event(a, CHECK_TOPIC,
			  &(struct check_event){ 4, CHANGE(PAUSED), 3000, "" });
	both_win();
	expect("revision 4 is ");
}

Test(fault_check_books, money_that_does_not_add_up)
{
	sound()->row.pool_cents = 1;
	both_win();
	expect("funded is 600, but pool + credited + held + refunded is 601");
	sound()->row.credited_cents = 299;
	both_win();
	expect("credited is 299, but the sum of the records is 300");
	sound()->row.funded_cents = 299;
	both_win();
	expect("300 cents are credited, and only 299 were funded");
	sound()->row.refunded_cents = 299;
	both_win();
	expect("refunded is 299, but the leftover in Redis is 300");
	sound()->row.refund_done = false;
	both_win();
	expect("is closed, and not refunded");
	sound()->books.left.cents = 299;
	both_win();
	expect("money: funded 6.00, but left 2.99 + claimed 3.00");
	sound()->books.counts.users = 3;
	both_win();
	expect("3 users are told a packet, but there are 2 claims");
	sound()->books.postings_cents = 1;
	both_win();
	expect("the postings sum to 0.01");
	sound()->row.there = false;
	both_win();
	expect("the ledger does not know it");
	sound()->known = false;
	both_win();
	expect("Redis does not know it");
}

static void account(const char *kind, const char *owner, int64_t balance,
		    int64_t moved, int64_t records)
{
	struct check_account k = { .balance = balance,
				   .moved = moved,
				   .records = records };

	snprintf(k.kind, sizeof k.kind, "%s", kind);
	snprintf(k.owner, sizeof k.owner, "%s", owner);
	check_enter_account(&check, &k);
}

Test(fault_check_books, accounts_that_are_wrong)
{
	sound();
	account("user", "alice", 100, 100, 100);
	account("pool", "friday", 0, 0, 0);
	account("sponsor", "acme", -300, -300, 0);
	both_win();
	expect(NULL);
	sound();
	account("user", "alice", 101, 100, 101);
	both_win();
	expect("user account of alice has 101, but its postings sum to 100");
	sound();
	account("user", "alice", 101, 101, 100);
	both_win();
	expect("user account of alice has 101, and should have 100");
	sound();
	account("held", "friday", -1, -1, 0);
	both_win();
	expect("held account of friday has -1");
	sound();
	account("pool", "friday", 5, 5, 0);
	both_win();
	expect("pool account of friday has 5, and should have 0");
}

static void told_of_nowhere(const char *status, const char *packet)
{
	sound();
	both_win();
	check_log_line(&check, &(struct check_line){ .kind = CHECK_ASK,
						     .connection = 9,
						     .seq = 1,
						     .activity = "nowhere",
						     .user = "alice" });
	check_log_line(&check, &(struct check_line){ .kind = CHECK_ANSWER,
						     .connection = 9,
						     .seq = 1,
						     .status = status,
						     .packet = packet,
						     .amount_cents = 1 });
}

Test(fault_check_books, an_activity_that_there_is_not_gives_nothing)
{
	told_of_nowhere("WON", "7");
	expect("nowhere: alice was told packet 7, 1 cents, and has no claim in "
	       "Redis");
}

Test(fault_check_books, an_activity_that_there_is_not_is_in_no_state)
{
	told_of_nowhere("NO_SUCH_ACTIVITY", NULL);
	expect(NULL);
	told_of_nowhere("SOLD_OUT", NULL);
	expect("nowhere: alice: grab on connection 9 seq 1 (asked 0, answered "
	       "0) tells SOLD_OUT, which it was not at any moment in between");
}
