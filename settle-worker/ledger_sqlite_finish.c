/* The end of a transaction for each activity in it: the state, the gap, the
 * refund, the alarm; then it is written back. */
#include <stdio.h>
#include <stdlib.h>

#include "ledger_sqlite_tx.h"

enum { NEWEST_CHANGES = 2 }; /* that a state is derived from */

static int derive_state(struct tx *tx, struct tx_activity *a)
{
	enum event_change_kind kinds[NEWEST_CHANGES];
	struct sql *q = tx->q;
	bool first = true;
	size_t n = 0;
	int rv = sql_first(q, S_CHANGE_NEWEST, "i", a->number);

	while (rv == 1 && n < NEWEST_CHANGES) {
		if (first) {
			a->revision = sql_int(q, S_CHANGE_NEWEST, 1);
			first = false;
		}
		kinds[n] = event_change_kind(sql_text(q, S_CHANGE_NEWEST, 0));
		/* However many of those there are. */
		n += settle_keeps_state(kinds[n]) ? 0 : 1;
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

/* What the books say is not enough when money leaves for good: the rows that
 * nobody changes must say the same. */
static int refund_if_sound(struct tx *tx, struct tx_activity *a)
{
	struct audit_sums sums;
	int rv = ledger_sqlite_sums(&tx->l->audit, a->number,
				    event_id_view(&a->id), &sums);

	if (rv != 0) {
		return rv;
	}
	audit_activity(&a->proof, a->id.s, &a->books, a->conflicts, &sums);
	return a->proof.violations == 0 ? tx_refund(tx, a) : 0;
}

static void say_unsound(const struct audit *proof, struct buf *out)
{
	if (proof->violations == 0) {
		return;
	}
	buf_printf(out, "no refund, the books are not sound: ");
	audit_say(&proof->findings[0], out);
	if (proof->violations > 1) {
		buf_printf(out, " and %lld more",
			   (long long)proof->violations - 1);
	}
	buf_printf(out, "; ");
}

static void raise_alarm(struct tx *tx, struct tx_activity *a)
{
	struct buf text;
	char now[sizeof a->alarm];

	buf_init(&text);
	say_unsound(&a->proof, &text);
	settle_alarm(&a->books, &text);
	(void)snprintf(now, sizeof now, "%.*s", BYTES_FMT(buf_live(&text)));
	buf_close(&text);
	/* One that only counts on is the same alarm: it is kept, not told. */
	if (!settle_alarm_same(now, a->alarm)) {
		a->alarm_new = true;
		tx->result->alarms += now[0] != '\0' ? 1 : 0;
	}
	(void)snprintf(a->alarm, sizeof a->alarm, "%s", now);
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
	int rv = tx_credit_finish(tx, a);

	if (rv == 0) {
		rv = tx_hold_finish(tx, a);
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
		rv = refund_if_sound(tx, a);
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
		free(a);
	}
}
