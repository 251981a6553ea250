/* Kafka loses the topic of claims while an activity is open: it is made anew,
 * and what is won goes on. Needs a broker. */
#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;

static void start(void)
{
	rig_open(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(relay_topic_lost, .init = start, .fini = stop, .timeout = 90);

static void win(const char *user)
{
	struct rig_got got;

	rig_grab(&rig, 0, "a", user, &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
}

static void delete_topic(const char *name)
{
	char why[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(name);
	rd_kafka_queue_t *queue;
	rd_kafka_event_t *event;
	rd_kafka_t *rk;

	cr_assert_eq(rd_kafka_conf_set(conf, "bootstrap.servers", rig_kafka(),
				       why, sizeof why),
		     RD_KAFKA_CONF_OK);
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
	cr_assert_not_null(rk);
	queue = rd_kafka_queue_new(rk);
	rd_kafka_DeleteTopics(rk, &topic, 1, NULL, queue);
	event = rd_kafka_queue_poll(queue, 10000);
	cr_assert_not_null(event);
	cr_assert_eq(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
	rd_kafka_event_destroy(event);
	rd_kafka_DeleteTopic_destroy(topic);
	rd_kafka_queue_destroy(queue);
	rd_kafka_destroy(rk);
}

Test(relay_topic_lost, it_is_made_anew)
{
	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
	delete_topic(rig.topic[1]);
	win("u2");
	win("u3");
	rig_until_relay(&rig, "a", "claims", "3");
}

/* Of the other topic something is delivered all the time. */
static void change_b(void)
{
	static int turns;
	const char *step = turns++ % 2 == 0 ? "pause" : "resume";

	RUN(&rig.redis, &lua_activity, "b", step, "", "");
}

/* Kafka takes some more before a topic that was deleted is gone. */
static bool is_noticed(void)
{
	static int turns;
	char user[16];

	change_b();
	if (turns % 16 == 0) {
		(void)snprintf(user, sizeof user, "v%d", turns);
		win(user);
	}
	turns++;
	return strcmp(rig_relay(&rig, "a", "generation"), "1") != 0;
}

static bool is_published(void)
{
	char claims[24];

	change_b();
	(void)snprintf(claims, sizeof claims, "%s",
		       redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"));
	return strcmp(rig_relay(&rig, "a", "claims"), claims) == 0;
}

/* A topic that is there again is not yet known to be there by all: what else
 * is delivered meanwhile is no word about it. */
Test(relay_topic_lost, all_is_published_again_once)
{
	lua_open(&rig.redis, "a", 5000);
	lua_open(&rig.redis, "b", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a b");
	rig_service(&rig, 0, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
	rig_until_relay(&rig, "b", "events", "3");
	delete_topic(rig.topic[1]);
	RUN_UNTIL(&rig.loop, is_noticed());
	RUN_UNTIL(&rig.loop, is_published());
	/* Taken, let go of to be published again, taken. */
	cr_assert_str_eq(rig_relay(&rig, "a", "generation"), "3");
}
