/**
 * The audit of the books: what must be equal, and the sentences about what is
 * not. Pure; whatever stores the books gathers the sums.
 */
#ifndef SETTLE_WORKER_AUDIT_H
#define SETTLE_WORKER_AUDIT_H

#include "base/id.h"
#include "settle.h"

enum {
	AUDIT_FINDINGS_MAX = 20, /* that are named; all are counted */
	AUDIT_SUBJECT_MAX = 160,
};

/* One thing that contradicts the books. */
struct audit_finding {
	char activity_id[ID_MAX + 1];    /* "" if it belongs to none */
	char subject[AUDIT_SUBJECT_MAX]; /* "account 7 (user bob, CNY)" */
	const char *what;                /* static: "balance" */
	const char *by; /* static: where the expected number is from */
	int64_t expected;
	int64_t found;
};

/* A round of the audit, which may take several steps: activities, then
 * transfers, then accounts, so that an activity's own findings come first. */
struct audit {
	int stage;     /* of the ledger that is audited; 0 at the beginning */
	int64_t after; /* the number of the row before the next one */
	bool done;     /* every row was looked at */
	int64_t violations;
	struct audit_finding findings[AUDIT_FINDINGS_MAX];
	size_t count; /* of these */
};

/* What the rows of an activity sum to, beside what its books say. */
struct audit_sums {
	int64_t records;
	int64_t record_cents;
	int64_t unposted_records; /* without a posting of their amount */
	int64_t posted;           /* all postings, both signs */
	int64_t fund_posted;      /* what receivers got, by kind of transfer */
	int64_t credit_posted;
	int64_t hold_posted;
	int64_t refund_posted;
	int64_t tranche_cents; /* of those that are funded */
	int64_t tranche_packets;
	int64_t conflicts; /* rows, decided ones too */
	int64_t held_conflicts;
	int64_t held_conflict_cents;
	int64_t parked; /* rows */
	int64_t pool_balance;
	int64_t pool_posted;
	int64_t held_balance;
	int64_t held_posted;
};

/** Compare two numbers; if they differ, count and perhaps keep a finding.
 * subject and activity_id are copied, what and by must be static. */
void audit_compare(struct audit *a, const char *activity_id,
		   const char *subject, const char *what, const char *by,
		   int64_t expected, int64_t found);

/** Compare the books of an activity, which count that many conflicts, with
 * what its rows sum to. */
void audit_activity(struct audit *a, const char *activity_id,
		    const struct settle_books *b, int64_t conflicts,
		    const struct audit_sums *s);

/** Append "activity friday: credited_amount: expected 250 (its records),
 * found 550". */
void audit_say(const struct audit_finding *f, struct buf *out);

/** Whether it is the finding of an earlier round, by the same difference. */
bool audit_known(const struct audit *earlier, const struct audit_finding *f);

#endif
