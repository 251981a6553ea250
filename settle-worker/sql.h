/**
 * A connection to SQLite with a fixed set of statements, each prepared when it
 * is first used.
 */
#ifndef SETTLE_WORKER_SQL_H
#define SETTLE_WORKER_SQL_H

#include <sqlite3.h>

#include "base/bytes.h"
#include "base/check.h"

struct sql {
	sqlite3 *db;
	const char *const *texts; /* of the statements, borrowed */
	sqlite3_stmt **stmts;     /* as many, NULL until used; borrowed */
	int count;
	char *why; /* where the last error is written */
	size_t why_size;
	int code; /* SQLite's extended code of the last error */
};

/** Open the file with the settings that the ledger demands. 0 or ERR_STORE. */
must_check int sql_open(struct sql *q, const char *path, bool read_only);
void sql_close(struct sql *q);

/**
 * Start a statement with values: 'i' an int64_t, 's' a struct bytes as text,
 * 'b' a struct bytes as a blob; values are borrowed until sql_done(). Steps
 * once: 1 if there is a row, 0 if not, else ERR_STORE. Always followed by
 * sql_done(), unless it failed.
 */
must_check int sql_first(struct sql *q, int s, const char *types, ...);
/** As sql_first() for a statement that must have a row: 0, or ERR_STORE also
 * if there is none, for then the file is damaged. */
must_check int sql_only(struct sql *q, int s, const char *types, ...);
/** What was read contradicts itself, which only a damaged file does:
 * ERR_STORE. */
must_check int sql_damaged(struct sql *q, const char *what);
/** Whether the last error is about what was to be written, not about the file:
 * to try the same again is of no use. */
bool sql_refused(const struct sql *q);
/** The next row: as sql_first(). */
must_check int sql_next(struct sql *q, int s);
/** The statement may be used again. */
void sql_done(struct sql *q, int s);

/** A statement whose rows, if any, do not matter: 0 or ERR_STORE. */
must_check int sql_run(struct sql *q, int s, const char *types, ...);

/** Values of a statement with too many for sql_run(), one by one from 1; then
 * sql_next() and sql_done(). sql_prepared() first: 0 or ERR_STORE. */
must_check int sql_prepared(struct sql *q, int s);
void sql_put_int(struct sql *q, int s, int at, int64_t value);
void sql_put_text(struct sql *q, int s, int at, struct bytes value);

/** Whether the last error is a row that is there already. */
bool sql_not_unique(const struct sql *q);

/** Columns of the row, from 0; text is valid until the next step. */
int64_t sql_int(const struct sql *q, int s, int column);
struct bytes sql_text(const struct sql *q, int s, int column);

/** Copy text of a column into an array, cut to its size. */
void sql_copy(const struct sql *q, int s, int column, char *out, size_t size);

/** Statements without values or rows, outside the set. 0 or ERR_STORE. */
must_check int sql_exec(struct sql *q, const char *text);

/** Rows that the last statement changed. For SQLite this says what RETURNING
 * would, without the table that it makes for its rows. */
int sql_changes(const struct sql *q);

/** The integer key of the row that was inserted last. */
int64_t sql_inserted(const struct sql *q);

#endif
