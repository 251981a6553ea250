/*
 * Rules of the books: beyond those of rainctl books, the ledger's own sums and
 * its accounts.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "fault/check.h"

/* What rainctl books would say, from tables that nobody but us has read. */
static void judge_books(struct check *c, struct check_activity *a)
{
	struct books *b = &a->books;
	struct bytes rest;

	b->state = (Rain__State)a->state;
	b->lists_gone = a->lists_gone;
	b->steady = true;
	books_judge(b);
	rest = buf_live(&b->report);
	while (rest.n > 0) {
		const uint8_t *end = memchr(rest.p, '\n', rest.n);
		size_t n = end != NULL ? (size_t)(end - rest.p) : rest.n;

		check_violation(c, "%s: %.*s", a->id, (int)n,
				(const char *)rest.p);
		n += end != NULL ? 1 : 0;
		rest = bytes_make(rest.p + n, rest.n - n);
	}
}

static void equal(struct check *c, const struct check_activity *a,
		  const char *what, int64_t left, const char *as, int64_t right)
{
	if (left != right) {
		check_violation(c, "%s: %s is %" PRId64 ", but %s is %" PRId64,
				a->id, what, left, as, right);
	}
}

static void judge_row(struct check *c, const struct check_activity *a)
{
	const struct check_row *r = &a->row;
	const struct book_sum *records = &a->books.sums[BOOK_LEDGER];

	equal(c, a, "funded", r->funded_cents,
	      "pool + credited + held + refunded",
	      r->pool_cents + r->credited_cents + r->held_cents +
		      r->refunded_cents);
	equal(c, a, "funded packets", r->funded_packets,
	      "pool + credited + held + refunded",
	      r->pool_packets + r->credited_packets + r->held_packets +
		      r->refunded_packets);
	equal(c, a, "credited", r->credited_cents, "the sum of the records",
	      records->cents);
	equal(c, a, "credited packets", r->credited_packets,
	      "the number of records", (int64_t)records->count);
	if (records->cents > r->funded_cents) {
		check_violation(c,
				"%s: %" PRId64 " cents are credited, and only "
				"%" PRId64 " were funded",
				a->id, records->cents, r->funded_cents);
	}
	if (r->funded_cents > 0) {
		equal(c, a, "funded", r->funded_cents, "the plan's total",
		      r->total_cents);
	}
	if (!a->lists_gone && a->event_count[CHECK_REDIS] > 0) {
		equal(c, a, "the ledger's revision", (int64_t)r->revision,
		      "that of the last event",
		      (int64_t)a
			      ->events[CHECK_REDIS]
				      [a->event_count[CHECK_REDIS] - 1]
			      .revision);
	}
}

/* After the end the refund is what was left, to the cent. */
static void judge_refund(struct check *c, const struct check_activity *a)
{
	const struct check_row *r = &a->row;
	bool ended = a->state == RAIN__STATE__CLOSED ||
		     a->state == RAIN__STATE__SETTLED;

	if (!ended || r->funded_cents == 0) {
		return; /* not ended, or cancelled before it was funded */
	}
	if (!r->refund_done) {
		check_violation(c, "%s: is closed, and not refunded", a->id);
		return;
	}
	if (a->leftover_cents < 0) {
		/* Cancelled: all that was funded goes back. */
		equal(c, a, "refunded", r->refunded_cents, "funded",
		      r->funded_cents);
		return;
	}
	equal(c, a, "refunded", r->refunded_cents, "the leftover in Redis",
	      a->leftover_cents);
	equal(c, a, "the ledger's leftover", r->leftover_cents,
	      "the leftover in Redis", a->leftover_cents);
	equal(c, a, "the pool after the refund", r->pool_cents, "nothing", 0);
}

void check_judge_money(struct check *c, struct check_activity *a)
{
	if (a->lists_gone || a->known) {
		judge_books(c, a);
	}
	if (a->row.there) {
		judge_row(c, a);
		judge_refund(c, a);
	} else {
		check_violation(c, "%s: the ledger does not know it", a->id);
	}
	if (!a->known) {
		check_violation(c, "%s: Redis does not know it", a->id);
	}
}

/* What the accounts of an activity must have. */
static int64_t expected(struct check *c, const struct check_account *account)
{
	struct check_activity *a;

	HASH_FIND_STR(c->activities, account->owner, a);
	if (a == NULL || !a->row.there) {
		return account->balance;
	}
	return strcmp(account->kind, "pool") == 0 ? a->row.pool_cents
						  : a->row.held_cents;
}

void check_judge_accounts(struct check *c)
{
	for (size_t i = 0; i < c->account_count; i++) {
		const struct check_account *k = &c->accounts[i];
		int64_t want = k->balance;

		if (k->balance != k->moved) {
			check_violation(c,
					"ledger: %s account of %s has %" PRId64
					", but its postings sum to %" PRId64,
					k->kind, k->owner, k->balance,
					k->moved);
		}
		if (k->balance < 0 && strcmp(k->kind, "sponsor") != 0) {
			check_violation(c,
					"ledger: %s account of %s has %" PRId64,
					k->kind, k->owner, k->balance);
		}
		if (strcmp(k->kind, "user") == 0) {
			want = k->records;
		} else if (strcmp(k->kind, "sponsor") != 0) {
			want = expected(c, k);
		}
		if (want != k->balance) {
			check_violation(c,
					"ledger: %s account of %s has %" PRId64
					", and should have %" PRId64,
					k->kind, k->owner, k->balance, want);
		}
	}
}
