/* An activity within a transaction: read, changed, written back. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "ledger_sqlite_tx.h"

enum { NEWEST_CHANGES = 32 }; /* that a state is derived from */

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
	rv = sql_first(tx->q, S_INFO_GET, "s", event_id_view(id));
	if (rv < 0) {
		return rv;
	}
	check(rv == 1); /* it was just put there */
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
	return tx_fund(tx, a);
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
	return tx_fund(tx, a);
}

/* Its revision is known: the same change again, or a contradiction. */
static int known_change(struct tx *tx, struct tx_activity *a,
			const struct event *e)
{
	const struct event_change *c = &e->change;
	struct sql *q = tx->q;
	int rv = sql_first(q, S_CHANGE_GET, "ii", a->number, c->revision);
	bool same;

	if (rv < 0) {
		return rv;
	}
	check(rv == 1); /* it was in the way */
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
		a->books.cancelled = true;
		return 0;
	default:
		/* The rest only shows in the state and the final numbers. */
		return 0;
	}
}

static int derive_state(struct tx *tx, struct tx_activity *a)
{
	enum event_change_kind kinds[NEWEST_CHANGES];
	struct sql *q = tx->q;
	size_t n = 0;
	int rv = sql_first(q, S_CHANGE_NEWEST, "ii", a->number,
			   (int64_t)NEWEST_CHANGES);

	while (rv == 1 && n < NEWEST_CHANGES) {
		if (n == 0) {
			a->revision = sql_int(q, S_CHANGE_NEWEST, 1);
		}
		kinds[n++] = event_change_kind(sql_text(q, S_CHANGE_NEWEST, 0));
		rv = sql_next(q, S_CHANGE_NEWEST);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(q, S_CHANGE_NEWEST);
	a->books.state = settle_state(kinds, n);
	return 0;
}

/* What the newest change of a kind says, and its revision; both are left alone
 * if there is none. */
static int newest_of(struct tx *tx, const struct tx_activity *a,
		     enum event_change_kind kind, int column, int64_t *value,
		     int64_t *revision)
{
	struct sql *q = tx->q;
	int rv = sql_first(q, S_CHANGE_OF_KIND, "is", a->number,
			   bytes_str(event_change_name(kind)));

	if (rv < 0) {
		return rv;
	}
	if (rv == 1) {
		*value = sql_int(q, S_CHANGE_OF_KIND, column);
		*revision = sql_int(q, S_CHANGE_OF_KIND, 2);
	}
	sql_done(q, S_CHANGE_OF_KIND);
	return 0;
}

/* An activity that was halted after its close is closed again: what was counted
 * before that says nothing about what is left now. */
static int derive(struct tx *tx, struct tx_activity *a)
{
	int64_t closed = 0;
	int64_t counted = 0;
	int rv = derive_state(tx, a);

	if (rv == 0) {
		rv = newest_of(tx, a, EVENT_CLOSED, 0, &a->books.final_claims,
			       &closed);
	}
	if (rv == 0) {
		rv = newest_of(tx, a, EVENT_COUNTED, 1,
			       &a->books.leftover_cents, &counted);
	}
	if (rv == 0 && counted < closed) {
		a->books.leftover_cents = -1;
	}
	return rv;
}

/* Walk on from the last seq without a gap before it. */
static int advance_whole(struct tx *tx, struct tx_activity *a)
{
	struct settle_books *b = &a->books;
	int s = b->parked == 0 && a->conflicts == 0 ? S_SEQS_OF_RECORDS
						    : S_SEQS_OF_ALL;
	int rv = sql_first(tx->q, s, "ii", a->number, b->whole_seq);

	while (rv == 1 && sql_int(tx->q, s, 0) == b->whole_seq + 1) {
		b->whole_seq++;
		rv = sql_next(tx->q, s);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(tx->q, s);
	return 0;
}

static int count(struct tx *tx, int s, const struct tx_activity *a,
		 int64_t *value)
{
	int rv = sql_first(tx->q, s, "i", a->number);

	if (rv < 0) {
		return rv;
	}
	*value = sql_int(tx->q, s, 0);
	sql_done(tx->q, s);
	return 0;
}

static int count_what_waits(struct tx *tx, struct tx_activity *a)
{
	int rv = 0;

	if (a->books.parked > 0) {
		rv = count(tx, S_PARKED_ALARMING, a, &a->books.parked_alarming);
	}
	if (rv == 0 && a->conflicts > 0) {
		rv = count(tx, S_CONFLICT_OPEN, a, &a->books.conflicts);
	}
	return rv;
}

static void raise_alarm(struct tx *tx, struct tx_activity *a)
{
	struct buf text;
	char now[sizeof a->alarm];

	buf_init(&text);
	settle_alarm(&a->books, &text);
	(void)snprintf(now, sizeof now, "%.*s", BYTES_FMT(buf_live(&text)));
	buf_close(&text);
	if (strcmp(now, a->alarm) != 0) {
		(void)snprintf(a->alarm, sizeof a->alarm, "%s", now);
		a->alarm_new = true;
		tx->result->alarms += now[0] != '\0' ? 1 : 0;
	}
}

static int save(struct tx *tx, const struct tx_activity *a)
{
	const struct settle_books *b = &a->books;

	return sql_run(tx->q, S_INFO_SAVE, "isiiiiiiiiiiiiiiiiiiisi", a->number,
		       bytes_str(settle_state_name(b->state)), a->revision,
		       (int64_t)b->cancelled, b->funded_cents,
		       b->funded_packets, b->pool_cents, b->pool_packets,
		       b->credited_cents, b->credited_packets, b->held_cents,
		       b->held_packets, b->refunded_cents, b->refunded_packets,
		       a->refund_ms, b->final_claims, b->leftover_cents,
		       b->max_seq, b->whole_seq, b->parked, a->conflicts,
		       bytes_str(a->alarm), tx->batch->now_ms);
}

int tx_activity_finish(struct tx *tx, struct tx_activity *a)
{
	int rv = tx_transfer_finish(tx, a, &a->credit);

	if (rv == 0) {
		rv = tx_transfer_finish(tx, a, &a->hold);
	}
	if (rv == 0 && a->changed) {
		rv = derive(tx, a);
	}
	if (rv == 0) {
		rv = advance_whole(tx, a);
	}
	if (rv == 0) {
		rv = count_what_waits(tx, a);
	}
	if (rv == 0 && settle_refund(&a->books) == SETTLE_REFUND_NOW) {
		rv = tx_refund(tx, a);
	}
	if (rv == 0) {
		raise_alarm(tx, a);
		rv = save(tx, a);
	}
	return rv;
}

void tx_activities_free(struct tx *tx)
{
	struct tx_activity *a;
	struct tx_activity *next;

	HASH_ITER(hh, tx->activities, a, next)
	{
		HASH_DEL(tx->activities, a);
		free(a->tranches);
		free(a->credit.postings);
		free(a->hold.postings);
		free(a);
	}
}
