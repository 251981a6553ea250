/* The reading side: a connection of its own, each answer one snapshot. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "ledger_sqlite.h"

enum read_statement {
	R_BALANCE,
	R_RECORDS_OF_USER,
	R_RECORDS_OF_ACTIVITY,
	R_RECORD,
	R_TOTALS,
	R_ACTIVITIES,
	R_POSITIONS,
	R_WATCH,
	R_PARKED,
	R_PARKED_OLDEST,
	R_COUNT
};

#define RECORD_COLUMNS                                                        \
	"r.record, i.activity_id, r.red_packet_id, a.owner, r.amount, r.seq," \
	" r.tranche, r.at_ms, r.credited_ms"

/* A table that is cut at whole_seq has few seqs above it, or none. */
#define TOTALS_COLUMNS                                                         \
	"activity_id, uid, currency, title, state, revision, cancelled,"       \
	" total_amount, total_packet, funded_amount, funded_packet,"           \
	" remaining_amount, remaining_packet, credited_amount,"                \
	" credited_packet, held_amount, held_packet, refunded_amount,"         \
	" refunded_packet, refund_ms, final_claims, leftover_amount, max_seq," \
	" whole_seq, parked_count, conflict_count, created_ms, updated_ms,"    \
	" alarm,"                                                              \
	" (SELECT coalesce(sum(p.delta), 0) FROM transfer t"                   \
	"  JOIN posting p USING (transfer) WHERE t.activity = i.activity),"    \
	" whole_seq + CASE WHEN whole_seq = max_seq THEN 0 ELSE"               \
	"  (SELECT count(*) FROM"                                              \
	"   (SELECT seq FROM red_packet_record WHERE activity = i.activity"    \
	"     AND seq > i.whole_seq"                                           \
	"    UNION SELECT seq FROM parked_claim WHERE activity = i.activity"   \
	"     AND seq > i.whole_seq"                                           \
	"    UNION SELECT seq FROM conflict WHERE activity = i.activity"       \
	"     AND seq > i.whole_seq)) END,"                                    \
	" substr(commitment, 1, 65),"                                          \
	" coalesce((SELECT substr(detail, 1,"                                  \
	"    min(129, instr(detail || ' ', ' ') - 1))"                         \
	"   FROM activity_change c"                                            \
	"   WHERE c.activity = i.activity AND c.kind = 'entropy'"              \
	"   ORDER BY c.revision LIMIT 1), '')"

static const char *const texts[R_COUNT] = {
	[R_BALANCE] = "SELECT balance, currency FROM account"
		      " WHERE owner = ?1 AND kind = 'user'"
		      " ORDER BY account LIMIT 1",
	[R_RECORDS_OF_USER] =
		"SELECT " RECORD_COLUMNS " FROM account a"
		" JOIN red_packet_record r USING (account)"
		" JOIN red_packet_info i USING (activity)"
		" WHERE a.owner = ?1 AND a.kind = 'user' AND r.record < ?2"
		" ORDER BY r.record DESC LIMIT ?3",
	[R_RECORDS_OF_ACTIVITY] =
		"SELECT " RECORD_COLUMNS " FROM red_packet_info i"
		" JOIN red_packet_record r USING (activity)"
		" JOIN account a USING (account)"
		" WHERE i.activity_id = ?1 AND r.seq > ?2"
		" ORDER BY r.seq LIMIT ?3",
	[R_RECORD] = "SELECT " RECORD_COLUMNS " FROM account a"
		     " JOIN red_packet_record r USING (account)"
		     " JOIN red_packet_info i USING (activity)"
		     " WHERE a.owner = ?2 AND a.kind = 'user'"
		     " AND i.activity_id = ?1",
	[R_TOTALS] = "SELECT " TOTALS_COLUMNS " FROM red_packet_info i"
		     " WHERE activity_id = ?1",
	[R_ACTIVITIES] = "SELECT " TOTALS_COLUMNS " FROM red_packet_info i"
			 " WHERE activity_id > ?1 ORDER BY activity_id"
			 " LIMIT ?2",
	[R_POSITIONS] = "SELECT topic, partition, next_offset"
			" FROM consumer_offset WHERE cluster_id = ?1"
			" ORDER BY topic, partition LIMIT ?2",
	[R_WATCH] = "SELECT activity_id, max_seq, whole_seq, final_claims,"
		    " credited_packet, (SELECT count(*) FROM activity_change c"
		    "  WHERE c.activity = i.activity)"
		    " FROM red_packet_info i WHERE refund_ms = 0 ORDER BY"
		    " whole_seq >= max(max_seq, final_claims), uid = '',"
		    " activity DESC LIMIT ?1",
	[R_PARKED] = "SELECT coalesce(sum(parked_count), 0)"
		     " FROM red_packet_info",
	[R_PARKED_OLDEST] = "SELECT p.parked, p.parked_ms, i.activity_id"
			    " FROM parked_claim p"
			    " JOIN red_packet_info i USING (activity)"
			    " WHERE p.reason = 'unfunded'"
			    " ORDER BY p.parked LIMIT 1",
};

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

static void take_totals(const struct sql *q, int s, struct ledger_totals *t)
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
	if (*known) {
		take_totals(q, R_TOTALS, out);
	}
	sql_done(q, R_TOTALS);
	return 0;
}

static int activities(struct ledger_reader *base, struct bytes after,
		      size_t limit, struct ledger_totals *out, size_t *n)
{
	struct sql *q = sql_of(base);
	int rv = sql_first(q, R_ACTIVITIES, "si", after, (int64_t)limit);

	*n = 0;
	while (rv == 1 && *n < limit) {
		take_totals(q, R_ACTIVITIES, &out[(*n)++]);
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
	r->q = (struct sql){ .texts = texts,
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
