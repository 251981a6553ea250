#include <criterion/criterion.h>

#include "console/books.h"

/* Books of 3 packets of 1.00 each, two of them claimed, all sound. */
static void sound(struct books *b)
{
	books_init(b, "friday");
	b->state = RAIN__STATE__CLOSED;
	b->funded_cents = 300;
	b->funded_packets = 3;
	b->left = (struct book_sum){ 1, 100 };
	b->counts = (struct book_counts){ .claims = 2, .users = 2, .left = 1 };
	b->steady = true;
	b->refunded_cents = 100;
	b->refund_done = true;
	for (int k = 0; k < BOOK_COUNT; k++) {
		books_enter(b, (enum book)k, 1, BYTES("p1"), BYTES("alice"),
			    100);
		books_enter(b, (enum book)k, 2, BYTES("p2"), BYTES("bob"), 100);
	}
}

/* The packet that was left is claimed too. */
static void third_taken(struct books *b)
{
	b->left = (struct book_sum){ 0, 0 };
	b->counts = (struct book_counts){ .claims = 3, .users = 3, .left = 0 };
}

static void expect(struct books *b, uint64_t differences, const char *word)
{
	books_judge(b);
	cr_assert_eq(b->differences, differences, "%.*s",
		     BYTES_FMT(buf_live(&b->report)));
	if (word != NULL) {
		buf_put_u8(&b->report, 0);
		cr_assert(strstr((const char *)buf_live(&b->report).p, word) !=
				  NULL,
			  "%s", (const char *)buf_live(&b->report).p);
	}
	books_close(b);
}

Test(books, sound_books_are_exact_and_at_rest)
{
	struct books b;

	sound(&b);
	cr_assert(books_at_rest(&b));
	expect(&b, 0, NULL);
}

/* 5.00 are announced and funded, of which 2.00 are in the list by now. */
Test(books, a_tranche_that_is_half_loaded_is_no_difference)
{
	struct books b;

	sound(&b);
	b.state = RAIN__STATE__OPEN;
	b.refund_done = false;
	b.refunded_cents = 0;
	b.topped_up = true;
	b.plan_cents = 800;
	b.funded_cents = 300;
	b.unloaded_cents = 500;
	b.pool_cents = 100;
	cr_assert(!books_at_rest(&b), "not before it is funded");
	b.funded_cents = 800;
	b.pool_cents = 600;
	cr_assert(books_at_rest(&b));
	b.unloaded_cents = 300;
	b.left = (struct book_sum){ 3, 300 };
	b.counts.left = 3;
	expect(&b, 0, NULL);
}

Test(books, money_of_a_tranche_that_is_nowhere_is_told)
{
	struct books b;

	sound(&b);
	b.topped_up = true;
	b.plan_cents = 800;
	b.funded_cents = 800;
	b.refunded_cents = 600;
	b.unloaded_cents = 499;
	expect(&b, 2, "of a tranche that is announced 4.99 are not loaded");
}

Test(books, a_repeated_event_changes_nothing)
{
	struct books b;

	sound(&b);
	books_enter(&b, BOOK_KAFKA, 2, BYTES("p2"), BYTES("bob"), 100);
	cr_assert_eq(b.published_again, 1);
	cr_assert_eq(b.sums[BOOK_KAFKA].count, 2);
	expect(&b, 0, NULL);
}

Test(books, a_claim_that_was_never_credited_is_named)
{
	struct books b;

	sound(&b);
	books_enter(&b, BOOK_REDIS, 3, BYTES("p3"), BYTES("carol"), 100);
	books_enter(&b, BOOK_KAFKA, 3, BYTES("p3"), BYTES("carol"), 100);
	third_taken(&b);
	cr_assert(!books_at_rest(&b));
	/* the claim itself, and the money: claimed is not credited */
	expect(&b, 2, "packet p3 of carol is missing in ledger");
}

Test(books, a_claim_that_was_never_published_is_named)
{
	struct books b;

	sound(&b);
	books_enter(&b, BOOK_REDIS, 3, BYTES("p3"), BYTES("carol"), 100);
	books_enter(&b, BOOK_LEDGER, 3, BYTES("p3"), BYTES("carol"), 100);
	third_taken(&b);
	b.refunded_cents = 0;
	expect(&b, 1, "missing in kafka");
}

Test(books, one_cent_changed_in_the_ledger_is_named)
{
	struct books b;

	sound(&b);
	b.lines[1].in[BOOK_LEDGER].amount_cents = 99;
	b.sums[BOOK_LEDGER].cents -= 1;
	books_judge(&b);
	cr_assert_geq(b.differences, 2);
	books_close(&b);
}

Test(books, a_user_with_two_packets_is_named)
{
	struct books b;

	sound(&b);
	for (int k = 0; k < BOOK_COUNT; k++) {
		books_enter(&b, (enum book)k, 3, BYTES("p3"), BYTES("alice"),
			    100);
	}
	third_taken(&b);
	b.refunded_cents = 0;
	expect(&b, 3, "user alice has two claims");
}

Test(books, a_packet_that_two_users_have_is_named)
{
	struct books b;

	sound(&b);
	for (int k = 0; k < BOOK_COUNT; k++) {
		books_enter(&b, (enum book)k, 3, BYTES("p1"), BYTES("carol"),
			    100);
	}
	third_taken(&b);
	b.refunded_cents = 0;
	expect(&b, 3, "packet p1 has two claims");
}

/* Anybody may have written it into the topic: it costs a line, not gigabytes. */
Test(books, a_claim_beyond_any_plan_takes_no_memory)
{
	struct books b;

	sound(&b);
	books_enter(&b, BOOK_KAFKA, UINT32_MAX, BYTES("p9"), BYTES("mallory"),
		    100);
	cr_assert_leq(b.line_count, 4);
	expect(&b, 1, "kafka: a claim with the impossible seq 4294967295");
}

Test(books, two_events_of_one_seq_are_named)
{
	struct books b;

	sound(&b);
	books_enter(&b, BOOK_KAFKA, 2, BYTES("p2"), BYTES("mallory"), 100);
	expect(&b, 1, "kafka has it twice");
}

Test(books, money_that_is_neither_paid_nor_refunded_is_named)
{
	struct books b;

	sound(&b);
	b.refunded_cents = 99;
	expect(&b, 1, "refunded 0.99");
}

Test(books, without_the_lists_kafka_and_ledger_are_compared)
{
	struct books b;

	books_init(&b, "friday");
	b.state = RAIN__STATE__SETTLED;
	b.lists_gone = true;
	b.steady = true;
	b.funded_cents = 100;
	b.funded_packets = 1;
	b.refund_done = true;
	books_enter(&b, BOOK_KAFKA, 1, BYTES("p1"), BYTES("alice"), 100);
	books_enter(&b, BOOK_LEDGER, 1, BYTES("p1"), BYTES("alice"), 100);
	cr_assert(books_at_rest(&b));
	expect(&b, 0, NULL);
}

Test(books, a_user_who_is_told_another_amount_is_named)
{
	struct books b;

	sound(&b);
	books_enter_answer(&b, 1,
			   BYTES("{\"redPacketId\":\"p1\",\"amount\":\"5.00\","
				 "\"userId\":\"alice\",\"seq\":1}"));
	expect(&b, 1,
	       "seq 1: alice is told packet p1, 5.00 instead of packet p1, "
	       "1.00");
}

Test(books, a_user_who_is_told_nothing_or_nonsense_is_named)
{
	struct books b;

	sound(&b);
	books_enter_answer(&b, 2, BYTES(""));
	expect(&b, 1, "seq 2: bob is told nothing instead of packet p2, 1.00");
	sound(&b);
	books_enter_answer(&b, 2, BYTES("junk"));
	expect(&b, 1, "seq 2: bob is told junk instead of the claim");
}

Test(books, a_user_who_is_told_a_packet_that_nobody_claimed_is_counted)
{
	struct books b;

	sound(&b);
	b.counts.users = 3;
	expect(&b, 1, "3 users are told a packet, but there are 2 claims");
}

Test(books, lists_that_are_longer_than_what_was_read_are_named)
{
	struct books b;

	sound(&b);
	b.counts.claims = b.counts.users = 3;
	expect(&b, 1, "list of claims has 3 elements, but 2 could be read");
	sound(&b);
	b.counts.left = 2;
	expect(&b, 1, "list of packets has 2 elements, but 1 could be read");
}

/* The lengths and the two lists are then of different moments. */
Test(books, lengths_are_not_compared_while_people_grab)
{
	struct books b;

	sound(&b);
	b.state = RAIN__STATE__OPEN;
	b.steady = false;
	b.counts.users = 3;
	b.left.cents = 50;
	cr_assert(!books_at_rest(&b));
	expect(&b, 0, NULL);
}

/* Whoever shifts money between two balances changes no activity's numbers. */
Test(books, what_the_ledgers_audit_found_is_a_difference)
{
	struct books b;

	sound(&b);
	b.violations = -1; /* it has not ended yet */
	expect(&b, 0, NULL);
	sound(&b);
	b.violations = 2;
	b.first_violation = xstrndup("account 5 (user bob, CNY): balance", 34);
	expect(&b, 1, "found 2 violations of the books; the first: account 5");
}
