/**
 * Statements of a reading connection; their text stands in
 * ledger_sqlite_read_statements.c.
 */
#ifndef SETTLE_WORKER_LEDGER_SQLITE_READ_H
#define SETTLE_WORKER_LEDGER_SQLITE_READ_H

enum read_statement {
	R_BALANCE,
	R_RECORDS_OF_USER,
	R_RECORDS_OF_ACTIVITY,
	R_RECORD,
	R_TOTALS,
	R_ACTIVITIES,
	R_TOPUPS,
	R_POSITIONS,
	R_WATCH,
	R_PARKED,
	R_PARKED_OLDEST,
	R_COUNT
};

extern const char *const ledger_sqlite_read_statements[R_COUNT];

#endif
