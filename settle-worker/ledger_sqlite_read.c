/* The reading side: a connection of its own, each answer one snapshot. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "ledger_sqlite.h"
#include "ledger_sqlite_read.h"

struct reader {
	struct ledger_reader base;
	struct sql q;
	sqlite3_stmt *stmts[R_COUNT];
	struct sql audit; /* on the same connection */
	sqlite3_stmt *audit_stmts[A_COUNT];
	char why[LEDGER_WHY_MAX];
};

static struct sql *sql_of(struct ledger_reader *base)
{
	return &container_of(base, struct reader, base)->q;
}

static int balance(struct ledger_reader *base, struct bytes user_id,
		   int64_t *cents, char currency[8])
{
	struct sql *q = sql_of(base);
	int rv = sql_first(q, R_BALANCE, "s", user_id);

	if (rv < 0) {
		return rv;
	}
	*cents = 0;
	currency[0] = '\0';
	if (rv == 1) {
		*cents = sql_int(q, R_BALANCE, 0);
		sql_copy(q, R_BALANCE, 1, currency, 8);
	}
	sql_done(q, R_BALANCE);
	return 0;
}

static void take_record(const struct sql *q, int s, struct ledger_record *r)
{
	r->number = sql_int(q, s, 0);
	sql_copy(q, s, 1, r->activity_id, sizeof r->activity_id);
	sql_copy(q, s, 2, r->red_packet_id, sizeof r->red_packet_id);
	sql_copy(q, s, 3, r->user_id, sizeof r->user_id);
	r->amount_cents = sql_int(q, s, 4);
	r->seq = sql_int(q, s, 5);
	r->tranche = sql_int(q, s, 6);
	r->at_ms = sql_int(q, s, 7);
	r->credited_ms = sql_int(q, s, 8);
}

static int records(struct ledger_reader *base, const struct ledger_page *page,
		   struct ledger_record *out, size_t *n)
{
	struct sql *q = sql_of(base);
	bool of_user = page->user_id.n > 0;
	int s = of_user ? R_RECORDS_OF_USER : R_RECORDS_OF_ACTIVITY;
	int64_t after = of_user && page->after == 0 ? INT64_MAX : page->after;
	int rv = sql_first(q, s, "sii",
			   of_user ? page->user_id : page->activity_id, after,
			   (int64_t)page->limit);

	*n = 0;
	while (rv == 1 && *n < page->limit) {
		take_record(q, s, &out[(*n)++]);
		rv = sql_next(q, s);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(q, s);
	return 0;
}

static int record(struct ledger_reader *base, struct bytes activity_id,
		  struct bytes user_id, struct ledger_record *out, bool *found)
{
	struct sql *q = sql_of(base);
	int rv = sql_first(q, R_RECORD, "ss", activity_id, user_id);

	if (rv < 0) {
		return rv;
	}
	*found = rv == 1;
	if (*found) {
		take_record(q, R_RECORD, out);
	}
	sql_done(q, R_RECORD);
	return 0;
}

static int read_topups(struct sql *q, struct ledger_totals *t)
{
	int rv = sql_first(q, R_TOPUPS, "si", bytes_str(t->activity_id),
			   (int64_t)LEDGER_TOPUPS_MAX);

	while (rv == 1 && t->topup_count < LEDGER_TOPUPS_MAX) {
		struct ledger_topup *u = &t->topups[t->topup_count++];

		u->tranche = sql_int(q, R_TOPUPS, 0);
		u->packets = sql_int(q, R_TOPUPS, 1);
		u->amount_cents = sql_int(q, R_TOPUPS, 2);
		sql_copy(q, R_TOPUPS, 3, u->commitment, sizeof u->commitment);
		rv = sql_next(q, R_TOPUPS);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(q, R_TOPUPS);
	return 0;
}

/* All of one state: s holds it until its next step. */
static int take_totals(struct sql *q, int s, struct ledger_totals *t)
{
	struct settle_books *b = &t->books;
	int c = 0;

	*t = (struct ledger_totals){ 0 };
	sql_copy(q, s, c++, t->activity_id, sizeof t->activity_id);
	sql_copy(q, s, c++, t->sponsor, sizeof t->sponsor);
	sql_copy(q, s, c++, t->currency, sizeof t->currency);
	sql_copy(q, s, c++, t->title, sizeof t->title);
	b->state = settle_state_named(sql_text(q, s, c++));
	t->revision = sql_int(q, s, c++);
	b->cancelled = sql_int(q, s, c++) != 0;
	t->total_cents = sql_int(q, s, c++);
	t->total_packets = sql_int(q, s, c++);
	b->funded_cents = sql_int(q, s, c++);
	b->funded_packets = sql_int(q, s, c++);
	b->pool_cents = sql_int(q, s, c++);
	b->pool_packets = sql_int(q, s, c++);
	b->credited_cents = sql_int(q, s, c++);
	b->credited_packets = sql_int(q, s, c++);
	b->held_cents = sql_int(q, s, c++);
	b->held_packets = sql_int(q, s, c++);
	b->refunded_cents = sql_int(q, s, c++);
	b->refunded_packets = sql_int(q, s, c++);
	b->refund_done = sql_int(q, s, c++) != 0;
	b->final_claims = sql_int(q, s, c++);
	b->leftover_cents = sql_int(q, s, c++);
	b->max_seq = sql_int(q, s, c++);
	b->whole_seq = sql_int(q, s, c++);
	b->parked = sql_int(q, s, c++);
	t->conflict_count = sql_int(q, s, c++);
	t->created_ms = sql_int(q, s, c++);
	t->updated_ms = sql_int(q, s, c++);
	sql_copy(q, s, c++, t->alarm, sizeof t->alarm);
	t->postings_cents = sql_int(q, s, c++);
	t->seq_count = sql_int(q, s, c++);
	sql_copy(q, s, c++, t->commitment, sizeof t->commitment);
	sql_copy(q, s, c, t->entropy, sizeof t->entropy);
	return read_topups(q, t);
}

static int totals(struct ledger_reader *base, struct bytes activity_id,
		  struct ledger_totals *out, bool *known)
{
	struct sql *q = sql_of(base);
	int rv = sql_first(q, R_TOTALS, "s", activity_id);

	if (rv < 0) {
		return rv;
	}
	*known = rv == 1;
	rv = *known ? take_totals(q, R_TOTALS, out) : 0;
	sql_done(q, R_TOTALS);
	return rv;
}

static int activities(struct ledger_reader *base, struct bytes after,
		      size_t limit, struct ledger_totals *out, size_t *n)
{
	struct sql *q = sql_of(base);
	int rv = sql_first(q, R_ACTIVITIES, "si", after, (int64_t)limit);

	*n = 0;
	while (rv == 1 && *n < limit) {
		rv = take_totals(q, R_ACTIVITIES, &out[(*n)++]);
		if (rv < 0) {
			sql_done(q, R_ACTIVITIES);
			return rv;
		}
		rv = sql_next(q, R_ACTIVITIES);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(q, R_ACTIVITIES);
	return 0;
}

static int positions(struct ledger_reader *base, struct bytes cluster_id,
		     struct ledger_position *out, size_t max, size_t *n)
{
	struct sql *q = sql_of(base);
	int rv = sql_first(q, R_POSITIONS, "si", cluster_id, (int64_t)max);

	*n = 0;
	while (rv == 1 && *n < max) {
		struct ledger_position *p = &out[(*n)++];

		sql_copy(q, R_POSITIONS, 0, p->topic, sizeof p->topic);
		p->partition = (int32_t)sql_int(q, R_POSITIONS, 1);
		p->next_offset = sql_int(q, R_POSITIONS, 2);
		rv = sql_next(q, R_POSITIONS);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(q, R_POSITIONS);
	return 0;
}

static int watch(struct ledger_reader *base, struct ledger_watch *out,
		 size_t max, size_t *n)
{
	struct sql *q = sql_of(base);
	int rv = sql_first(q, R_WATCH, "i", (int64_t)max);

	*n = 0;
	while (rv == 1 && *n < max) {
		struct ledger_watch *w = &out[(*n)++];
		struct settle_books b = { 0 };

		sql_copy(q, R_WATCH, 0, w->activity_id, sizeof w->activity_id);
		b.max_seq = sql_int(q, R_WATCH, 1);
		b.whole_seq = sql_int(q, R_WATCH, 2);
		b.final_claims = sql_int(q, R_WATCH, 3);
		w->whole_seq = b.whole_seq;
		w->gap_after = settle_gap(&b);
		w->credited = sql_int(q, R_WATCH, 4);
		w->changes = sql_int(q, R_WATCH, 5);
		rv = sql_next(q, R_WATCH);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(q, R_WATCH);
	return 0;
}

static int parked(struct ledger_reader *base, struct ledger_parked *out)
{
	struct sql *q = sql_of(base);
	int rv = sql_only(q, R_PARKED, "");

	*out = (struct ledger_parked){ 0 };
	if (rv != 0) {
		return rv;
	}
	out->count = sql_int(q, R_PARKED, 0);
	sql_done(q, R_PARKED);
	if (out->count == 0) {
		return 0;
	}
	rv = sql_first(q, R_PARKED_OLDEST, "");
	if (rv < 0) {
		return rv;
	}
	if (rv == 1) {
		out->number = sql_int(q, R_PARKED_OLDEST, 0);
		out->since_ms = sql_int(q, R_PARKED_OLDEST, 1);
		sql_copy(q, R_PARKED_OLDEST, 2, out->activity_id,
			 sizeof out->activity_id);
	}
	sql_done(q, R_PARKED_OLDEST);
	return 0;
}

static int audit(struct ledger_reader *base, struct audit *a,
		 uint64_t budget_us)
{
	return ledger_sqlite_audit(
		&container_of(base, struct reader, base)->audit, a, budget_us);
}

static void close_reader(struct ledger_reader *base)
{
	struct reader *r = container_of(base, struct reader, base);

	/* Its statements go first, the connection is the other's. */
	r->audit.db = NULL;
	sql_close(&r->audit);
	sql_close(&r->q);
	free(r);
}

static const struct ledger_reader_ops ops = {
	.close = close_reader,
	.balance = balance,
	.records = records,
	.record = record,
	.totals = totals,
	.activities = activities,
	.positions = positions,
	.watch = watch,
	.parked = parked,
	.audit = audit,
};

int ledger_sqlite_reader(struct ledger *base, struct ledger_reader **out)
{
	struct ledger_sqlite *l =
		container_of(base, struct ledger_sqlite, base);
	struct reader *r = xcalloc(1, sizeof *r);
	int rv;

	r->base.ops = &ops;
	r->q = (struct sql){ .texts = ledger_sqlite_read_statements,
			     .stmts = r->stmts,
			     .count = R_COUNT,
			     .why = r->why,
			     .why_size = sizeof r->why };
	*out = NULL;
	rv = sql_open(&r->q, l->path, true);
	if (rv != 0) {
		log_error("ledger cannot be read", log_str("path", l->path),
			  log_str("why", r->why));
		free(r);
		return rv;
	}
	r->audit = (struct sql){ .db = r->q.db,
				 .texts = ledger_sqlite_audit_statements,
				 .stmts = r->audit_stmts,
				 .count = A_COUNT,
				 .why = r->why,
				 .why_size = sizeof r->why };
	*out = &r->base;
	return 0;
}
