/* The audit of the SQLite ledger. Every row is compared within one snapshot,
 * so the writer goes on meanwhile; a round is cut into steps by time. */
#include "ledger_sqlite_audit.h"

#include <stdio.h>

#include "base/clock.h"

enum stage { STAGE_ACTIVITIES, STAGE_TRANSFERS, STAGE_ACCOUNTS, STAGE_END };

#define RECEIVED(kind)                                        \
	"coalesce(sum(p.delta) FILTER (WHERE t.kind = '" kind \
	"' AND p.delta > 0), 0)"
#define BALANCE_OF(kind)                                 \
	"(SELECT coalesce(sum(balance), 0) FROM account" \
	" WHERE owner = ?2 AND kind = '" kind "')"
#define POSTED_TO(kind)                                                 \
	"(SELECT coalesce(sum(p.delta), 0) FROM account a"              \
	" JOIN posting p USING (account) WHERE a.owner = ?2 AND a.kind" \
	" = '" kind "')"

const char *const ledger_sqlite_audit_statements[A_COUNT] = {
	[A_BEGIN] = "BEGIN",
	[A_COMMIT] = "COMMIT",
	[A_ACTIVITY] =
		"SELECT activity, activity_id, funded_amount, funded_packet,"
		" remaining_amount, remaining_packet, credited_amount,"
		" credited_packet, held_amount, held_packet, refunded_amount,"
		" refunded_packet, parked_count, conflict_count"
		" FROM red_packet_info WHERE activity > ?1"
		" ORDER BY activity LIMIT 1",
	[A_RECORDS] = "SELECT count(*), coalesce(sum(r.amount), 0),"
		      " count(*) FILTER (WHERE p.delta IS NOT r.amount)"
		      " FROM red_packet_record r LEFT JOIN posting p"
		      " ON p.transfer = r.transfer AND p.account = r.account"
		      " WHERE r.activity = ?1",
	[A_POSTINGS] = "SELECT coalesce(sum(p.delta), 0)," RECEIVED("fund") "," RECEIVED(
		"credit") "," RECEIVED("hold") "," RECEIVED("refund") " FROM transfer t JOIN posting p USING (transfer)"
								      " WHERE t.activity = ?1",
	[A_REST] =
		"SELECT"
		" (SELECT coalesce(sum(amount), 0) FROM tranche"
		"  WHERE activity = ?1 AND transfer IS NOT NULL),"
		" (SELECT coalesce(sum(packets), 0) FROM tranche"
		"  WHERE activity = ?1 AND transfer IS NOT NULL),"
		" (SELECT count(*) FROM conflict WHERE activity = ?1),"
		" (SELECT count(transfer) FROM conflict WHERE activity = ?1),"
		" (SELECT coalesce(sum(amount), 0) FROM conflict"
		"  WHERE activity = ?1 AND transfer IS NOT NULL),"
		" (SELECT count(*) FROM parked_claim WHERE activity = ?1)"
		"," BALANCE_OF("pool") "," POSTED_TO("pool") "," BALANCE_OF(
			"held") "," POSTED_TO("held"),
	/* Straight from the postings: one whose transfer is not there counts
	 * as well. */
	[A_TRANSFERS] = "SELECT p.transfer, sum(p.delta),"
			" coalesce((SELECT t.kind FROM transfer t"
			"  WHERE t.transfer = p.transfer), 'unknown'),"
			" coalesce((SELECT i.activity_id FROM transfer t"
			"  JOIN red_packet_info i USING (activity)"
			"  WHERE t.transfer = p.transfer), '')"
			" FROM posting p WHERE p.transfer > ?1"
			" GROUP BY p.transfer ORDER BY p.transfer",
	/* What a sponsor has given and got back may be more than a sum can
	 * hold, though the difference is not: its halves are added apart. */
	[A_ACCOUNTS] = "SELECT account, kind, owner, currency, balance,"
		       " (SELECT coalesce(sum(p.delta >> 32), 0)"
		       "  FROM posting p WHERE p.account = a.account"
		       "  AND a.kind = 'sponsor'),"
		       " (SELECT coalesce(sum(CASE a.kind WHEN 'sponsor'"
		       "  THEN p.delta & 4294967295 ELSE p.delta END), 0)"
		       "  FROM posting p WHERE p.account = a.account)"
		       " FROM account a WHERE account > ?1 ORDER BY account",
};

static int records(struct sql *q, int64_t activity, struct audit_sums *s)
{
	int rv = sql_only(q, A_RECORDS, "i", activity);

	if (rv != 0) {
		return rv;
	}
	s->records = sql_int(q, A_RECORDS, 0);
	s->record_cents = sql_int(q, A_RECORDS, 1);
	s->unposted_records = sql_int(q, A_RECORDS, 2);
	sql_done(q, A_RECORDS);
	return 0;
}

static int postings(struct sql *q, int64_t activity, struct audit_sums *s)
{
	int rv = sql_only(q, A_POSTINGS, "i", activity);

	if (rv != 0) {
		return rv;
	}
	s->posted = sql_int(q, A_POSTINGS, 0);
	s->fund_posted = sql_int(q, A_POSTINGS, 1);
	s->credit_posted = sql_int(q, A_POSTINGS, 2);
	s->hold_posted = sql_int(q, A_POSTINGS, 3);
	s->refund_posted = sql_int(q, A_POSTINGS, 4);
	sql_done(q, A_POSTINGS);
	return 0;
}

static int rest(struct sql *q, int64_t activity, struct bytes activity_id,
		struct audit_sums *s)
{
	int rv = sql_only(q, A_REST, "is", activity, activity_id);
	int c = 0;

	if (rv != 0) {
		return rv;
	}
	s->tranche_cents = sql_int(q, A_REST, c++);
	s->tranche_packets = sql_int(q, A_REST, c++);
	s->conflicts = sql_int(q, A_REST, c++);
	s->held_conflicts = sql_int(q, A_REST, c++);
	s->held_conflict_cents = sql_int(q, A_REST, c++);
	s->parked = sql_int(q, A_REST, c++);
	s->pool_balance = sql_int(q, A_REST, c++);
	s->pool_posted = sql_int(q, A_REST, c++);
	s->held_balance = sql_int(q, A_REST, c++);
	s->held_posted = sql_int(q, A_REST, c);
	sql_done(q, A_REST);
	return 0;
}

int ledger_sqlite_sums(struct sql *q, int64_t activity,
		       struct bytes activity_id, struct audit_sums *s)
{
	int rv = records(q, activity, s);

	if (rv == 0) {
		rv = postings(q, activity, s);
	}
	return rv == 0 ? rest(q, activity, activity_id, s) : rv;
}

/* ---- The stages: each 1 if it ended, 0 if time did ---- */

static int64_t take_books(const struct sql *q, struct settle_books *b)
{
	int c = 2;

	*b = (struct settle_books){ 0 };
	b->funded_cents = sql_int(q, A_ACTIVITY, c++);
	b->funded_packets = sql_int(q, A_ACTIVITY, c++);
	b->pool_cents = sql_int(q, A_ACTIVITY, c++);
	b->pool_packets = sql_int(q, A_ACTIVITY, c++);
	b->credited_cents = sql_int(q, A_ACTIVITY, c++);
	b->credited_packets = sql_int(q, A_ACTIVITY, c++);
	b->held_cents = sql_int(q, A_ACTIVITY, c++);
	b->held_packets = sql_int(q, A_ACTIVITY, c++);
	b->refunded_cents = sql_int(q, A_ACTIVITY, c++);
	b->refunded_packets = sql_int(q, A_ACTIVITY, c++);
	b->parked = sql_int(q, A_ACTIVITY, c++);
	return sql_int(q, A_ACTIVITY, c);
}

/* The next one, in a transaction: 1 if there was none, else 0. */
static int next_activity(struct sql *q, struct audit *a)
{
	char id[ID_MAX + 1];
	struct settle_books b;
	struct audit_sums s;
	int64_t conflicts;
	int rv = sql_first(q, A_ACTIVITY, "i", a->after);

	if (rv < 0) {
		return rv;
	}
	if (rv == 0) {
		sql_done(q, A_ACTIVITY);
		return 1;
	}
	a->after = sql_int(q, A_ACTIVITY, 0);
	sql_copy(q, A_ACTIVITY, 1, id, sizeof id);
	conflicts = take_books(q, &b);
	sql_done(q, A_ACTIVITY);
	rv = ledger_sqlite_sums(q, a->after, bytes_str(id), &s);
	if (rv == 0) {
		audit_activity(a, id, &b, conflicts, &s);
	}
	return rv;
}

static int activities(struct sql *q, struct audit *a, uint64_t until)
{
	int rv;

	do {
		rv = sql_run(q, A_BEGIN, "");
		if (rv == 0) {
			rv = next_activity(q, a);
		}
		if (rv >= 0) {
			int end = sql_run(q, A_COMMIT, "");

			rv = end == 0 ? rv : end;
		}
	} while (rv == 0 && clock_mono_us() < until);
	if (rv < 0) {
		(void)sqlite3_exec(q->db, "ROLLBACK", NULL, NULL, NULL);
	}
	return rv;
}

static void transfer(const struct sql *q, struct audit *a)
{
	char kind[16];
	char id[ID_MAX + 1];
	char subject[AUDIT_SUBJECT_MAX];

	a->after = sql_int(q, A_TRANSFERS, 0);
	if (sql_int(q, A_TRANSFERS, 1) == 0) {
		return;
	}
	sql_copy(q, A_TRANSFERS, 2, kind, sizeof kind);
	sql_copy(q, A_TRANSFERS, 3, id, sizeof id);
	(void)snprintf(subject, sizeof subject, "transfer %lld (%s, %s)",
		       (long long)a->after, kind, id);
	audit_compare(a, id, subject, "sum of its postings", "both sides", 0,
		      sql_int(q, A_TRANSFERS, 1));
}

static void account(const struct sql *q, struct audit *a)
{
	char kind[16];
	char owner[ID_MAX + 1];
	char currency[8];
	char subject[AUDIT_SUBJECT_MAX];
	int64_t balance = sql_int(q, A_ACCOUNTS, 4);
	uint64_t high = (uint64_t)sql_int(q, A_ACCOUNTS, 5);
	int64_t posted =
		(int64_t)((high << 32) + (uint64_t)sql_int(q, A_ACCOUNTS, 6));
	bool of_activity;

	a->after = sql_int(q, A_ACCOUNTS, 0);
	if (balance == posted && balance >= 0) {
		return;
	}
	sql_copy(q, A_ACCOUNTS, 1, kind, sizeof kind);
	sql_copy(q, A_ACCOUNTS, 2, owner, sizeof owner);
	sql_copy(q, A_ACCOUNTS, 3, currency, sizeof currency);
	(void)snprintf(subject, sizeof subject, "account %lld (%s %s, %s)",
		       (long long)a->after, kind, owner, currency);
	of_activity = strcmp(kind, "pool") == 0 || strcmp(kind, "held") == 0;
	audit_compare(a, of_activity ? owner : "", subject, "balance",
		      "its postings", posted, balance);
	if (balance < 0 && strcmp(kind, "sponsor") != 0) {
		audit_compare(a, of_activity ? owner : "", subject, "balance",
			      "only a sponsor's is negative", 0, balance);
	}
}

static int rows(struct sql *q, int s, struct audit *a, uint64_t until,
		void (*row)(const struct sql *q, struct audit *a))
{
	int rv = sql_first(q, s, "i", a->after);

	while (rv == 1) {
		row(q, a);
		if (clock_mono_us() >= until) {
			sql_done(q, s);
			return 0;
		}
		rv = sql_next(q, s);
	}
	if (rv < 0) {
		return rv;
	}
	sql_done(q, s);
	return 1;
}

int ledger_sqlite_audit(struct sql *q, struct audit *a, uint64_t budget_us)
{
	uint64_t until = clock_mono_us() + budget_us;
	int rv = 1;

	while (rv == 1 && a->stage < STAGE_END) {
		switch ((enum stage)a->stage) {
		case STAGE_ACTIVITIES:
			rv = activities(q, a, until);
			break;
		case STAGE_TRANSFERS:
			rv = rows(q, A_TRANSFERS, a, until, transfer);
			break;
		default:
			rv = rows(q, A_ACCOUNTS, a, until, account);
			break;
		}
		if (rv == 1) {
			a->stage++;
			a->after = 0;
		}
	}
	a->done = a->stage == STAGE_END;
	return rv < 0 ? rv : 0;
}
