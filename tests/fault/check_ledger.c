/*
 * The ledger's file, beside the worker that writes it, as one state.
 */
#include <sqlite3.h>
#include <stdio.h>

#include "fault/check.h"

struct reader {
	sqlite3 *db;
	struct check *check;
	struct buf *why;
};

typedef void (*row_cb)(struct check *c, sqlite3_stmt *row);

static struct bytes text(sqlite3_stmt *row, int i)
{
	return bytes_make(sqlite3_column_text(row, i),
			  (size_t)sqlite3_column_bytes(row, i));
}

static bool each(struct reader *r, const char *sql, row_cb take)
{
	sqlite3_stmt *row = NULL;
	int rv = sqlite3_prepare_v2(r->db, sql, -1, &row, NULL);

	while (rv == SQLITE_OK || rv == SQLITE_ROW) {
		rv = sqlite3_step(row);
		if (rv == SQLITE_ROW && take != NULL) {
			take(r->check, row);
		}
	}
	if (rv != SQLITE_DONE) {
		buf_printf(r->why, "ledger: %s: %s", sql,
			   sqlite3_errmsg(r->db));
	}
	sqlite3_finalize(row);
	return rv == SQLITE_DONE;
}

/* Column 0 names the activity; NULL if it is not ours to look at. */
static struct check_activity *wanted(struct check *c, sqlite3_stmt *row)
{
	struct check_activity *a;

	HASH_FIND_STR(c->activities, (const char *)sqlite3_column_text(row, 0),
		      a);
	return a != NULL && a->wanted ? a : NULL;
}

static const char info[] =
	"SELECT activity_id, total_amount, funded_amount, funded_packet,"
	" remaining_amount, remaining_packet, credited_amount,"
	" credited_packet, held_amount, held_packet, refunded_amount,"
	" refunded_packet, leftover_amount, revision, refund_ms, alarm,"
	" (SELECT coalesce(sum(p.delta), 0) FROM posting p JOIN transfer t"
	"  USING (transfer) WHERE t.activity = i.activity)"
	" FROM red_packet_info i";

static void take_info(struct check *c, sqlite3_stmt *row)
{
	struct check_activity *a = wanted(c, row);
	struct books *b;
	struct bytes alarm;

	if (a == NULL) {
		return;
	}
	a->row = (struct check_row){
		.there = true,
		.total_cents = sqlite3_column_int64(row, 1),
		.funded_cents = sqlite3_column_int64(row, 2),
		.funded_packets = sqlite3_column_int64(row, 3),
		.pool_cents = sqlite3_column_int64(row, 4),
		.pool_packets = sqlite3_column_int64(row, 5),
		.credited_cents = sqlite3_column_int64(row, 6),
		.credited_packets = sqlite3_column_int64(row, 7),
		.held_cents = sqlite3_column_int64(row, 8),
		.held_packets = sqlite3_column_int64(row, 9),
		.refunded_cents = sqlite3_column_int64(row, 10),
		.refunded_packets = sqlite3_column_int64(row, 11),
		.leftover_cents = sqlite3_column_int64(row, 12),
		.revision = (uint64_t)sqlite3_column_int64(row, 13),
		.refund_done = sqlite3_column_int64(row, 14) > 0,
	};
	b = &a->books;
	b->funded_cents = a->row.funded_cents;
	b->funded_packets = (uint64_t)a->row.funded_packets;
	b->held_cents = a->row.held_cents;
	b->refunded_cents = a->row.refunded_cents;
	b->pool_cents = a->row.pool_cents;
	b->refund_done = a->row.refund_done;
	alarm = text(row, 15);
	b->alarm = xstrndup(alarm.p, alarm.n);
	b->postings_cents = sqlite3_column_int64(row, 16);
}

static const char records[] =
	"SELECT activity_id, red_packet_id, uid, amount, seq, at_ms, tranche"
	" FROM finance_record ORDER BY seq";

static void take_record(struct check *c, sqlite3_stmt *row)
{
	struct check_activity *a = wanted(c, row);
	struct check_claim claim;

	if (a != NULL) {
		claim = (struct check_claim){
			.amount_cents = sqlite3_column_int64(row, 3),
			.seq = (uint64_t)sqlite3_column_int64(row, 4),
			.at_ms = sqlite3_column_int64(row, 5),
			.tranche = (uint32_t)sqlite3_column_int64(row, 6),
		};
		snprintf(claim.packet, sizeof claim.packet, "%.*s",
			 BYTES_FMT(text(row, 1)));
		check_enter_claim(a, CHECK_LEDGER, &claim, text(row, 2));
	}
}

static const char changes[] =
	"SELECT activity_id, c.revision, kind, at_ms, tranche, packets, amount,"
	" detail FROM activity_change c JOIN red_packet_info USING (activity)";

static void take_change(struct check *c, sqlite3_stmt *row)
{
	struct check_activity *a = wanted(c, row);
	struct bytes kind = text(row, 2);
	const ProtobufCFieldDescriptor *f;
	struct check_event e;
	char name[32];

	if (a == NULL) {
		return;
	}
	/* The ledger's words are the event's fields, spelt for people. */
	snprintf(name, sizeof name, "%.*s", BYTES_FMT(kind));
	for (char *p = name; *p != '\0'; p++) {
		*p = *p == ' ' ? '_' : *p;
	}
	f = protobuf_c_message_descriptor_get_field_by_name(
		&rain__activity_event__descriptor, name);
	e = (struct check_event){
		.revision = (uint64_t)sqlite3_column_int64(row, 1),
		.kind = f != NULL ? (int)f->id : 0,
		.at_ms = sqlite3_column_int64(row, 3),
	};
	if (e.kind == RAIN__ACTIVITY_EVENT__CHANGE_TOPPED_UP) {
		check_event_tranche(&e, (uint32_t)sqlite3_column_int64(row, 4),
				    (uint64_t)sqlite3_column_int64(row, 5),
				    sqlite3_column_int64(row, 6), text(row, 7));
	}
	check_enter_event(a, CHECK_LEDGER, &e);
}

static const char accounts[] =
	"SELECT a.owner, a.kind, a.currency, a.balance,"
	" (SELECT coalesce(sum(delta), 0) FROM posting p"
	"  WHERE p.account = a.account), coalesce(r.amount, 0)"
	" FROM account a LEFT JOIN (SELECT account, sum(amount) AS amount"
	"  FROM red_packet_record GROUP BY account) r USING (account)";

static void take_account(struct check *c, sqlite3_stmt *row)
{
	struct check_account k = {
		.balance = sqlite3_column_int64(row, 3),
		.moved = sqlite3_column_int64(row, 4),
		.records = sqlite3_column_int64(row, 5),
	};

	snprintf(k.owner, sizeof k.owner, "%.*s", BYTES_FMT(text(row, 0)));
	snprintf(k.kind, sizeof k.kind, "%.*s", BYTES_FMT(text(row, 1)));
	snprintf(k.currency, sizeof k.currency, "%.*s",
		 BYTES_FMT(text(row, 2)));
	check_enter_account(c, &k);
}

static const char transfers[] =
	"SELECT activity_id, transfer, kind, sum(delta) FROM transfer"
	" JOIN red_packet_info USING (activity) LEFT JOIN posting"
	" USING (transfer) GROUP BY transfer"
	" HAVING coalesce(sum(delta), 1) <> 0";

static void take_transfer(struct check *c, sqlite3_stmt *row)
{
	check_violation(c, "%s: transfer %lld (%s) sums to %lld, not 0",
			(const char *)sqlite3_column_text(row, 0),
			(long long)sqlite3_column_int64(row, 1),
			(const char *)sqlite3_column_text(row, 2),
			(long long)sqlite3_column_int64(row, 3));
}

static const char conflicts[] =
	"SELECT activity_id, red_packet_id, c.uid, amount, seq, reason"
	" FROM conflict c JOIN red_packet_info USING (activity)";

/* A claim that waits for a person or for funds; what tells which. */
static void tell_open(struct check *c, sqlite3_stmt *row, const char *what)
{
	struct check_activity *a = wanted(c, row);

	if (a != NULL) {
		check_violation(c,
				"%s: %s (%s): packet %s of %s, %lld cents, seq "
				"%lld",
				a->id, what,
				(const char *)sqlite3_column_text(row, 5),
				(const char *)sqlite3_column_text(row, 1),
				(const char *)sqlite3_column_text(row, 2),
				(long long)sqlite3_column_int64(row, 3),
				(long long)sqlite3_column_int64(row, 4));
	}
}

static void take_conflict(struct check *c, sqlite3_stmt *row)
{
	tell_open(c, row, "conflict");
}

static const char parked[] =
	"SELECT activity_id, red_packet_id, p.uid, amount, seq, reason"
	" FROM parked_claim p JOIN red_packet_info USING (activity)";

static void take_parked(struct check *c, sqlite3_stmt *row)
{
	tell_open(c, row, "parked");
}

static const char letters[] =
	"SELECT topic, partition, kafka_offset, reason FROM dead_letter";

static void take_letter(struct check *c, sqlite3_stmt *row)
{
	check_violation(c, "dead letter: %s, partition %lld, offset %lld: %s",
			(const char *)sqlite3_column_text(row, 0),
			(long long)sqlite3_column_int64(row, 1),
			(long long)sqlite3_column_int64(row, 2),
			(const char *)sqlite3_column_text(row, 3));
}

int check_read_ledger(const char *path, struct check *c, struct buf *why)
{
	struct reader r = { .check = c, .why = why };
	bool ok = sqlite3_open_v2(path, &r.db, SQLITE_OPEN_READONLY, NULL) ==
		  SQLITE_OK;

	if (!ok) {
		buf_printf(why, "%s: %s", path, sqlite3_errmsg(r.db));
	} else {
		(void)sqlite3_busy_timeout(r.db, 5000);
		ok = each(&r, "BEGIN", NULL) && each(&r, info, take_info) &&
		     each(&r, records, take_record) &&
		     each(&r, changes, take_change) &&
		     each(&r, accounts, take_account) &&
		     each(&r, transfers, take_transfer) &&
		     each(&r, conflicts, take_conflict) &&
		     each(&r, parked, take_parked) &&
		     each(&r, letters, take_letter);
	}
	(void)sqlite3_close(r.db);
	return ok ? CTL_OK : CTL_UNKNOWN;
}
