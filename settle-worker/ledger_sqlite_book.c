/* Accounts, transfers, postings. */
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

int tx_account_move(struct tx *tx, int64_t account, int64_t delta)
{
	int rv = sql_run(tx->q, S_ACCOUNT_MOVE, "ii", account, delta);

	if (rv == 0 && sql_changes(tx->q) != 1) {
		rv = sql_damaged(tx->q, "an account is gone");
	}
	return rv;
}

/* The balance follows its posting in the same breath. */
static int post(struct tx *tx, int64_t transfer, int64_t account, int64_t delta)
{
	int rv = sql_run(tx->q, S_POSTING_ADD, "iii", transfer, account, delta);

	return rv == 0 ? tx_account_move(tx, account, delta) : rv;
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

/* Rows of the database become rows: one that is missing would be found here. The
 * balances are moved already, with the records. */
static int post_records(struct tx *tx, const struct tx_transfer *t)
{
	struct sql *q = tx->q;
	int rv = sql_run(q, S_POSTING_RECORDS, "iii", t->number, t->first,
			 t->last);

	if (rv == 0 && sql_changes(q) != t->count) {
		rv = sql_damaged(q, "a record is gone");
	}
	return rv;
}

static int an_account(struct tx *tx, const struct tx_activity *a,
		      const char *kind, int64_t *number)
{
	int64_t balance;

	return tx_account(tx, kind, event_id_view(&a->id),
			  bytes_str(a->currency), number, &balance);
}

int tx_credit_finish(struct tx *tx, struct tx_activity *a)
{
	const struct tx_transfer *t = &a->credit;
	int64_t pool = 0;
	int rv;

	if (t->number == 0) {
		return 0;
	}
	rv = an_account(tx, a, "pool", &pool);
	if (rv == 0) {
		rv = post_records(tx, t);
	}
	return rv == 0 ? post(tx, t->number, pool, -t->cents) : rv;
}

int tx_hold_finish(struct tx *tx, struct tx_activity *a)
{
	const struct tx_transfer *t = &a->hold;
	int64_t pool = 0;
	int64_t held = 0;
	int rv;

	if (t->number == 0) {
		return 0;
	}
	rv = an_account(tx, a, "pool", &pool);
	if (rv == 0) {
		rv = an_account(tx, a, "held", &held);
	}
	return rv == 0 ? move(tx, t->number, pool, held, t->cents) : rv;
}

/* The two accounts that funds move between, and what the sponsor has. */
static int ends(struct tx *tx, struct tx_activity *a, int64_t *sponsor,
		int64_t *pool, int64_t *balance)
{
	int rv = tx_account(tx, "sponsor", bytes_str(a->uid),
			    bytes_str(a->currency), sponsor, balance);

	return rv == 0 ? an_account(tx, a, "pool", pool) : rv;
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
