/* An activity within a transaction: read, and changed by its events. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "ledger_sqlite_tx.h"

static void read_info(struct tx *tx, struct tx_activity *a)
{
	const struct sql *q = tx->q;
	struct settle_books *b = &a->books;
	int c = 0;

	a->number = sql_int(q, S_INFO_GET, c++);
	sql_copy(q, S_INFO_GET, c++, a->uid, sizeof a->uid);
	sql_copy(q, S_INFO_GET, c++, a->currency, sizeof a->currency);
	b->state = settle_state_named(sql_text(q, S_INFO_GET, c++));
	a->revision = sql_int(q, S_INFO_GET, c++);
	b->cancelled = sql_int(q, S_INFO_GET, c++) != 0;
	b->funded_cents = sql_int(q, S_INFO_GET, c++);
	b->funded_packets = sql_int(q, S_INFO_GET, c++);
	b->pool_cents = sql_int(q, S_INFO_GET, c++);
	b->pool_packets = sql_int(q, S_INFO_GET, c++);
	b->credited_cents = sql_int(q, S_INFO_GET, c++);
	b->credited_packets = sql_int(q, S_INFO_GET, c++);
	b->held_cents = sql_int(q, S_INFO_GET, c++);
	b->held_packets = sql_int(q, S_INFO_GET, c++);
	b->refunded_cents = sql_int(q, S_INFO_GET, c++);
	b->refunded_packets = sql_int(q, S_INFO_GET, c++);
	a->refund_ms = sql_int(q, S_INFO_GET, c++);
	b->refund_done = a->refund_ms != 0;
	b->final_claims = sql_int(q, S_INFO_GET, c++);
	b->leftover_cents = sql_int(q, S_INFO_GET, c++);
	b->max_seq = sql_int(q, S_INFO_GET, c++);
	b->whole_seq = sql_int(q, S_INFO_GET, c++);
	b->parked = sql_int(q, S_INFO_GET, c++);
	a->conflicts = sql_int(q, S_INFO_GET, c++);
	sql_copy(q, S_INFO_GET, c, a->alarm, sizeof a->alarm);
}

static struct tx_tranche *add_tranche(struct tx_activity *a)
{
	a->tranches = xrealloc(a->tranches,
			       (a->tranche_count + 1) * sizeof *a->tranches);
	return &a->tranches[a->tranche_count++];
}

static int read_tranches(struct tx *tx, struct tx_activity *a)
{
	struct sql *q = tx->q;
	int rv = sql_first(q, S_TRANCHE_LIST, "i", a->number);

	while (rv == 1) {
		struct tx_tranche *t = add_tranche(a);

		t->number = sql_int(q, S_TRANCHE_LIST, 0);
		t->packets = sql_int(q, S_TRANCHE_LIST, 1);
		t->amount_cents = sql_int(q, S_TRANCHE_LIST, 2);
		t->funded = sql_int(q, S_TRANCHE_LIST, 3) != 0;
		a->books.waiting_tranches += t->funded ? 0 : 1;
		rv = sql_next(q, S_TRANCHE_LIST);
	}
	if (rv == 0) {
		sql_done(q, S_TRANCHE_LIST);
	}
	return rv;
}

int tx_activity_get(struct tx *tx, const struct event_id *id,
		    struct tx_activity **out)
{
	struct tx_activity *a;
	int rv;

	HASH_FIND(hh, tx->activities, id->s, id->n, a);
	*out = a;
	if (a != NULL) {
		return 0;
	}
	rv = sql_run(tx->q, S_INFO_ADD, "si", event_id_view(id),
		     tx->batch->now_ms);
	if (rv != 0) {
		return rv;
	}
	rv = sql_only(tx->q, S_INFO_GET, "s", event_id_view(id));
	if (rv != 0) {
		return rv;
	}
	a = xcalloc(1, sizeof *a);
	a->id = *id;
	read_info(tx, a);
	sql_done(tx->q, S_INFO_GET);
	HASH_ADD_KEYPTR(hh, tx->activities, a->id.s, a->id.n, a);
	*out = a;
	return read_tranches(tx, a);
}

static int created(struct tx *tx, struct tx_activity *a,
		   const struct event_change *c)
{
	int rv;

	if (a->uid[0] != '\0') {
		return 0;
	}
	rv = sql_run(tx->q, S_INFO_CREATED, "isssssiiiii", a->number,
		     c->sponsor, c->title, c->currency, c->commitment, c->ack,
		     c->amount_cents, c->packets, c->start_ms, c->end_ms,
		     c->at_ms);
	if (rv != 0) {
		return rv;
	}
	(void)snprintf(a->uid, sizeof a->uid, "%.*s", BYTES_FMT(c->sponsor));
	(void)snprintf(a->currency, sizeof a->currency, "%.*s",
		       BYTES_FMT(c->currency));
	return 0;
}

static int announced(struct tx *tx, struct tx_activity *a,
		     const struct event *e)
{
	const struct event_change *c = &e->change;
	struct tx_tranche *t;
	int rv;

	for (size_t i = 0; i < a->tranche_count; i++) {
		t = &a->tranches[i];
		if (t->number != c->tranche) {
			continue;
		}
		return t->packets == c->packets &&
				       t->amount_cents == c->amount_cents
			       ? 0
			       : tx_dead_letter(tx, &e->place,
						"the tranche was announced "
						"before with other numbers");
	}
	rv = sql_run(tx->q, S_TRANCHE_ADD, "iiii", a->number, c->tranche,
		     c->packets, c->amount_cents);
	if (rv == 0 && c->kind == EVENT_TOPPED_UP) {
		rv = sql_run(tx->q, S_INFO_TOTAL, "iii", a->number,
			     c->amount_cents, c->packets);
	}
	if (rv != 0) {
		return rv;
	}
	t = add_tranche(a);
	*t = (struct tx_tranche){ .number = c->tranche,
				  .packets = c->packets,
				  .amount_cents = c->amount_cents };
	a->books.waiting_tranches++;
	return 0;
}

/* Its revision is known: the same change again, or a contradiction. */
static int known_change(struct tx *tx, struct tx_activity *a,
			const struct event *e)
{
	const struct event_change *c = &e->change;
	struct sql *q = tx->q;
	int rv = sql_only(q, S_CHANGE_GET, "ii", a->number, c->revision);
	bool same;

	if (rv != 0) {
		return rv;
	}
	same = bytes_eq(sql_text(q, S_CHANGE_GET, 0),
			bytes_str(event_change_name(c->kind))) &&
	       sql_int(q, S_CHANGE_GET, 1) == c->tranche &&
	       sql_int(q, S_CHANGE_GET, 2) == c->packets &&
	       sql_int(q, S_CHANGE_GET, 3) == c->amount_cents &&
	       sql_int(q, S_CHANGE_GET, 4) == c->claims;
	sql_done(q, S_CHANGE_GET);
	return same ? 0
		    : tx_dead_letter(tx, &e->place,
				     "another change has this revision");
}

/* Only what was never opened can be cancelled: then nobody can have won. */
static int cancelled(struct tx *tx, struct tx_activity *a,
		     const struct event *e)
{
	int rv = sql_first(tx->q, S_CHANGE_OF_KIND, "is", a->number,
			   BYTES("opened"));

	if (rv < 0) {
		return rv;
	}
	sql_done(tx->q, S_CHANGE_OF_KIND);
	if (rv == 1) {
		return tx_dead_letter(tx, &e->place,
				      "cancelled, and it was opened before");
	}
	a->books.cancelled = true;
	return 0;
}

int tx_change(struct tx *tx, struct tx_activity *a, const struct event *e)
{
	const struct event_change *c = &e->change;
	int rv = sql_first(tx->q, S_CHANGE_ADD, "iisiiiiis", a->number,
			   c->revision, bytes_str(event_change_name(c->kind)),
			   c->at_ms, c->tranche, c->packets, c->amount_cents,
			   c->claims, c->detail);

	if (rv < 0) {
		return rv;
	}
	sql_done(tx->q, S_CHANGE_ADD);
	if (rv == 0) {
		return known_change(tx, a, e);
	}
	a->changed = true;
	tx->result->changes++;
	switch (c->kind) {
	case EVENT_CREATED:
		return created(tx, a, c);
	case EVENT_LOADED:
	case EVENT_TOPPED_UP:
		return announced(tx, a, e);
	case EVENT_CANCELLED:
		return cancelled(tx, a, e);
	default:
		/* The rest only shows in the state and the final numbers. */
		return 0;
	}
}
