#include "sql.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"

enum { BUSY_TIMEOUT_MS = 1000 };

/* Of a long statement the beginning, so that there is room for the reason. */
static int failed(struct sql *q, const char *what)
{
	q->code =
		q->db != NULL ? sqlite3_extended_errcode(q->db) : SQLITE_NOMEM;
	(void)snprintf(q->why, q->why_size, "%.100s: %s", what,
		       q->db != NULL ? sqlite3_errmsg(q->db) : "no memory");
	return ERR_STORE;
}

int sql_damaged(struct sql *q, const char *what)
{
	q->code = SQLITE_CORRUPT;
	(void)snprintf(q->why, q->why_size,
		       "the ledger contradicts itself, is the file damaged "
		       "(PRAGMA integrity_check)? %s",
		       what);
	return ERR_STORE;
}

bool sql_refused(const struct sql *q)
{
	int primary = q->code & 0xff;

	return primary == SQLITE_CONSTRAINT || primary == SQLITE_MISMATCH ||
	       primary == SQLITE_TOOBIG;
}

bool sql_not_unique(const struct sql *q)
{
	return q->code == SQLITE_CONSTRAINT_UNIQUE;
}

int sql_exec(struct sql *q, const char *text)
{
	if (sqlite3_exec(q->db, text, NULL, NULL, NULL) != SQLITE_OK) {
		return failed(q, "statement");
	}
	return 0;
}

/* FULL: a commit has reached the disk before its offset counts. */
static const char *const settings[] = {
	"PRAGMA journal_mode = WAL",   "PRAGMA synchronous = FULL",
	"PRAGMA foreign_keys = ON",    "PRAGMA temp_store = MEMORY",
	"PRAGMA trusted_schema = OFF",
};

/* Pages kept in memory, in KiB. Who writes touches index pages all over the
 * file; who reads looks up a few, or passes by all of them once. */
static const char *const writer_settings = "PRAGMA cache_size = -65536";
static const char *const reader_settings =
	"PRAGMA cache_size = -4096;"
	/* Opened for writing, which WAL needs, a reader may not write. */
	"PRAGMA query_only = ON";

int sql_open(struct sql *q, const char *path, bool read_only)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;
	int rv = 0;

	if (!read_only) {
		flags |= SQLITE_OPEN_CREATE;
	}
	/* Nobody asks SQLite how much memory it has, and to know it takes a
	 * lock at each malloc() and free(). Of no effect after the first. */
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	q->db = NULL;
	if (sqlite3_open_v2(path, &q->db, flags, NULL) != SQLITE_OK) {
		rv = failed(q, "open");
	}
	if (rv == 0) {
		(void)sqlite3_busy_timeout(q->db, BUSY_TIMEOUT_MS);
		(void)sqlite3_extended_result_codes(q->db, 1);
	}
	for (size_t i = 0; rv == 0 && i < sizeof settings / sizeof settings[0];
	     i++) {
		rv = sql_exec(q, settings[i]);
	}
	if (rv == 0) {
		rv = sql_exec(q, read_only ? reader_settings : writer_settings);
	}
	if (rv != 0) {
		(void)sqlite3_close(q->db);
		q->db = NULL;
	}
	return rv;
}

void sql_close(struct sql *q)
{
	for (int i = 0; i < q->count; i++) {
		(void)sqlite3_finalize(q->stmts[i]);
		q->stmts[i] = NULL;
	}
	check(sqlite3_close(q->db) == SQLITE_OK); /* every statement is gone */
	q->db = NULL;
}

static int bind_one(sqlite3_stmt *st, int at, char type, va_list *args)
{
	struct bytes b;

	if (type == 'i') {
		return sqlite3_bind_int64(st, at, va_arg(*args, int64_t));
	}
	b = va_arg(*args, struct bytes);
	check(b.n <= INT32_MAX);
	/* A NULL pointer would bind NULL, and we mean an empty value. */
	if (b.p == NULL) {
		b = BYTES("");
	}
	if (type == 's') {
		return sqlite3_bind_text(st, at, (const char *)b.p, (int)b.n,
					 SQLITE_STATIC);
	}
	check(type == 'b');
	return sqlite3_bind_blob(st, at, b.p, (int)b.n, SQLITE_STATIC);
}

int sql_prepared(struct sql *q, int s)
{
	check(s >= 0 && s < q->count);
	if (q->stmts[s] == NULL &&
	    sqlite3_prepare_v3(q->db, q->texts[s], -1,
			       SQLITE_PREPARE_PERSISTENT, &q->stmts[s],
			       NULL) != SQLITE_OK) {
		return failed(q, q->texts[s]);
	}
	return 0;
}

void sql_put_int(struct sql *q, int s, int at, int64_t value)
{
	int rv = sqlite3_bind_int64(q->stmts[s], at, value);

	check(rv == SQLITE_OK); /* the statement is ours, and so is `at` */
}

void sql_put_text(struct sql *q, int s, int at, struct bytes value)
{
	int rv = sqlite3_bind_text(q->stmts[s], at, (const char *)value.p,
				   (int)value.n, SQLITE_STATIC);

	check(rv == SQLITE_OK);
}

static int start(struct sql *q, int s, const char *types, va_list *args)
{
	int rv = sql_prepared(q, s);

	if (rv != 0) {
		return rv;
	}
	for (int i = 0; types[i] != '\0'; i++) {
		if (bind_one(q->stmts[s], i + 1, types[i], args) != SQLITE_OK) {
			return failed(q, q->texts[s]);
		}
	}
	return sql_next(q, s);
}

int sql_next(struct sql *q, int s)
{
	int rv = sqlite3_step(q->stmts[s]);

	if (rv == SQLITE_ROW) {
		return 1;
	}
	if (rv == SQLITE_DONE) {
		return 0;
	}
	rv = failed(q, q->texts[s]);
	sql_done(q, s);
	return rv;
}

void sql_done(struct sql *q, int s)
{
	/* Repeats the error of the step, which is known. */
	(void)sqlite3_reset(q->stmts[s]);
	(void)sqlite3_clear_bindings(q->stmts[s]);
}

int sql_first(struct sql *q, int s, const char *types, ...)
{
	va_list args;
	int rv;

	va_start(args, types);
	rv = start(q, s, types, &args);
	va_end(args);
	return rv;
}

int sql_only(struct sql *q, int s, const char *types, ...)
{
	va_list args;
	int rv;

	va_start(args, types);
	rv = start(q, s, types, &args);
	va_end(args);
	if (rv == 0) {
		sql_done(q, s);
		return sql_damaged(q, q->texts[s]);
	}
	return rv < 0 ? rv : 0;
}

int sql_run(struct sql *q, int s, const char *types, ...)
{
	va_list args;
	int rv;

	va_start(args, types);
	rv = start(q, s, types, &args);
	va_end(args);
	if (rv >= 0) {
		sql_done(q, s);
		rv = 0;
	}
	return rv;
}

int64_t sql_int(const struct sql *q, int s, int column)
{
	return sqlite3_column_int64(q->stmts[s], column);
}

struct bytes sql_text(const struct sql *q, int s, int column)
{
	const void *p = sqlite3_column_blob(q->stmts[s], column);
	int n = sqlite3_column_bytes(q->stmts[s], column);

	return bytes_make(p, (size_t)n);
}

void sql_copy(const struct sql *q, int s, int column, char *out, size_t size)
{
	struct bytes b = sql_text(q, s, column);
	size_t n = b.n < size ? b.n : size - 1;

	if (n > 0) {
		memcpy(out, b.p, n);
	}
	out[n] = '\0';
}

int sql_changes(const struct sql *q)
{
	return sqlite3_changes(q->db);
}

int64_t sql_inserted(const struct sql *q)
{
	return sqlite3_last_insert_rowid(q->db);
}
