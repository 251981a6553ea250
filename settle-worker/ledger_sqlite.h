/**
 * The ledger in one file of SQLite: what its source files share.
 */
#ifndef SETTLE_WORKER_LEDGER_SQLITE_H
#define SETTLE_WORKER_LEDGER_SQLITE_H

#include <sys/types.h>

#include "ledger.h"
#include "ledger_sqlite_audit.h"
#include "sql.h"

enum {
	LEDGER_SQLITE_SCHEMA = 1,
	LEDGER_PATH_MAX = 4000, /* longer ones are refused */
};

/** Implements ledger_open(). */
must_check int ledger_sqlite_open(const char *path, struct ledger **out);

/** The statements that make schema LEDGER_SQLITE_SCHEMA in an empty file. */
extern const char *const ledger_sqlite_schema[];
/** Statements that may run on each ledger: triggers that keep rows as they
 * are, and what the audit reads by. */
extern const char *const ledger_sqlite_guards[];

/* Statements of the writing connection; their text stands in
 * ledger_sqlite_statements.c. */
enum ledger_sqlite_statement {
	S_BEGIN,
	S_COMMIT,
	S_ROLLBACK,
	S_EVENT_BEGIN,
	S_EVENT_KEEP,
	S_EVENT_UNDO,
	S_GROUP_BEGIN,
	S_GROUP_KEEP,
	S_GROUP_UNDO,
	S_META_ADD,
	S_META_GET,
	S_OFFSET_ADD,
	S_OFFSET_GET,
	S_OFFSET_MOVE,
	S_INFO_ADD,
	S_INFO_GET,
	S_INFO_SAVE,
	S_INFO_CREATED,
	S_INFO_TOTAL,
	S_TRANCHE_LIST,
	S_TRANCHE_ADD,
	S_TRANCHE_FUND,
	S_CHANGE_ADD,
	S_CHANGE_GET,
	S_CHANGE_NEWEST,
	S_CHANGE_OF_KIND,
	S_ACCOUNT_ADD,
	S_ACCOUNT_GET,
	S_ACCOUNT_MOVE,
	S_ACCOUNT_CREDIT_ALL,
	S_TRANSFER_ADD,
	S_POSTING_ADD,
	S_POSTING_RECORDS,
	S_RECORD_ADD,
	S_RECORD_ADD_ALL,
	S_RECORD_BY_PACKET,
	S_RECORD_BY_SEQ,
	S_RECORD_BY_USER,
	S_CONFLICT_SAME,
	S_CONFLICT_HELD,
	S_CONFLICT_ADD,
	S_CONFLICT_OPEN,
	S_PARKED_ADD,
	S_PARKED_REASON,
	S_PARKED_GET,
	S_PARKED_DELETE,
	S_PARKED_OF_PACKET,
	S_PARKED_PAGE,
	S_PARKED_ALARMING,
	S_SEQS_OF_RECORDS,
	S_SEQS_OF_ALL,
	S_DEAD_ADD,
	S_DEAD_PENDING,
	S_DEAD_SENT,
	S_COUNT
};

extern const char *const ledger_sqlite_statements[S_COUNT];

/* What a name stood for when it was first seen. */
struct ledger_sqlite_file {
	bool known;
	dev_t device;
	ino_t inode;
};

struct ledger_sqlite {
	struct ledger base;
	struct sql q;
	sqlite3_stmt *stmts[S_COUNT];
	struct sql audit; /* on the same connection */
	sqlite3_stmt *audit_stmts[A_COUNT];
	char *path;
	struct ledger_sqlite_file file; /* at path */
	struct ledger_sqlite_file wal;  /* beside it */
};

/** Whether the files are still there and the same: 0, or ERR_STORE with a
 * sentence for people. */
must_check int ledger_sqlite_files(struct ledger_sqlite *l);

/** Implements ledger_ops.apply. */
int ledger_sqlite_apply(struct ledger *base, const struct ledger_batch *b,
			struct ledger_result *result);
/** Implements ledger_ops.reader. */
int ledger_sqlite_reader(struct ledger *base, struct ledger_reader **out);

#endif
