/* Records, one by one and many with one statement. */
#include "base/err.h"
#include "ledger_sqlite_tx.h"

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
	return tx_unpark_one(tx, a, c);
}

static void bind_all(struct tx *tx, const struct tx_group *g)
{
	struct sql *q = tx->q;
	int at = 1;

	sql_put_int(q, S_RECORD_ADD_ALL, at++, tx->batch->now_ms);
	sql_put_int(q, S_RECORD_ADD_ALL, at++, g->activity->credit.number);
	sql_put_int(q, S_RECORD_ADD_ALL, at++, g->activity->number);
	for (size_t i = 0; i < TX_GROUP; i++) {
		const struct event_claim *c = g->rows[i].claim;

		sql_put_int(q, S_RECORD_ADD_ALL, at++, g->rows[i].account);
		sql_put_text(q, S_RECORD_ADD_ALL, at++,
			     event_id_view(&c->red_packet_id));
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->amount_cents);
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->seq);
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->tranche);
		sql_put_int(q, S_RECORD_ADD_ALL, at++, c->at_ms);
	}
}

/* All of a full group or none: a statement that is refused leaves nothing. */
static int add_all(struct tx *tx, const struct tx_group *g, bool *added)
{
	int64_t cents = 0;
	int rv = sql_prepared(tx->q, S_RECORD_ADD_ALL);

	*added = false;
	if (rv != 0) {
		return rv;
	}
	bind_all(tx, g);
	rv = sql_next(tx->q, S_RECORD_ADD_ALL);
	if (rv != 0) {
		if (!sql_not_unique(tx->q)) {
			return rv;
		}
		tx->q->code = 0;
		return 0;
	}
	sql_done(tx->q, S_RECORD_ADD_ALL);
	for (size_t i = 0; i < TX_GROUP; i++) {
		cents += g->rows[i].claim->amount_cents;
	}
	note_records(tx, g->activity, TX_GROUP, cents);
	*added = true;
	return 0;
}

static int add_each(struct tx *tx, const struct tx_group *g)
{
	struct tx_activity *a = g->activity;
	int rv = 0;

	for (size_t i = 0; i < g->n; i++) {
		move(a, g->rows[i].claim, -1);
	}
	for (size_t i = 0; rv == 0 && i < g->n; i++) {
		const struct event_claim *c = g->rows[i].claim;
		bool added = false;

		if (a->conflicts == 0) {
			rv = tx_record(tx, a, c, g->rows[i].account, &added);
		}
		if (rv == 0 && !added) {
			rv = tx_claim_closely(tx, a, c);
		}
	}
	return rv;
}

int tx_group_flush(struct tx *tx)
{
	struct tx_group g = tx->group;
	bool added = false;
	int rv = 0;

	tx->group.n = 0;
	if (g.n == TX_GROUP) {
		rv = add_all(tx, &g, &added);
	}
	return rv == 0 && !added ? add_each(tx, &g) : rv;
}

int tx_group_put(struct tx *tx, struct tx_activity *a,
		 const struct event_claim *c, int64_t account)
{
	struct tx_group *g = &tx->group;

	check(g->n == 0 || g->activity == a);
	g->activity = a;
	g->rows[g->n].claim = c;
	g->rows[g->n].account = account;
	g->n++;
	move(a, c, 1);
	return g->n == TX_GROUP ? tx_group_flush(tx) : 0;
}
