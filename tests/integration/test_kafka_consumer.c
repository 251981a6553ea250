/* The consumer against a real broker. */
#include "client/kafka.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/kafka_consumer.h"
#include "lib/kafka_broker.h"
#include "lib/turns.h"

enum {
	TAKE_MAX = 64,
	PARTITIONS_MAX = 8,
};

/* One consumer, which takes at most budget messages each time it is told. */
struct member {
	struct kafka_consumer *c;
	size_t budget;
	int64_t first_offset; /* to assign, if not negative */
	bool answer_late;     /* leave assigned() to the test */
	bool hold;            /* keep the batch until unassigned */
	rd_kafka_topic_partition_list_t *unanswered;
	void *held;
	int partitions; /* assigned now */
	int assignments;
	int revocations;
	int failures;
	size_t taken;
	int64_t next[PARTITIONS_MAX]; /* offset expected, 0 for any */
	int64_t lowest;
	bool freed;
};

static void answer(struct member *m, rd_kafka_topic_partition_list_t *list)
{
	for (int i = 0; m->first_offset >= 0 && i < list->cnt; i++) {
		list->elems[i].offset = m->first_offset;
	}
	m->partitions = list->cnt;
	memset(m->next, 0, sizeof(m->next));
	kafka_consumer_assign(m->c, list);
	rd_kafka_topic_partition_list_destroy(list);
}

static void assigned(void *ctx, rd_kafka_topic_partition_list_t *list)
{
	struct member *m = ctx;

	m->assignments++;
	for (int i = 0; i < list->cnt; i++) {
		cr_assert_eq(list->elems[i].offset, RD_KAFKA_OFFSET_BEGINNING);
	}
	if (m->answer_late) {
		m->unanswered = list;
		return;
	}
	answer(m, list);
}

static void revoked(void *ctx, bool lost)
{
	struct member *m = ctx;

	cr_assert(!lost);
	m->revocations++;
	m->partitions = 0;
	kafka_consumer_unassign(m->c);
	kafka_consumer_release(m->c, m->held);
	m->held = NULL;
}

static void look_at(struct member *m, const struct kafka_record *r)
{
	int64_t *next = &m->next[r->partition];

	cr_assert_lt(r->partition, PARTITIONS_MAX);
	cr_assert(*next == 0 || r->offset == *next,
		  "offset %lld, expected %lld", (long long)r->offset,
		  (long long)*next);
	cr_assert(bytes_eq(r->value, BYTES("value")));
	cr_assert_gt(r->timestamp_ms, 0);
	*next = r->offset + 1;
	m->lowest =
		m->taken == 0 || r->offset < m->lowest ? r->offset : m->lowest;
	m->taken++;
}

static void readable(void *ctx)
{
	struct member *m = ctx;
	struct kafka_record records[TAKE_MAX];
	void *batch;
	size_t n;

	cr_assert_null(m->held);
	n = kafka_consumer_take(m->c, m->budget, records, &batch);
	cr_assert(n > 0 && n <= m->budget);
	for (size_t i = 0; i < n; i++) {
		look_at(m, &records[i]);
	}
	if (m->hold) {
		m->held = batch;
		return;
	}
	kafka_consumer_release(m->c, batch);
}

static void failed(void *ctx, rd_kafka_resp_err_t error, const char *why,
		   bool fatal)
{
	struct member *m = ctx;

	(void)error;
	m->failures++;
	fprintf(stderr, "consumer failed: %s%s\n", why,
		fatal ? " (fatal)" : "");
}

static void freed(void *ctx)
{
	struct member *m = ctx;

	m->freed = true;
}

static const struct kafka_consumer_ops ops = { assigned, revoked, readable,
					       failed };

static void join(struct member *m, uv_loop_t *loop, const char *bootstrap,
		 const char *topic, const struct config_pair *pairs, size_t n)
{
	m->budget = m->budget == 0 ? TAKE_MAX : m->budget;
	/* The topic is nobody else's, so its name can be the group's. */
	cr_assert_eq(kafka_consumer_new(loop, bootstrap, topic,
					(const char *const[]){ topic }, 1,
					pairs, n, &ops, m, &m->c),
		     0);
}

/* A consumer that is alone in a group of its own, to see what is there. */
static void watch(struct member *m, uv_loop_t *loop, const char *topic)
{
	char group[80];

	(void)snprintf(group, sizeof(group), "%s-witness", topic);
	m->budget = TAKE_MAX;
	cr_assert_eq(kafka_consumer_new(loop, kafka_broker(), group,
					(const char *const[]){ topic }, 1, NULL,
					0, &ops, m, &m->c),
		     0);
}

static void leave(struct member *m, uv_loop_t *loop)
{
	kafka_consumer_release(m->c, m->held);
	m->held = NULL;
	kafka_consumer_free(m->c, 5000, freed, m);
	RUN_UNTIL(loop, m->freed);
}

/* Delivered when this returns. */
static void fill(const char *topic, int32_t partition, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		kafka_broker_produce(topic, partition, BYTES("key"),
				     BYTES("value"));
	}
}

struct filler {
	size_t good;
	bool freed;
};

static void filled(void *ctx, void *opaque, rd_kafka_resp_err_t error)
{
	struct filler *f = ctx;

	(void)opaque;
	cr_assert_eq(error, 0);
	f->good++;
}

static void filler_renewed(void *ctx)
{
	(void)ctx;
}

static void filler_freed(void *ctx)
{
	((struct filler *)ctx)->freed = true;
}

/* Many messages at once, by our own producer. */
static void fill_many(uv_loop_t *loop, const char *topic, size_t count)
{
	struct filler f = { 0 };
	struct kafka_producer *p;

	cr_assert_eq(kafka_producer_new(loop, kafka_broker(), NULL, 0, filled,
					filler_renewed, &f, &p),
		     0);
	for (size_t i = 0; i < count; i++) {
		struct kafka_message m = { .topic = topic,
					   .key = bytes_make(&i, sizeof(i)),
					   .value = BYTES("value") };

		cr_assert_eq(kafka_produce(p, &m, NULL), 0);
	}
	RUN_UNTIL(loop, f.good == count);
	kafka_producer_free(p, 1000, filler_freed, &f);
	RUN_UNTIL(loop, f.freed);
}

static void new_topic(char *topic, size_t n, int partitions)
{
	kafka_broker_topic(topic, n, "consumed");
	kafka_broker_create(topic, partitions);
}

/* F45: what was produced before the group existed is not skipped. */
Test(kafka_consumer, begins_at_the_earliest)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	new_topic(topic, sizeof(topic), 2);
	fill(topic, 0, 3);
	fill(topic, 1, 2);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.taken == 5);
	cr_assert_eq(m.lowest, 0);
	cr_assert_eq(m.failures, 0);
	leave(&m, &loop);
	turns_end(&loop);
}

/* An edge-triggered wake-up tells once of a thousand messages. */
Test(kafka_consumer, budget_smaller_than_the_backlog)
{
	struct member m = { .first_offset = -1, .budget = 7 };
	uv_loop_t loop;
	char topic[64];

	new_topic(topic, sizeof(topic), 3);
	cr_assert_eq(uv_loop_init(&loop), 0);
	fill_many(&loop, topic, 1000);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.taken == 1000);
	fill_many(&loop, topic, 8);
	RUN_UNTIL(&loop, m.taken == 1008);
	leave(&m, &loop);
	turns_end(&loop);
}

/* The owner looks its offsets up somewhere slow, and answers later. */
Test(kafka_consumer, begins_where_the_owner_says)
{
	struct member m = { .first_offset = 4, .answer_late = true };
	uv_loop_t loop;
	char topic[64];

	new_topic(topic, sizeof(topic), 1);
	fill(topic, 0, 6);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.unanswered != NULL);
	cr_assert_eq(m.taken, 0);
	answer(&m, m.unanswered);
	RUN_UNTIL(&loop, m.taken == 2);
	cr_assert_eq(m.lowest, 4);
	leave(&m, &loop);
	turns_end(&loop);
}

/* While one pauses another group reads all there is; after the resume nothing
 * is missing and nothing comes twice (look_at() compares offsets). */
Test(kafka_consumer, pauses_and_resumes)
{
	struct member m = { .first_offset = -1, .budget = 10 };
	struct member witness = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];
	size_t taken;

	new_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	fill_many(&loop, topic, 50);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.taken > 0);
	kafka_consumer_pause(m.c);
	taken = m.taken;
	fill_many(&loop, topic, 50);
	watch(&witness, &loop, topic);
	RUN_UNTIL(&loop, witness.taken == 100);
	cr_assert_eq(m.taken, taken);
	/* They lie with the broker, not in our memory. */
	cr_assert_leq(m.c->waiting.count, 1);
	kafka_consumer_resume(m.c);
	RUN_UNTIL(&loop, m.taken == 100);
	leave(&m, &loop);
	leave(&witness, &loop);
	turns_end(&loop);
}

/* Partitions that come during a pause are paused too. */
Test(kafka_consumer, a_pause_covers_new_partitions)
{
	struct member m = { .first_offset = -1 };
	struct member witness = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	new_topic(topic, sizeof(topic), 1);
	fill(topic, 0, 3);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	kafka_consumer_pause(m.c);
	RUN_UNTIL(&loop, m.partitions == 1);
	watch(&witness, &loop, topic);
	RUN_UNTIL(&loop, witness.taken == 3);
	/* Rounds that give the paused one time to do wrong. */
	for (size_t i = 1; i <= 5; i++) {
		fill(topic, 0, 1);
		RUN_UNTIL(&loop, witness.taken == 3 + i);
	}
	cr_assert_eq(m.taken, 0);
	cr_assert_eq(m.c->waiting.count, 0);
	kafka_consumer_resume(m.c);
	RUN_UNTIL(&loop, m.taken == 8);
	leave(&m, &loop);
	leave(&witness, &loop);
	turns_end(&loop);
}

/* One gives half of its partitions to a newcomer, with a batch still in hand,
 * and gets them back when that one leaves. */
Test(kafka_consumer, shares_with_a_newcomer, .timeout = 60)
{
	struct member a = { .first_offset = -1, .hold = true };
	struct member b = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	new_topic(topic, sizeof(topic), 4);
	fill(topic, 0, 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&a, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, a.held != NULL);
	cr_assert_eq(a.partitions, 4);
	a.hold = false;
	join(&b, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, a.partitions == 2 && b.partitions == 2);
	cr_assert_null(a.held);
	cr_assert_eq(a.revocations, 1);
	/* Whose are the first two is chance: it goes by random member ids. */
	fill(topic, 0, 2);
	fill(topic, 3, 2);
	RUN_UNTIL(&loop,
		  a.next[0] + b.next[0] == 3 && a.next[3] + b.next[3] == 2);
	cr_assert((a.next[0] == 3) != (a.next[3] == 2), "one has both");
	leave(&b, &loop);
	RUN_UNTIL(&loop, a.partitions == 4);
	fill(topic, 3, 1);
	RUN_UNTIL(&loop, a.next[3] == 3);
	cr_assert_eq(a.failures + b.failures, 0);
	leave(&a, &loop);
	turns_end(&loop);
}

/* Nothing arrives for longer than max.poll.interval.ms: still a member. */
Test(kafka_consumer, stays_in_the_group_when_idle, .timeout = 60)
{
	struct config_pair pairs[] = { { "max.poll.interval.ms", "6000" },
				       { "session.timeout.ms", "6000" } };
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];
	uint64_t end;

	new_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, kafka_broker(), topic, pairs, 2);
	RUN_UNTIL(&loop, m.partitions == 1);
	end = clock_mono_ms() + 7500;
	RUN_UNTIL(&loop, clock_mono_ms() > end);
	fill(topic, 0, 1);
	RUN_UNTIL(&loop, m.taken == 1);
	cr_assert_eq(m.revocations, 0);
	cr_assert_eq(m.failures, 0);
	leave(&m, &loop);
	turns_end(&loop);
}

/* It may start before the topic exists. */
Test(kafka_consumer, finds_a_topic_made_later)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];

	kafka_broker_topic(topic, sizeof(topic), "later");
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.failures > 0); /* it says that there is none */
	kafka_broker_create(topic, 1);
	fill(topic, 0, 1);
	RUN_UNTIL(&loop, m.taken == 1);
	leave(&m, &loop);
	turns_end(&loop);
}

/* Nobody will answer any more; the end does not wait for it. */
Test(kafka_consumer, is_freed_with_an_assignment_unanswered)
{
	struct member m = { .first_offset = -1, .answer_late = true };
	uv_loop_t loop;
	char topic[64];
	uint64_t start;

	new_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	RUN_UNTIL(&loop, m.unanswered != NULL);
	start = clock_mono_ms();
	leave(&m, &loop);
	cr_assert_lt(clock_mono_ms() - start, 5000, "it was abandoned");
	rd_kafka_topic_partition_list_destroy(m.unanswered);
	turns_end(&loop);
}

Test(kafka_consumer, is_freed_without_a_broker)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	uint64_t start = clock_mono_ms();

	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, "127.0.0.1:1", "nothing", NULL, 0);
	RUN_UNTIL(&loop, m.failures > 0); /* all brokers are down */
	leave(&m, &loop);
	cr_assert_lt(clock_mono_ms() - start, 8000);
	turns_end(&loop);
}

Test(kafka_consumer, knows_the_cluster)
{
	struct member m = { .first_offset = -1 };
	uv_loop_t loop;
	char topic[64];
	char *id;

	new_topic(topic, sizeof(topic), 1);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&m, &loop, kafka_broker(), topic, NULL, 0);
	id = kafka_consumer_cluster_id(m.c, 10000);
	cr_assert_not_null(id);
	cr_assert_eq(strlen(id), 22);
	free(id);
	leave(&m, &loop);
	turns_end(&loop);
}
