/* Accounts, transfers, postings. */
#include <stdlib.h>

#include "base/err.h"
#include "ledger_sqlite_tx.h"

int tx_account(struct tx *tx, const char *kind, struct bytes owner,
	       struct bytes currency, int64_t *number, int64_t *balance)
{
	struct sql *q = tx->q;
	int rv = sql_run(q, S_ACCOUNT_ADD, "sss", bytes_str(kind), owner,
			 currency);

	if (rv != 0) {
		return rv;
	}
	if (sql_changes(q) == 1) {
		*number = sql_inserted(q);
		*balance = 0;
		return 0;
	}
	rv = sql_only(q, S_ACCOUNT_GET, "sss", bytes_str(kind), owner,
		      currency);
	if (rv != 0) {
		return rv;
	}
	*number = sql_int(q, S_ACCOUNT_GET, 0);
	*balance = sql_int(q, S_ACCOUNT_GET, 1);
	sql_done(q, S_ACCOUNT_GET);
	return 0;
}

static int start_transfer(struct tx *tx, const struct tx_activity *a,
			  const char *kind, int64_t *number)
{
	int rv = sql_only(tx->q, S_TRANSFER_ADD, "sii", bytes_str(kind),
			  a->number, tx->batch->now_ms);

	if (rv != 0) {
		return rv;
	}
	*number = sql_int(tx->q, S_TRANSFER_ADD, 0);
	sql_done(tx->q, S_TRANSFER_ADD);
	return 0;
}

/* The balance follows its posting in the same breath. */
static int post(struct tx *tx, int64_t transfer, int64_t account, int64_t delta)
{
	int rv = sql_run(tx->q, S_POSTING_ADD, "iii", transfer, account, delta);

	if (rv == 0) {
		rv = sql_run(tx->q, S_ACCOUNT_MOVE, "ii", account, delta);
	}
	if (rv == 0 && sql_changes(tx->q) != 1) {
		rv = sql_damaged(tx->q, "an account is gone");
	}
	return rv;
}

/* A transfer between two accounts. */
static int move(struct tx *tx, int64_t transfer, int64_t from, int64_t to,
		int64_t cents)
{
	int rv = post(tx, transfer, from, -cents);

	return rv == 0 ? post(tx, transfer, to, cents) : rv;
}

int tx_transfer_start(struct tx *tx, struct tx_activity *a,
		      struct tx_transfer *t, const char *kind)
{
	return t->number != 0 ? 0 : start_transfer(tx, a, kind, &t->number);
}

void tx_transfer_add(struct tx_transfer *t, int64_t account, int64_t cents)
{
	check(t->number != 0 && cents > 0);
	if (t->count == t->size) {
		t->size = t->size == 0 ? 64 : t->size * 2;
		t->postings =
			xrealloc(t->postings, t->size * sizeof *t->postings);
	}
	t->postings[t->count++] = (struct tx_posting){ account, cents };
}

static int by_account(const void *left, const void *right)
{
	const struct tx_posting *l = left;
	const struct tx_posting *r = right;

	return (l->account > r->account) - (l->account < r->account);
}

/* Equal accounts become one posting: held gets many, and the key is one row
 * per transfer and account. */
static size_t merge(struct tx_posting *p, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && p[kept - 1].account == p[i].account) {
			p[kept - 1].delta += p[i].delta;
		} else {
			p[kept++] = p[i];
		}
	}
	return kept;
}

int tx_transfer_finish(struct tx *tx, struct tx_activity *a,
		       struct tx_transfer *t)
{
	int64_t pool = 0;
	int64_t balance;
	int64_t sum = 0;
	int rv;

	if (t->number == 0) {
		return 0;
	}
	rv = tx_account(tx, "pool", event_id_view(&a->id),
			bytes_str(a->currency), &pool, &balance);
	/* In the order of the accounts, whose pages are then written once. */
	qsort(t->postings, t->count, sizeof *t->postings, by_account);
	t->count = merge(t->postings, t->count);
	for (size_t i = 0; rv == 0 && i < t->count; i++) {
		sum += t->postings[i].delta;
		rv = post(tx, t->number, t->postings[i].account,
			  t->postings[i].delta);
	}
	return rv == 0 ? post(tx, t->number, pool, -sum) : rv;
}

/* The two accounts that funds move between, and what the sponsor has. */
static int ends(struct tx *tx, struct tx_activity *a, int64_t *sponsor,
		int64_t *pool, int64_t *balance)
{
	struct bytes currency = bytes_str(a->currency);
	int64_t pooled;
	int rv = tx_account(tx, "sponsor", bytes_str(a->uid), currency, sponsor,
			    balance);

	return rv == 0 ? tx_account(tx, "pool", event_id_view(&a->id), currency,
				    pool, &pooled)
		       : rv;
}

static int fund_one(struct tx *tx, struct tx_activity *a, struct tx_tranche *t)
{
	int64_t sponsor = 0;
	int64_t pool = 0;
	int64_t transfer = 0;
	int64_t balance = 0;
	int rv = ends(tx, a, &sponsor, &pool, &balance);

	if (rv == 0 &&
	    !settle_fundable(&a->books, balance, t->amount_cents, t->packets)) {
		a->books.refused_tranches++;
		return 0;
	}
	if (rv == 0) {
		rv = start_transfer(tx, a, "fund", &transfer);
	}
	if (rv == 0) {
		rv = move(tx, transfer, sponsor, pool, t->amount_cents);
	}
	if (rv == 0) {
		rv = sql_run(tx->q, S_TRANCHE_FUND, "iii", a->number, t->number,
			     transfer);
	}
	if (rv != 0) {
		return rv;
	}
	t->funded = true;
	a->look_again = true;
	a->books.waiting_tranches--;
	a->books.funded_cents += t->amount_cents;
	a->books.funded_packets += t->packets;
	a->books.pool_cents += t->amount_cents;
	a->books.pool_packets += t->packets;
	return 0;
}

int tx_fund(struct tx *tx, struct tx_activity *a)
{
	int rv = 0;

	if (a->uid[0] == '\0' || a->books.waiting_tranches == 0) {
		return 0;
	}
	a->books.refused_tranches = 0;
	for (size_t i = 0; rv == 0 && i < a->tranche_count; i++) {
		if (!a->tranches[i].funded) {
			rv = fund_one(tx, a, &a->tranches[i]);
		}
	}
	return rv;
}

int tx_refund(struct tx *tx, struct tx_activity *a)
{
	struct settle_books *b = &a->books;
	int64_t cents = b->pool_cents;
	int64_t sponsor = 0;
	int64_t pool = 0;
	int64_t transfer = 0;
	int64_t balance;
	int rv = 0;

	if (cents > 0) {
		rv = ends(tx, a, &sponsor, &pool, &balance);
		if (rv == 0) {
			rv = start_transfer(tx, a, "refund", &transfer);
		}
		if (rv == 0) {
			rv = move(tx, transfer, pool, sponsor, cents);
		}
		if (rv != 0) {
			return rv;
		}
	}
	b->pool_cents = 0;
	b->refunded_cents += cents;
	b->refunded_packets += b->pool_packets;
	b->pool_packets = 0;
	b->refund_done = true;
	a->refund_ms = tx->batch->now_ms;
	tx->result->refunds++;
	tx->result->refunded_cents = tx_sum(tx->result->refunded_cents, cents);
	return 0;
}
