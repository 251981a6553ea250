#include "lib/kafka_member.h"

#include "lib/kafka_broker.h"
#include "lib/turns.h"

void member_answer(struct member *m, rd_kafka_topic_partition_list_t *list)
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
	member_answer(m, list);
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

void member_join(struct member *m, uv_loop_t *loop, const char *bootstrap,
		 const char *topic, const struct config_pair *pairs, size_t n)
{
	m->budget = m->budget == 0 ? TAKE_MAX : m->budget;
	/* The topic is nobody else's, so its name can be the group's. */
	cr_assert_eq(kafka_consumer_new(loop, bootstrap, topic,
					(const char *const[]){ topic }, 1,
					pairs, n, &ops, m, &m->c),
		     0);
}

void member_watch(struct member *m, uv_loop_t *loop, const char *topic)
{
	char group[80];

	(void)snprintf(group, sizeof(group), "%s-witness", topic);
	m->budget = TAKE_MAX;
	cr_assert_eq(kafka_consumer_new(loop, kafka_broker(), group,
					(const char *const[]){ topic }, 1, NULL,
					0, &ops, m, &m->c),
		     0);
}

void member_leave(struct member *m, uv_loop_t *loop)
{
	kafka_consumer_release(m->c, m->held);
	m->held = NULL;
	kafka_consumer_free(m->c, 5000, freed, m);
	RUN_UNTIL(loop, m->freed);
}

void member_fill(const char *topic, int32_t partition, size_t count)
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

void member_fill_many(uv_loop_t *loop, const char *topic, size_t count)
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

void member_topic(char *topic, size_t n, int partitions)
{
	kafka_broker_topic(topic, n, "consumed");
	kafka_broker_create(topic, partitions);
}
