/**
 * The audit of the SQLite ledger, for its readers, and the sums of one
 * activity, which the writer proves before a refund.
 */
#ifndef SETTLE_WORKER_LEDGER_SQLITE_AUDIT_H
#define SETTLE_WORKER_LEDGER_SQLITE_AUDIT_H

#include "audit.h"
#include "sql.h"

enum ledger_sqlite_audit_statement {
	A_BEGIN,
	A_COMMIT,
	A_ACTIVITY,
	A_RECORDS,
	A_POSTINGS,
	A_REST,
	A_TRANSFERS,
	A_ACCOUNTS,
	A_COUNT
};

extern const char *const ledger_sqlite_audit_statements[A_COUNT];

/** What the rows of an activity sum to; q has the statements above. Within the
 * caller's transaction. 0 or ERR_STORE. */
must_check int ledger_sqlite_sums(struct sql *q, int64_t activity,
				  struct bytes activity_id,
				  struct audit_sums *s);

/** Go on with a round for about this long. 0 or ERR_STORE, after which the
 * round can go on. */
must_check int ledger_sqlite_audit(struct sql *q, struct audit *a,
				   uint64_t budget_us);

#endif
