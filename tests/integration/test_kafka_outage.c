/* A broker that goes away, and comes back. */
#include "client/kafka.h"

#include <stdlib.h>

#include "base/clock.h"
#include "lib/kafka_broker.h"
#include "lib/kafka_own.h"
#include "lib/turns.h"

enum {
	COUNT = 500,
};

struct producing {
	size_t good;
	size_t bad;
	int renewed;
	bool freed;
};

static void delivered(void *ctx, void *opaque, rd_kafka_resp_err_t error)
{
	struct producing *s = ctx;

	(void)opaque;
	s->good += error == 0;
	s->bad += error != 0;
}

static void renewed(void *ctx)
{
	((struct producing *)ctx)->renewed++;
}

static void freed(void *ctx)
{
	*(bool *)ctx = true;
}

static void produce(struct kafka_producer *p, const char *topic, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct kafka_message m = { .topic = topic,
					   .key = BYTES("one key"),
					   .value = BYTES("value") };

		cr_assert_eq(kafka_produce(p, &m, NULL), 0);
	}
}

/* Everything arrives, once: the retries are the idempotent producer's. */
Test(kafka_outage, produces_across_a_restart, .timeout = 120)
{
	struct producing s = { 0 };
	struct kafka_producer *p;
	struct kafka_own broker;
	struct kafka_seen *seen;
	uv_loop_t loop;
	char topic[64];
	size_t n;

	kafka_own_start(&broker);
	cr_assert_eq(setenv("KAFKA_BOOTSTRAP", broker.address, 1), 0);
	kafka_broker_topic(topic, sizeof(topic), "outage");
	kafka_broker_create(topic, 3);
	cr_assert_eq(uv_loop_init(&loop), 0);
	cr_assert_eq(kafka_producer_new(&loop, broker.address, NULL, 0,
					delivered, renewed, &s, &p),
		     0);
	produce(p, topic, COUNT);
	RUN_UNTIL(&loop, s.good == COUNT);
	cr_assert(kafka_producer_ready(p));
	produce(p, topic, COUNT); /* some of these are under way */
	kafka_own_stop(&broker);
	produce(p, topic, COUNT);
	RUN_UNTIL(&loop, !kafka_producer_ready(p));
	kafka_own_restart(&broker);
	/* A broker that has just started on a busy machine is slow. */
	RUN_UNTIL_MS(&loop, 60000, s.good == 3 * COUNT);
	RUN_UNTIL(&loop, kafka_producer_ready(p));
	cr_assert_eq(s.bad, 0);
	cr_assert_eq(s.renewed, 0);
	n = kafka_broker_read(topic, &seen);
	cr_assert_eq(n, 3 * COUNT);
	kafka_broker_forget(seen, n);
	kafka_producer_free(p, 1000, freed, &s.freed);
	RUN_UNTIL(&loop, s.freed);
	turns_end(&loop);
	kafka_own_close(&broker);
}

struct consuming {
	struct kafka_consumer *c;
	bool assigned;
	bool down;
	bool freed;
};

static void assigned(void *ctx, rd_kafka_topic_partition_list_t *list)
{
	struct consuming *s = ctx;

	kafka_consumer_assign(s->c, list);
	rd_kafka_topic_partition_list_destroy(list);
	s->assigned = true;
}

static void revoked(void *ctx, bool lost)
{
	(void)lost;
	kafka_consumer_unassign(((struct consuming *)ctx)->c);
}

static void readable(void *ctx)
{
	(void)ctx;
	cr_assert_fail("nothing was produced");
}

static void failed(void *ctx, rd_kafka_resp_err_t error, const char *why,
		   bool fatal)
{
	struct consuming *s = ctx;

	(void)why;
	cr_assert(!fatal);
	s->down = s->down || error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN;
}

static const struct kafka_consumer_ops ops = { assigned, revoked, readable,
					       failed };

static void join(struct consuming *s, uv_loop_t *loop, const char *bootstrap,
		 const char *topic)
{
	cr_assert_eq(kafka_consumer_new(loop, bootstrap, topic,
					(const char *const[]){ topic }, 1, NULL,
					0, &ops, s, &s->c),
		     0);
	RUN_UNTIL(loop, s->assigned);
}

static void leave(struct consuming *s, uv_loop_t *loop)
{
	uint64_t start = clock_mono_ms();

	kafka_consumer_free(s->c, 3000, freed, &s->freed);
	RUN_UNTIL(loop, s->freed);
	cr_assert_lt(clock_mono_ms() - start, 4000);
}

/* A member whose coordinator is dead: one that has noticed and one that has
 * not. To say goodbye then is what can hang or crash librdkafka. */
Test(kafka_outage, members_leave_after_the_brokers_death, .timeout = 120)
{
	struct consuming noticed = { 0 };
	struct consuming unaware = { 0 };
	struct kafka_own broker;
	uv_loop_t loop;
	char topic[64];
	char other[80];

	kafka_own_start(&broker);
	cr_assert_eq(setenv("KAFKA_BOOTSTRAP", broker.address, 1), 0);
	kafka_broker_topic(topic, sizeof(topic), "outage");
	kafka_broker_create(topic, 2);
	(void)snprintf(other, sizeof(other), "%s-2", topic);
	kafka_broker_create(other, 2);
	cr_assert_eq(uv_loop_init(&loop), 0);
	join(&noticed, &loop, broker.address, topic);
	join(&unaware, &loop, broker.address, other);
	kafka_own_kill(&broker);
	leave(&unaware, &loop);
	RUN_UNTIL(&loop, noticed.down);
	leave(&noticed, &loop);
	turns_end(&loop);
	kafka_own_close(&broker);
}
