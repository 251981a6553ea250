/* A batch, in one transaction: the offsets first, for they say whether it is
 * ours to apply; changes before claims, so that few have to wait. */
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/err.h"
#include "base/log.h"
#include "ledger_sqlite_tx.h"

enum { HASH_SIZE = 32 };

/* A claim with its activity, in the order in which claims are settled. */
struct job {
	struct tx_activity *activity;
	const struct event_claim *claim;
	size_t index;
};

static void hash_of(const struct event_place *p, uint8_t out[HASH_SIZE])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool ok = ctx != NULL &&
		  EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1 &&
		  EVP_DigestUpdate(ctx, p->topic.p, p->topic.n) == 1 &&
		  EVP_DigestUpdate(ctx, "", 1) == 1 &&
		  EVP_DigestUpdate(ctx, p->value.p, p->value.n) == 1 &&
		  EVP_DigestFinal_ex(ctx, out, NULL) == 1;

	EVP_MD_CTX_free(ctx);
	check(ok); /* only memory could be missing */
}

int tx_dead_letter(struct tx *tx, const struct event_place *p,
		   const char *reason)
{
	uint8_t hash[HASH_SIZE];
	int rv;

	hash_of(p, hash);
	rv = sql_first(tx->q, S_DEAD_ADD, "bsiibbsi",
		       bytes_make(hash, sizeof hash), p->topic,
		       (int64_t)p->partition, p->offset, p->key, p->value,
		       bytes_str(reason), tx->batch->now_ms);
	if (rv < 0) {
		return rv;
	}
	sql_done(tx->q, S_DEAD_ADD);
	tx->result->dead_letters += rv;
	return 0;
}

/* *moved: a partition does not stand where the batch begins. */
static int move_offsets(struct tx *tx, bool *moved)
{
	const struct ledger_batch *b = tx->batch;
	int rv = 0;

	*moved = false;
	for (size_t i = 0; rv == 0 && i < b->move_count; i++) {
		const struct ledger_move *m = &b->moves[i];

		rv = sql_run(tx->q, S_OFFSET_MOVE, "ssiii", b->cluster_id,
			     m->topic, (int64_t)m->partition, m->from, m->to);
		if (rv == 0 && sql_changes(tx->q) != 1) {
			*moved = true;
			return 0;
		}
	}
	return rv;
}

static int apply_changes(struct tx *tx)
{
	const struct ledger_batch *b = tx->batch;
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < b->event_count; i++) {
		const struct event *e = &b->events[i];
		struct tx_activity *a;

		if (e->kind == EVENT_POISON) {
			rv = tx_dead_letter(tx, &e->place, e->reason);
		} else if (e->kind == EVENT_CHANGE) {
			rv = tx_activity_get(tx, &e->activity_id, &a);
			if (rv == 0) {
				rv = tx_change(tx, a, e);
			}
		}
	}
	return rv;
}

/* The loop ends, for each round settles a claim that waited. */
static int fund_and_unpark(struct tx *tx)
{
	int rv = 0;

	for (struct tx_activity *a = tx->activities; rv == 0 && a != NULL;
	     a = a->hh.next) {
		rv = tx_fund(tx, a);
		while (rv == 0 && a->look_again && a->books.parked > 0) {
			a->look_again = false;
			rv = tx_unpark(tx, a);
		}
		a->look_again = false;
	}
	return rv;
}

/* Rows of one activity by seq lie side by side in every index; among equals
 * the first to come stays the first. */
static int by_activity_and_seq(const void *left, const void *right)
{
	const struct job *l = left;
	const struct job *r = right;

	if (l->activity->number != r->activity->number) {
		return l->activity->number < r->activity->number ? -1 : 1;
	}
	if (l->claim->seq != r->claim->seq) {
		return l->claim->seq < r->claim->seq ? -1 : 1;
	}
	return (l->index > r->index) - (l->index < r->index);
}

/* As they mostly are: a partition has the claims of an activity by seq. */
static bool in_order(const struct job *jobs, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (by_activity_and_seq(&jobs[i - 1], &jobs[i]) > 0) {
			return false;
		}
	}
	return true;
}

static int apply_claims(struct tx *tx)
{
	const struct ledger_batch *b = tx->batch;
	struct job *jobs = xcalloc(b->event_count + 1, sizeof *jobs);
	size_t n = 0;
	int rv = 0;

	for (size_t i = 0; rv == 0 && i < b->event_count; i++) {
		const struct event *e = &b->events[i];

		if (e->kind == EVENT_CLAIM) {
			jobs[n] = (struct job){ NULL, &e->claim, i };
			rv = tx_activity_get(tx, &e->activity_id,
					     &jobs[n].activity);
			n++;
		}
	}
	if (rv == 0 && !in_order(jobs, n)) {
		qsort(jobs, n, sizeof *jobs, by_activity_and_seq);
	}
	for (size_t i = 0; rv == 0 && i < n; i++) {
		rv = tx_claim(tx, jobs[i].activity, jobs[i].claim);
	}
	if (rv == 0) {
		rv = tx_group_flush(tx);
	}
	free(jobs);
	return rv;
}

static int finish_activities(struct tx *tx)
{
	int rv = 0;

	for (struct tx_activity *a = tx->activities; rv == 0 && a != NULL;
	     a = a->hh.next) {
		rv = tx_activity_finish(tx, a);
	}
	return rv;
}

/* Once it is committed: an alarm that was rolled back is none. */
static void log_alarms(const struct tx *tx)
{
	for (const struct tx_activity *a = tx->activities; a != NULL;
	     a = a->hh.next) {
		if (!a->alarm_new) {
			continue;
		}
		if (a->alarm[0] != '\0') {
			log_error("alarm", log_str("activity", a->id.s),
				  log_str("what", a->alarm));
		} else {
			log_info("alarm is over", log_str("activity", a->id.s));
		}
	}
}

/* All events at once. */
static int apply_events(struct tx *tx)
{
	int rv = apply_changes(tx);

	if (rv == 0) {
		rv = fund_and_unpark(tx);
	}
	if (rv == 0) {
		rv = apply_claims(tx);
	}
	if (rv == 0) {
		rv = fund_and_unpark(tx);
	}
	return rv == 0 ? finish_activities(tx) : rv;
}

/* Keep what the database refuses as it keeps what nobody can read. The money
 * stays where it is, and the claim's seq is missing: nothing is refunded, and
 * it is asked for again until the cause is gone. */
static int keep_refused(struct tx *tx, const struct event *e)
{
	char reason[LEDGER_WHY_MAX];
	int rv;

	(void)snprintf(reason, sizeof reason, "the ledger refuses it: %s",
		       tx->l->base.why);
	log_error("the ledger refuses a message",
		  log_bytes("topic", e->place.topic),
		  log_int("partition", e->place.partition),
		  log_int("offset", e->place.offset),
		  log_str("why", tx->l->base.why));
	rv = sql_run(tx->q, S_EVENT_UNDO, "");
	return rv == 0 ? tx_dead_letter(tx, &e->place, reason) : rv;
}

static int apply_one(const struct tx *all, const struct event *e)
{
	struct ledger_result before = *all->result;
	struct ledger_batch one = *all->batch;
	struct tx tx = {
		.l = all->l, .q = all->q, .batch = &one, .result = all->result
	};
	int rv = sql_run(tx.q, S_EVENT_BEGIN, "");

	all->q->code = 0;
	one.events = e;
	one.event_count = 1;
	if (rv == 0) {
		rv = apply_events(&tx);
	}
	if (rv == 0) {
		log_alarms(&tx);
	} else if (sql_refused(tx.q)) {
		*tx.result = before;
		rv = keep_refused(&tx, e);
	}
	tx_activities_free(&tx);
	return rv == 0 ? sql_run(all->q, S_EVENT_KEEP, "") : rv;
}

/* Each event for itself, so that one which the database refuses stops no
 * other. */
static int apply_each(struct tx *tx)
{
	const struct ledger_batch *b = tx->batch;
	int rv = 0;

	for (int claims = 0; claims <= 1; claims++) {
		for (size_t i = 0; rv == 0 && i < b->event_count; i++) {
			const struct event *e = &b->events[i];

			if ((e->kind == EVENT_CLAIM) == (claims == 1)) {
				rv = apply_one(tx, e);
			}
		}
	}
	return rv;
}

static int run(struct tx *tx, int (*apply)(struct tx *tx))
{
	bool moved = false;
	int rv = ledger_sqlite_files(tx->l);

	*tx->result = (struct ledger_result){ 0 };
	if (rv != 0) {
		return rv;
	}
	/* What another batch was refused for says nothing about this one, also
	 * if the audit fails, which has a code of its own. */
	tx->q->code = 0;
	rv = sql_run(tx->q, S_BEGIN, "");
	if (rv == 0) {
		rv = move_offsets(tx, &moved);
	}
	if (rv == 0 && moved) {
		tx->result->moved = true;
		return sql_run(tx->q, S_ROLLBACK, "");
	}
	if (rv == 0) {
		rv = apply(tx);
	}
	if (rv == 0) {
		rv = sql_run(tx->q, S_COMMIT, "");
	}
	if (rv != 0) {
		/* Fails when SQLite has rolled back by itself, which is well. */
		(void)sqlite3_exec(tx->q->db, "ROLLBACK", NULL, NULL, NULL);
	}
	return rv;
}

int ledger_sqlite_apply(struct ledger *base, const struct ledger_batch *b,
			struct ledger_result *result)
{
	struct ledger_sqlite *l =
		container_of(base, struct ledger_sqlite, base);
	struct tx tx = { .l = l, .q = &l->q, .batch = b, .result = result };
	int rv = run(&tx, apply_events);

	if (rv == 0) {
		log_alarms(&tx);
	}
	tx_activities_free(&tx);
	if (rv != 0 && sql_refused(&l->q)) {
		rv = run(&tx, apply_each);
	}
	return rv;
}
