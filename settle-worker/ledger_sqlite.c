#include "ledger_sqlite.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/rand.h"

static struct ledger_sqlite *self(struct ledger *l)
{
	return container_of(l, struct ledger_sqlite, base);
}

/* 0 and the number, or ERR_STORE. */
static int schema_version(struct sql *q, int *version)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(q->db, "PRAGMA user_version", -1, &st, NULL) !=
		    SQLITE_OK ||
	    sqlite3_step(st) != SQLITE_ROW) {
		(void)snprintf(q->why, q->why_size, "%s",
			       sqlite3_errmsg(q->db));
		(void)sqlite3_finalize(st);
		return ERR_STORE;
	}
	*version = sqlite3_column_int(st, 0);
	(void)sqlite3_finalize(st);
	return 0;
}

static int make_schema(struct ledger_sqlite *l)
{
	char version[64];
	char id[LEDGER_HEX_ID];
	uint8_t random[(LEDGER_HEX_ID - 1) / 2];
	int rv = 0;

	for (size_t i = 0; rv == 0 && ledger_sqlite_schema[i] != NULL; i++) {
		rv = sql_exec(&l->q, ledger_sqlite_schema[i]);
	}
	rand_bytes(random, sizeof random);
	hex_encode(random, sizeof random, id);
	if (rv == 0) {
		rv = sql_run(&l->q, S_META_ADD, "ss", BYTES("ledger_id"),
			     bytes_str(id));
	}
	(void)snprintf(version, sizeof version, "PRAGMA user_version = %d",
		       LEDGER_SQLITE_SCHEMA);
	if (rv == 0) {
		rv = sql_exec(&l->q, version);
	}
	return rv;
}

/* In one transaction, so that two that open a new file make one schema. */
static int bring_schema(struct ledger_sqlite *l)
{
	int version = 0;
	int rv = sql_run(&l->q, S_BEGIN, "");

	if (rv != 0) {
		return rv;
	}
	rv = schema_version(&l->q, &version);
	if (rv == 0 && version == 0) {
		log_warn("no ledger here yet, a new one is made",
			 log_str("path", l->path));
		rv = make_schema(l);
	} else if (rv == 0 && version != LEDGER_SQLITE_SCHEMA) {
		(void)snprintf(l->base.why, sizeof l->base.why,
			       "schema version %d, this program knows %d",
			       version, LEDGER_SQLITE_SCHEMA);
		rv = ERR_STORE;
	}
	for (size_t i = 0; rv == 0 && ledger_sqlite_guards[i] != NULL; i++) {
		rv = sql_exec(&l->q, ledger_sqlite_guards[i]);
	}
	if (rv == 0) {
		rv = sql_run(&l->q, S_COMMIT, "");
	}
	if (rv != 0) {
		(void)sqlite3_exec(l->q.db, "ROLLBACK", NULL, NULL, NULL);
	}
	return rv;
}

static int read_id(struct ledger_sqlite *l)
{
	int rv = sql_first(&l->q, S_META_GET, "s", BYTES("ledger_id"));

	if (rv < 0) {
		return rv;
	}
	if (rv == 1) {
		sql_copy(&l->q, S_META_GET, 0, l->base.id, sizeof l->base.id);
	}
	sql_done(&l->q, S_META_GET);
	if (strlen(l->base.id) != LEDGER_HEX_ID - 1) {
		(void)snprintf(l->base.why, sizeof l->base.why,
			       "the ledger has no id");
		return ERR_STORE;
	}
	return 0;
}

static int positions(struct ledger *base, struct bytes cluster_id,
		     struct ledger_position *p, size_t n)
{
	struct ledger_sqlite *l = self(base);
	int rv = ledger_sqlite_files(l);

	if (rv == 0) {
		rv = sql_run(&l->q, S_BEGIN, "");
	}
	if (rv != 0) {
		return rv;
	}
	for (size_t i = 0; rv == 0 && i < n; i++) {
		struct bytes topic = bytes_str(p[i].topic);
		int64_t partition = p[i].partition;

		rv = sql_run(&l->q, S_OFFSET_ADD, "ssi", cluster_id, topic,
			     partition);
		if (rv != 0) {
			break;
		}
		rv = sql_only(&l->q, S_OFFSET_GET, "ssi", cluster_id, topic,
			      partition);
		if (rv != 0) {
			break;
		}
		p[i].next_offset = sql_int(&l->q, S_OFFSET_GET, 0);
		sql_done(&l->q, S_OFFSET_GET);
	}
	if (rv == 0) {
		rv = sql_run(&l->q, S_COMMIT, "");
	}
	if (rv != 0) {
		(void)sqlite3_exec(l->q.db, "ROLLBACK", NULL, NULL, NULL);
	}
	return rv;
}

static void copy_bytes(struct buf *out, struct bytes b)
{
	buf_init(out);
	buf_put_bytes(out, b);
}

static int dead_letters(struct ledger *base, struct ledger_dead_letter *out,
			size_t max, size_t *n)
{
	struct sql *q = &self(base)->q;
	int rv = sql_first(q, S_DEAD_PENDING, "iii", (int64_t)max,
			   (int64_t)LEDGER_DEAD_KEY_MAX,
			   (int64_t)LEDGER_DEAD_VALUE_MAX);

	*n = 0;
	while (rv == 1) {
		struct ledger_dead_letter *d = &out[(*n)++];

		d->number = sql_int(q, S_DEAD_PENDING, 0);
		sql_copy(q, S_DEAD_PENDING, 1, d->topic, sizeof d->topic);
		d->partition = (int32_t)sql_int(q, S_DEAD_PENDING, 2);
		d->offset = sql_int(q, S_DEAD_PENDING, 3);
		sql_copy(q, S_DEAD_PENDING, 4, d->reason, sizeof d->reason);
		copy_bytes(&d->key, sql_text(q, S_DEAD_PENDING, 5));
		copy_bytes(&d->value, sql_text(q, S_DEAD_PENDING, 6));
		d->key_bytes = sql_int(q, S_DEAD_PENDING, 7);
		d->value_bytes = sql_int(q, S_DEAD_PENDING, 8);
		rv = sql_next(q, S_DEAD_PENDING);
	}
	if (rv < 0) {
		for (size_t i = 0; i < *n; i++) {
			buf_close(&out[i].key);
			buf_close(&out[i].value);
		}
		*n = 0;
		return rv;
	}
	sql_done(q, S_DEAD_PENDING);
	return 0;
}

static int dead_letter_sent(struct ledger *base, int64_t number, int64_t now_ms)
{
	return sql_run(&self(base)->q, S_DEAD_SENT, "ii", number, now_ms);
}

static void close_ledger(struct ledger *base)
{
	struct ledger_sqlite *l = self(base);

	/* Its statements go first, the connection is the other's. */
	l->audit.db = NULL;
	sql_close(&l->audit);
	sql_close(&l->q);
	free(l->path);
	free(l);
}

static const struct ledger_ops ops = {
	.close = close_ledger,
	.positions = positions,
	.apply = ledger_sqlite_apply,
	.dead_letters = dead_letters,
	.dead_letter_sent = dead_letter_sent,
	.reader = ledger_sqlite_reader,
};

int ledger_sqlite_open(const char *path, struct ledger **out)
{
	struct ledger_sqlite *l = xcalloc(1, sizeof *l);
	int rv;

	l->base.ops = &ops;
	l->path = xstrndup(path, strlen(path));
	l->q = (struct sql){ .texts = ledger_sqlite_statements,
			     .stmts = l->stmts,
			     .count = S_COUNT,
			     .why = l->base.why,
			     .why_size = sizeof l->base.why };
	*out = NULL;
	if (strlen(path) > LEDGER_PATH_MAX) {
		(void)snprintf(l->base.why, sizeof l->base.why,
			       "the path is longer than %d", LEDGER_PATH_MAX);
		rv = ERR_STORE;
	} else {
		rv = sql_open(&l->q, path, false);
	}
	l->audit = (struct sql){ .db = l->q.db,
				 .texts = ledger_sqlite_audit_statements,
				 .stmts = l->audit_stmts,
				 .count = A_COUNT,
				 .why = l->base.why,
				 .why_size = sizeof l->base.why };
	if (rv == 0) {
		rv = bring_schema(l);
	}
	if (rv == 0) {
		rv = read_id(l);
	}
	if (rv == 0) {
		rv = ledger_sqlite_files(l);
	}
	if (rv != 0) {
		log_error("ledger cannot be opened", log_str("path", path),
			  log_str("why", l->base.why));
		if (l->q.db != NULL) {
			sql_close(&l->q);
		}
		free(l->path);
		free(l);
		return rv;
	}
	*out = &l->base;
	return 0;
}
