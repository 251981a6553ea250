/* The producer against a real broker. */
#include "client/kafka.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/kafka_producer.h"
#include "lib/kafka_broker.h"
#include "lib/turns.h"

enum {
	MESSAGES_MAX = 10000,
	KEYS = 97,
};

static const char nobody[] = "127.0.0.1:1"; /* refuses at once */

struct rig {
	uv_loop_t loop;
	struct kafka_producer *p;
	char topic[64];
	size_t next;             /* message to produce */
	size_t reports;          /* delivered callbacks */
	size_t good;             /* of them, without an error */
	bool done[MESSAGES_MAX]; /* delivered */
	int renewed;
	size_t reports_at_renewal;
	int called; /* callback of an admin call */
	int error;  /* of it */
	int64_t ends_sum;
	size_t ends;
	bool freed;
};

static void delivered(void *ctx, void *opaque, rd_kafka_resp_err_t error)
{
	struct rig *r = ctx;
	size_t i = (size_t)(uintptr_t)opaque - 1;

	cr_assert(!r->freed);
	r->reports++;
	if (error == 0) {
		cr_assert(!r->done[i], "message %zu reported twice", i);
		r->done[i] = true;
		r->good++;
	}
}

static void renewed(void *ctx)
{
	struct rig *r = ctx;

	r->renewed++;
	r->reports_at_renewal = r->reports;
}

static void freed(void *ctx)
{
	struct rig *r = ctx;

	r->freed = true;
}

static struct rig *rig(const char *bootstrap, const struct config_pair *pairs,
		       size_t n)
{
	struct rig *r = xcalloc(1, sizeof(*r));

	cr_assert_eq(uv_loop_init(&r->loop), 0);
	cr_assert_eq(kafka_producer_new(&r->loop, bootstrap, pairs, n,
					delivered, renewed, r, &r->p),
		     0);
	kafka_broker_topic(r->topic, sizeof(r->topic), "produced");
	return r;
}

static void rig_close(struct rig *r, uint64_t timeout_ms)
{
	kafka_producer_free(r->p, timeout_ms, freed, r);
	RUN_UNTIL(&r->loop, r->freed);
	turns_end(&r->loop);
	free(r);
}

static int produce(struct rig *r, size_t i)
{
	char key[16];
	char value[16];
	struct kafka_message m = { .topic = r->topic,
				   .content_type = "text/plain" };

	(void)snprintf(key, sizeof(key), "key-%zu", i % KEYS);
	(void)snprintf(value, sizeof(value), "%zu", i);
	m.key = bytes_str(key);
	m.value = bytes_str(value);
	return kafka_produce(r->p, &m, (void *)(uintptr_t)(i + 1));
}

/* As much as goes in; true once n are in and reported. */
static bool produced(struct rig *r, size_t n)
{
	while (r->next < n) {
		int rv = produce(r, r->next);

		if (rv == ERR_BUSY) {
			break;
		}
		cr_assert_eq(rv, 0);
		r->next++;
	}
	return r->good == n;
}

static void created(void *ctx, int error, const char *why)
{
	struct rig *r = ctx;

	r->called++;
	r->error = error;
	if (error != 0) {
		fprintf(stderr, "topics: %s\n", why);
	}
}

static void ended(void *ctx, int error, const struct kafka_end *ends, size_t n)
{
	struct rig *r = ctx;

	cr_assert(!r->freed);
	r->called++;
	r->error = error;
	r->ends = n;
	r->ends_sum = 0;
	for (size_t i = 0; i < n; i++) {
		r->ends_sum += ends[i].end_offset;
	}
}

/* Topics of three replicas on a cluster of one; and again, when one of them
 * is there already. */
Test(kafka_producer, creates_missing_topics)
{
	struct rig *r = rig(kafka_broker(), NULL, 0);
	char other[80];
	struct kafka_topic_spec specs[] = {
		{ r->topic, 4, 3600000, 2, 3 },
		{ other, 2, 3600000, 2, 3 },
	};

	(void)snprintf(other, sizeof(other), "%s-2", r->topic);
	kafka_create_topics(r->p, specs, 1, created, r);
	cr_assert_eq(r->called, 0);
	RUN_UNTIL(&r->loop, r->called == 1);
	cr_assert_eq(r->error, 0);
	kafka_create_topics(r->p, specs, 2, created, r);
	RUN_UNTIL(&r->loop, r->called == 2);
	cr_assert_eq(r->error, 0);
	/* acks=all would fail for ever with min.insync.replicas at 2. */
	RUN_UNTIL(&r->loop, produced(r, 1));
	kafka_end_offsets(r->p, (const char *const[]){ r->topic, other }, 2,
			  10000, ended, r);
	RUN_UNTIL(&r->loop, r->called == 3);
	cr_assert_eq(r->error, 0);
	cr_assert_eq(r->ends, 6);
	cr_assert_eq(r->ends_sum, 1);
	rig_close(r, 5000);
}

static void check_order(const struct rig *r)
{
	struct kafka_seen *seen;
	size_t n = kafka_broker_read(r->topic, &seen);
	long last[KEYS];

	cr_assert_eq(n, MESSAGES_MAX);
	for (size_t i = 0; i < KEYS; i++) {
		last[i] = -1;
	}
	for (size_t i = 0; i < n; i++) {
		long value = strtol(seen[i].value, NULL, 10);
		long key = strtol(seen[i].key + strlen("key-"), NULL, 10);

		cr_assert_eq(value % KEYS, key);
		cr_assert_gt(value, last[key], "key %ld out of order", key);
		last[key] = value;
		cr_assert_str_eq(seen[i].content_type, "text/plain");
	}
	kafka_broker_forget(seen, n);
}

/* A queue of 500 makes ERR_BUSY come, and go with the reports; a turn's budget
 * is smaller than the reports that lie there. */
Test(kafka_producer, ten_thousand_arrive_in_order, .timeout = 60)
{
	struct config_pair pairs[] = { { "queue.buffering.max.messages",
					 "500" } };
	struct rig *r = rig(kafka_broker(), pairs, 1);
	size_t busy;

	kafka_broker_create(r->topic, 3);
	cr_assert(!produced(r, MESSAGES_MAX));
	busy = r->next;
	cr_assert_eq(busy, 500, "busy after %zu", busy);
	RUN_UNTIL(&r->loop, produced(r, MESSAGES_MAX));
	cr_assert_eq(r->reports, MESSAGES_MAX);
	check_order(r);
	rig_close(r, 5000);
}

/* All reports lie in the queue, in a hundred events, when the loop first looks.
 * Without the arming after a spent budget the rest would stay there: the queue
 * is not empty, so nothing that arrives later wakes us either. */
Test(kafka_producer, reports_beyond_a_turns_budget, .timeout = 60)
{
	struct config_pair pairs[] = { { "batch.num.messages", "100" } };
	struct rig *r = rig(kafka_broker(), pairs, 1);
	struct kafka_seen *seen;
	size_t n = 0;

	kafka_broker_create(r->topic, 1);
	cr_assert(!produced(r, MESSAGES_MAX));
	cr_assert_eq(r->next, MESSAGES_MAX);
	for (int tries = 0; tries < 100 && n < MESSAGES_MAX; tries++) {
		n = kafka_broker_read(r->topic, &seen);
		kafka_broker_forget(seen, n);
	}
	cr_assert_eq(n, MESSAGES_MAX);
	cr_assert_eq(r->reports, 0);
	RUN_UNTIL(&r->loop, produced(r, MESSAGES_MAX));
	rig_close(r, 5000);
}

/* The hashes are those of Java's own test of its murmur2. */
Test(kafka_producer, partitions_as_java_does)
{
	static const struct {
		const char *key;
		int32_t hash;
	} known[] = { { "21", -973932308 },
		      { "foobar", -790332482 },
		      { "a-little-bit-long-string", -985981536 },
		      { "a-little-bit-longer-string", -1486304829 } };
	enum { KNOWN = sizeof(known) / sizeof(known[0]), PARTITIONS = 7 };
	struct rig *r = rig(kafka_broker(), NULL, 0);
	struct kafka_seen *seen;
	size_t n;

	kafka_broker_create(r->topic, PARTITIONS);
	for (size_t i = 0; i < KNOWN; i++) {
		struct kafka_message m = { .topic = r->topic,
					   .key = bytes_str(known[i].key),
					   .value = BYTES("") };

		cr_assert_eq(kafka_produce(r->p, &m, (void *)(i + 1)), 0);
	}
	RUN_UNTIL(&r->loop, r->good == KNOWN);
	n = kafka_broker_read(r->topic, &seen);
	cr_assert_eq(n, KNOWN);
	for (size_t i = 0; i < KNOWN; i++) {
		for (size_t k = 0; k < n; k++) {
			if (strcmp(seen[k].key, known[i].key) == 0) {
				cr_assert_eq(seen[k].partition,
					     (known[i].hash & 0x7fffffff) %
						     PARTITIONS);
				cr_assert_null(seen[k].content_type);
			}
		}
	}
	kafka_broker_forget(seen, n);
	rig_close(r, 5000);
}

Test(kafka_producer, no_end_offsets_of_a_missing_topic)
{
	struct rig *r = rig(kafka_broker(), NULL, 0);

	kafka_end_offsets(r->p, (const char *const[]){ r->topic }, 1, 10000,
			  ended, r);
	RUN_UNTIL(&r->loop, r->called == 1);
	cr_assert_eq(r->error, ERR_NOT_READY);
	cr_assert_eq(r->ends, 0);
	rig_close(r, 5000);
}

/* F48: the instance is dead for ever, a new one goes on; what was not reported
 * is, before renewed(), and arrives when it is sent again. */
Test(kafka_producer, fatal_error_renews)
{
	enum { COUNT = 500 };
	struct config_pair pairs[] = { { "linger.ms", "200" } };
	struct rig *r = rig(kafka_broker(), pairs, 1);
	struct kafka_seen *seen;
	size_t n;

	kafka_broker_create(r->topic, 2);
	cr_assert(!produced(r, COUNT));
	cr_assert_eq(r->next, COUNT);
	cr_assert_eq(rd_kafka_test_fatal_error(
			     r->p->rk,
			     RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
			     "made by a test"),
		     0);
	RUN_UNTIL(&r->loop, r->renewed == 1);
	cr_assert_eq(r->reports_at_renewal, COUNT);
	cr_assert_eq(r->p->outstanding, 0);
	for (size_t i = 0; i < COUNT; i++) {
		if (!r->done[i]) {
			cr_assert_eq(produce(r, i), 0);
		}
	}
	RUN_UNTIL(&r->loop, r->good == COUNT);
	cr_assert_eq(r->renewed, 1);
	n = kafka_broker_read(r->topic, &seen);
	cr_assert_geq(n, COUNT);
	kafka_broker_forget(seen, n);
	rig_close(r, 5000);
}

/* Freeing sends what lingers, and reports it, before it is done. */
Test(kafka_producer, free_flushes)
{
	struct config_pair pairs[] = { { "linger.ms", "60000" } };
	struct rig *r = rig(kafka_broker(), pairs, 1);
	size_t good;

	kafka_broker_create(r->topic, 1);
	cr_assert(!produced(r, 100));
	kafka_producer_free(r->p, 8000, freed, r);
	cr_assert_eq(produce(r, 100), ERR_CLOSED);
	RUN_UNTIL(&r->loop, r->freed);
	good = r->good;
	cr_assert_eq(good, 100, "%zu", good);
	turns_end(&r->loop);
	free(r);
}

Test(kafka_producer, free_without_a_broker_keeps_its_deadline)
{
	struct rig *r = rig(nobody, NULL, 0);
	uint64_t start;

	cr_assert(!produced(r, 10));
	cr_assert_eq(r->next, 10);
	start = clock_mono_ms();
	kafka_producer_free(r->p, 300, freed, r);
	RUN_UNTIL(&r->loop, r->freed);
	cr_assert_lt(clock_mono_ms() - start,
		     300 + (uint64_t)KAFKA_DESTROY_MAX_MS);
	cr_assert_eq(r->reports, 10);
	cr_assert_eq(r->good, 0);
	turns_end(&r->loop);
	free(r);
}

/* Whoever asked hears of it before the producer is gone. */
Test(kafka_producer, free_ends_admin_calls)
{
	struct rig *r = rig(nobody, NULL, 0);

	kafka_end_offsets(r->p, (const char *const[]){ r->topic }, 1, 3000,
			  ended, r);
	kafka_producer_free(r->p, 100, freed, r);
	RUN_UNTIL(&r->loop, r->freed);
	cr_assert_eq(r->called, 1);
	cr_assert_eq(r->error, UV_ECANCELED);
	turns_end(&r->loop);
	free(r);
}

Test(kafka_producer, ready_follows_the_connection)
{
	struct rig *r = rig(kafka_broker(), NULL, 0);
	struct rig *alone = rig(nobody, NULL, 0);

	cr_assert(!kafka_producer_ready(r->p));
	RUN_UNTIL(&r->loop, kafka_producer_ready(r->p));
	uv_run(&alone->loop, UV_RUN_NOWAIT);
	cr_assert(!kafka_producer_ready(alone->p));
	rig_close(r, 100);
	rig_close(alone, 100);
}

Test(kafka_producer, bad_properties_are_refused)
{
	struct config_pair unknown = { "no.such.property", "1" };
	struct config_pair conflict = { "acks", "1" };
	struct kafka_producer *p = NULL;
	uv_loop_t loop;

	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(kafka_producer_new(&loop, nobody, &unknown, 1, delivered,
					renewed, NULL, &p),
		     ERR_CONFIG);
	cr_assert_eq(kafka_producer_new(&loop, nobody, &conflict, 1, delivered,
					renewed, NULL, &p),
		     ERR_CONFIG);
	cr_assert_null(p);
	turns_end(&loop);
}
