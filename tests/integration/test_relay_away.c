/* Kafka goes away, refuses, or does not say what became of a message: what is
 * under way stays bounded, nothing is lost, and it goes on by itself.
 * librdkafka's mock plays Kafka. */
#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>

/* After rdkafka.h. */
#include <librdkafka/rdkafka_mock.h>

#include "client/kafka_metrics.h"
#include "client/kafka_producer.h"
#include "grab-service/track.h"
#include "lib/grab_rig.h"
#include "lib/kafka_read.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"
#include "rain/gateway.pb-c.h"

enum { WINDOW = 100, PRODUCE = 0, CLAIMS = 600 };

static struct grab_rig rig;
static rd_kafka_t *host;
static rd_kafka_mock_cluster_t *mock;
static int seen[CLAIMS + 1];

static void start(void)
{
	char text[256];

	rig_open(&rig);
	host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text,
			    sizeof text);
	cr_assert_not_null(host);
	mock = rd_kafka_mock_cluster_new(host, 1);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rd_kafka_mock_topic_create(mock, rig.topic[i],
							RIG_PARTITIONS, 1),
			     RD_KAFKA_RESP_ERR_NO_ERROR);
	}
	cr_assert_eq(setenv("KAFKA_BOOTSTRAP",
			    rd_kafka_mock_cluster_bootstraps(mock), 1),
		     0);
	lua_open(&rig.redis, "a", CLAIMS);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
}

static void stop(void)
{
	rig_close(&rig);
	rd_kafka_mock_cluster_destroy(mock);
	rd_kafka_destroy(host);
}

TestSuite(relay_away, .init = start, .fini = stop, .timeout = 90);

static void small_window(struct grab_options *o)
{
	o->window_max = WINDOW;
	o->flush_ms = 100;
}

static struct track *track(void)
{
	return directory_find(rig.services[0].env.directory, BYTES("a"))->track;
}

static void win(int from, int n)
{
	struct rig_got *got = calloc((size_t)n, sizeof *got);

	for (int k = 0; k < n; k++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", from + k);
		rig_put(&rig, 0, LANE_GRAB, "a", user, &got[k]);
	}
	rig_pump(&rig, 0, LANE_GRAB, "a");
	for (int k = 0; k < n; k++) {
		RUN_UNTIL(&rig.loop, got[k].done);
		cr_assert_eq(got[k].status, RAIN__STATUS__WON);
		cr_assert_leq(track()->outstanding, WINDOW + 3);
	}
	free(got);
}

static void see(void *ctx, const rd_kafka_message_t *m)
{
	Rain__ClaimEvent *e =
		proto_unpack(&rain__claim_event__descriptor,
			     bytes_make(m->payload, m->len), 65536);

	(void)ctx;
	cr_assert_not_null(e);
	cr_assert(e->seq >= 1 && e->seq <= CLAIMS);
	seen[e->seq]++;
	proto_free(e);
}

static void expect_all(void)
{
	kafka_read(rig_kafka(), rig.topic[1], RIG_PARTITIONS, see, NULL);
	for (int i = 1; i <= CLAIMS; i++) {
		cr_assert_gt(seen[i], 0, "seq %d is missing", i);
	}
}

Test(relay_away, broker_that_is_down_bounds_the_window)
{
	rig_service(&rig, 0, true, small_window);
	win(0, 100);
	rig_until_relay(&rig, "a", "claims", "100");
	cr_assert_eq(rd_kafka_mock_broker_set_down(mock, 1),
		     RD_KAFKA_RESP_ERR_NO_ERROR);
	/* Users notice nothing of it. */
	win(100, 500);
	RUN_UNTIL(&rig.loop, track()->outstanding == WINDOW);
	cr_assert_eq(track()->claims.sent - track()->claims.done, WINDOW);
	cr_assert_str_eq(rig_relay(&rig, "a", "claims"), "100");
	cr_assert_eq(rd_kafka_mock_broker_set_up(mock, 1),
		     RD_KAFKA_RESP_ERR_NO_ERROR);
	rig_until_relay(&rig, "a", "claims", "600");
	expect_all();
}

Test(relay_away, refused_messages_are_read_again)
{
	uint32_t epoch;

	rig_service(&rig, 0, true, small_window);
	win(0, 10);
	rig_until_relay(&rig, "a", "claims", "10");
	epoch = track()->epoch;
	rd_kafka_mock_push_request_errors(
		mock, PRODUCE, 2, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
		RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
	win(10, CLAIMS - 10);
	rig_until_relay(&rig, "a", "claims", "600");
	cr_assert_gt(track()->epoch, epoch, "it started again");
	expect_all();
}

/* F48: the producer is dead for good. Another takes its place, and what it had
 * not delivered is read again. */
Test(relay_away, a_fatal_error_makes_a_new_producer)
{
	struct kafka_producer *p;
	int64_t renewals = kafka_renewals.value;

	rig_service(&rig, 0, true, small_window);
	p = rig.services[0].env.relay->producer;
	win(0, 100);
	rig_until_relay(&rig, "a", "claims", "100");
	for (int i = 1; i <= 3; i++) {
		cr_assert_eq(rd_kafka_mock_broker_set_down(mock, 1),
			     RD_KAFKA_RESP_ERR_NO_ERROR);
		win(i * 100, 100);
		RUN_UNTIL(&rig.loop, track()->outstanding == WINDOW);
		cr_assert_eq(
			rd_kafka_test_fatal_error(
				p->rk,
				RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER,
				"made by a test"),
			RD_KAFKA_RESP_ERR_NO_ERROR);
		RUN_UNTIL(&rig.loop, kafka_renewals.value == renewals + i);
		cr_assert_eq(rd_kafka_mock_broker_set_up(mock, 1),
			     RD_KAFKA_RESP_ERR_NO_ERROR);
	}
	win(400, 200);
	rig_until_relay(&rig, "a", "claims", "600");
	expect_all();
}

/* F41: the broker has them and says so too late. They are sent again, and
 * Kafka has them twice; the ledger credits once (worker_kafka, F42). */
Test(relay_away, unknown_outcomes_are_sent_again)
{
	int twice = 0;

	rig.kafka[0] = (struct config_pair){ "message.timeout.ms", "1500" };
	rig.kafka[1] = (struct config_pair){ "request.timeout.ms", "1000" };
	rig.kafka[2] = (struct config_pair){ "socket.timeout.ms", "1000" };
	rig.kafka_count = 3;
	rig_service(&rig, 0, true, small_window);
	win(0, 100);
	rig_until_relay(&rig, "a", "claims", "100");
	/* Appended, and answered after the producer has given up. */
	cr_assert_eq(rd_kafka_mock_broker_push_request_error_rtts(
			     mock, 1, PRODUCE, 3, RD_KAFKA_RESP_ERR_NO_ERROR,
			     3000, RD_KAFKA_RESP_ERR_NO_ERROR, 3000,
			     RD_KAFKA_RESP_ERR_NO_ERROR, 3000),
		     RD_KAFKA_RESP_ERR_NO_ERROR);
	win(100, 500);
	rig_until_relay(&rig, "a", "claims", "600");
	expect_all();
	for (int i = 1; i <= CLAIMS; i++) {
		twice += seen[i] > 1 ? 1 : 0;
	}
	cr_assert_gt(twice, 0);
}
