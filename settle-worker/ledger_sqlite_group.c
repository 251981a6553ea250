/* Records, one by one and many with one statement. */
#include "base/err.h"
#include "ledger_sqlite_tx.h"

enum { RECORD_VALUES = 6 }; /* of one claim, in S_RECORD_ADD_ALL */

/* From the pool to a winner, in the books; back with a sign of -1. */
static void move(struct tx_activity *a, const struct event_claim *c, int sign)
{
	a->books.pool_cents -= sign * c->amount_cents;
	a->books.pool_packets -= sign;
	a->books.credited_cents += sign * c->amount_cents;
	a->books.credited_packets += sign;
}

/* The newest record, and those of its statement before it, are there. */
static void note_records(struct tx *tx, struct tx_activity *a, int64_t n,
			 int64_t cents)
{
	struct tx_transfer *t = &a->credit;

	t->last = sql_inserted(tx->q);
	if (t->count == 0) {
		t->first = t->last - (n - 1);
	}
	t->count += n;
	t->cents += cents;
	tx->result->credits += n;
	tx->result->credited_cents = tx_sum(tx->result->credited_cents, cents);
}

int tx_record(struct tx *tx, struct tx_activity *a, const struct event_claim *c,
	      int64_t account, bool *added)
{
	int rv = sql_run(tx->q, S_RECORD_ADD, "iisiiiiii", a->number, account,
			 event_id_view(&c->red_packet_id), c->amount_cents,
			 c->seq, c->tranche, c->at_ms, tx->batch->now_ms,
			 a->credit.number);

	*added = rv == 0 && sql_changes(tx->q) == 1;
	if (!*added) {
		return rv;
	}
	move(a, c, 1);
	note_records(tx, a, 1, c->amount_cents);
	rv = tx_account_move(tx, account, c->amount_cents);
	return rv == 0 ? tx_unpark_one(tx, a, c) : rv;
}

/* Values that are not put are NULL. */
static void put_accounts(struct sql *q, const struct tx_group *g)
{
	int at = 1;

	sql_put_text(q, S_ACCOUNT_CREDIT_ALL, at++,
		     bytes_str(g->activity->currency));
	for (size_t i = 0; i < g->n; i++) {
		const struct event_claim *c = g->claims[i];

		sql_put_text(q, S_ACCOUNT_CREDIT_ALL, at++,
			     event_id_view(&c->user_id));
		sql_put_int(q, S_ACCOUNT_CREDIT_ALL, at++, c->amount_cents);
	}
}

static void put_records(struct sql *q, const struct tx_group *g, int64_t now_ms)
{
	const struct tx_activity *a = g->activity;
	int at = 1;

	sql_put_int(q, S_RECORD_ADD_ALL, at++, now_ms);
	sql_put_int(q, S_RECORD_ADD_ALL, at++, a->credit.number);
	sql_put_int(q, S_RECORD_ADD_ALL, at++, a->number);
	for (size_t i = 0; i < g->n; i++) {
		const struct event_claim *c = g->claims[i];

		sql_put_text(q, S_RECORD_ADD_ALL, at++,
			     event_id_view(&c->user_id));
		sql_put_text(q, S_RECORD_ADD_ALL, at++,
			     event_id_view(&c->red_packet_id));
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->amount_cents);
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->seq);
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->tranche);
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->at_ms);
	}
	/* Behind the values of a full group. */
	at += (int)(TX_GROUP - g->n) * RECORD_VALUES;
	sql_put_text(q, S_RECORD_ADD_ALL, at, bytes_str(a->currency));
}

/* *added: a row for each claim. Not so if one has an account that is full, or
 * contradicts a record. */
static int step_all(struct tx *tx, const struct tx_group *g, int s, bool *added)
{
	int rv = sql_next(tx->q, s);

	if (rv != 0) {
		if (!sql_not_unique(tx->q)) {
			return rv;
		}
		tx->q->code = 0;
		*added = false;
		return 0;
	}
	sql_done(tx->q, s);
	*added = sql_changes(tx->q) == (int)g->n;
	return 0;
}

static int credit_accounts(struct tx *tx, const struct tx_group *g, bool *added)
{
	int rv = sql_prepared(tx->q, S_ACCOUNT_CREDIT_ALL);

	if (rv != 0) {
		return rv;
	}
	put_accounts(tx->q, g);
	return step_all(tx, g, S_ACCOUNT_CREDIT_ALL, added);
}

static int add_records(struct tx *tx, const struct tx_group *g, bool *added)
{
	int rv = sql_prepared(tx->q, S_RECORD_ADD_ALL);

	if (rv != 0) {
		return rv;
	}
	put_records(tx->q, g, tx->batch->now_ms);
	return step_all(tx, g, S_RECORD_ADD_ALL, added);
}

/* All of the group or nothing. */
static int add_all(struct tx *tx, const struct tx_group *g, bool *added)
{
	int64_t cents = 0;
	int rv = sql_run(tx->q, S_GROUP_BEGIN, "");

	*added = false;
	if (rv == 0) {
		rv = credit_accounts(tx, g, added);
	}
	if (rv == 0 && *added) {
		rv = add_records(tx, g, added);
	}
	if (rv == 0 && !*added) {
		rv = sql_run(tx->q, S_GROUP_UNDO, "");
	}
	if (rv == 0) {
		rv = sql_run(tx->q, S_GROUP_KEEP, "");
	}
	if (rv != 0 || !*added) {
		return rv;
	}
	for (size_t i = 0; i < g->n; i++) {
		cents += g->claims[i]->amount_cents;
	}
	note_records(tx, g->activity, (int64_t)g->n, cents);
	return 0;
}

static int add_each(struct tx *tx, const struct tx_group *g)
{
	int rv = 0;

	for (size_t i = 0; i < g->n; i++) {
		move(g->activity, g->claims[i], -1);
	}
	for (size_t i = 0; rv == 0 && i < g->n; i++) {
		rv = tx_claim_closely(tx, g->activity, g->claims[i]);
	}
	return rv;
}

int tx_group_flush(struct tx *tx)
{
	struct tx_group g = tx->group;
	bool added = false;
	int rv;

	if (g.n == 0) {
		return 0;
	}
	tx->group.n = 0;
	rv = add_all(tx, &g, &added);
	return rv == 0 && !added ? add_each(tx, &g) : rv;
}

int tx_group_put(struct tx *tx, struct tx_activity *a,
		 const struct event_claim *c)
{
	struct tx_group *g = &tx->group;

	check(g->n == 0 || g->activity == a);
	g->activity = a;
	g->claims[g->n++] = c;
	move(a, c, 1);
	return g->n == TX_GROUP ? tx_group_flush(tx) : 0;
}
