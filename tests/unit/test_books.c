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
	b->refunded_cents = 100;
	b->refund_done = true;
	for (int k = 0; k < BOOK_COUNT; k++) {
		books_enter(b, (enum book)k, 1, BYTES("p1"), BYTES("alice"),
			    100);
		books_enter(b, (enum book)k, 2, BYTES("p2"), BYTES("bob"), 100);
	}
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
	b.left = (struct book_sum){ 0, 0 };
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
	b.left = (struct book_sum){ 0, 0 };
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
	b.left = (struct book_sum){ 0, 0 };
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
	b.left = (struct book_sum){ 0, 0 };
	b.refunded_cents = 0;
	expect(&b, 3, "packet p1 has two claims");
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
	expect(&b, 1, "refunded 99");
}

Test(books, without_the_lists_kafka_and_ledger_are_compared)
{
	struct books b;

	books_init(&b, "friday");
	b.state = RAIN__STATE__SETTLED;
	b.lists_gone = true;
	b.funded_cents = 100;
	b.funded_packets = 1;
	b.refund_done = true;
	books_enter(&b, BOOK_KAFKA, 1, BYTES("p1"), BYTES("alice"), 100);
	books_enter(&b, BOOK_LEDGER, 1, BYTES("p1"), BYTES("alice"), 100);
	cr_assert(books_at_rest(&b));
	expect(&b, 0, NULL);
}
