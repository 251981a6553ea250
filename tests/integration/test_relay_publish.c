/* From the outboxes in Redis to Kafka: every claim and every event, in order,
 * at least once, whoever won it and whatever dies. Needs a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "lib/grab_rig.h"
#include "lib/kafka_read.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"
#include "rain/gateway.pb-c.h"

enum { CLAIMS_MAX = 10000 };

static struct grab_rig rig;
static int seen[CLAIMS_MAX + 1]; /* by seq: how often */
static size_t bad;

static void start(void)
{
	rig_open(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(relay_publish, .init = start, .fini = stop, .timeout = 90);

static void open_activity(const char *id, int packets)
{
	lua_open(&rig.redis, id, packets);
	redis_server_ask(&rig.redis, "SADD rain:activities %s", id);
}

static void see(void *ctx, const rd_kafka_message_t *m)
{
	Rain__ClaimEvent *e =
		proto_unpack(&rain__claim_event__descriptor,
			     bytes_make(m->payload, m->len), 65536);
	struct bytes key = bytes_make(m->key, m->key_len);

	(void)ctx;
	cr_assert_not_null(e);
	if (e->seq < 1 || e->seq > CLAIMS_MAX || e->amount_cents != 100 ||
	    e->tranche != 1 || !bytes_eq(key, from_pb(e->user_id)) ||
	    !bytes_eq(from_pb(e->activity_id), BYTES("a"))) {
		bad++;
	} else {
		seen[e->seq]++;
	}
	proto_free(e);
}

/* Every seq up to n is there, none beyond; returns how many are there twice or
 * more. */
static int expect_claims(int n)
{
	int repeats = 0;

	memset(seen, 0, sizeof seen);
	bad = 0;
	kafka_read(rig_kafka(), rig.topic[1], RIG_PARTITIONS, see, NULL);
	cr_assert_eq(bad, 0);
	for (int i = 1; i <= CLAIMS_MAX; i++) {
		cr_assert_eq(seen[i] > 0, i <= n, "seq %d: %d times", i,
			     seen[i]);
		repeats += seen[i] > 1;
	}
	return repeats;
}

/* n users grab on service i; all win. */
static void win(int i, int from, int n)
{
	struct rig_got *got = calloc((size_t)n, sizeof *got);

	for (int k = 0; k < n; k++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", from + k);
		rig_put(&rig, i, LANE_GRAB, "a", user, &got[k]);
	}
	rig_pump(&rig, i, LANE_GRAB, "a");
	for (int k = 0; k < n; k++) {
		RUN_UNTIL(&rig.loop, got[k].done);
		cr_assert_eq(got[k].status, RAIN__STATUS__WON);
	}
	free(got);
}

static void until_claims(int n)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", n);
	rig_until_relay(&rig, "a", "claims", text);
}

static void look_at_event(void *ctx, const rd_kafka_message_t *m)
{
	Rain__ActivityEvent *e =
		proto_unpack(&rain__activity_event__descriptor,
			     bytes_make(m->payload, m->len), 65536);
	rd_kafka_headers_t *headers;
	const void *value;
	size_t size;
	int *order = ctx;

	cr_assert_not_null(e);
	cr_assert(bytes_eq(bytes_make(m->key, m->key_len), BYTES("a")));
	cr_assert_eq(rd_kafka_message_headers(m, &headers), 0);
	cr_assert_eq(rd_kafka_header_get_last(headers, "content-type", &value,
					      &size),
		     0);
	cr_assert(bytes_eq(bytes_make(value, size),
			   BYTES("application/x-protobuf; "
				 "message=rain.ActivityEvent")));
	*order = *order * 100 + (int)e->change_case;
	proto_free(e);
}

Test(relay_publish, claims_and_events_arrive_in_order)
{
	int order = 0;

	open_activity("a", 500);
	rig_service(&rig, 0, true, NULL);
	win(0, 0, 300);
	until_claims(300);
	rig_until_relay(&rig, "a", "events", "3");
	cr_assert_eq(expect_claims(300), 0);
	cr_assert_eq(kafka_read(rig_kafka(), rig.topic[0], RIG_PARTITIONS,
				look_at_event, &order),
		     3);
	/* created, loaded, opened */
	cr_assert_eq(order, 40507);
}

/* Who relays has the claims that it won from the replies of its grabs. */
Test(relay_publish, what_was_just_won_is_not_read_again)
{
	enum { ROUNDS = 20, EACH = 20 };
	int64_t reads;

	open_activity("a", 1000);
	rig_service(&rig, 0, true, NULL);
	rig_until_relay(&rig, "a", "events", "3");
	redis_server_ask(&rig.redis, "CONFIG RESETSTAT");
	for (int i = 0; i < ROUNDS; i++) {
		win(0, i * EACH, EACH);
		until_claims((i + 1) * EACH);
	}
	/* A read may see a claim before the reply of its grab was. */
	reads = redis_server_info(&rig.redis, "commandstats", "cmdstat_lrange",
				  "calls");
	cr_assert_lt(reads, ROUNDS / 2, "%d reads", (int)reads);
	cr_assert_eq(expect_claims(ROUNDS * EACH), 0);
}

Test(relay_publish, claims_of_the_other_service_are_published)
{
	char field[64];

	open_activity("a", 500);
	rig_service(&rig, 0, true, NULL);
	rig_until_relay(&rig, "a", "events", "3");
	rig_service(&rig, 1, false, NULL);
	win(1, 0, 200);
	until_claims(200);
	cr_assert_eq(expect_claims(200), 0);
	/* Who relays is a witness, also if nobody grabs there. */
	(void)snprintf(field, sizeof field, "w:%s",
		       rig.services[0].env.witness);
	cr_assert(strncmp(rig_relay(&rig, "a", field), "ok ", 3) == 0);
}

Test(relay_publish, two_relays_one_lease_and_takeover)
{
	char owner[64];

	open_activity("a", 1000);
	rig_service(&rig, 0, true, NULL);
	rig_service(&rig, 1, true, NULL);
	win(0, 0, 100);
	win(1, 100, 100);
	until_claims(200);
	/* One of them holds it, and published all: nothing is there twice. */
	cr_assert_eq(expect_claims(200), 0);
	cr_assert_str_eq(rig_relay(&rig, "a", "generation"), "1");
	(void)snprintf(owner, sizeof owner, "%s",
		       rig_relay(&rig, "a", "owner"));
	rig_kill(&rig, 0);
	win(1, 200, 100);
	until_claims(300);
	(void)expect_claims(300);
	cr_assert_str_neq(rig_relay(&rig, "a", "owner"), "");
	(void)owner;
}

Test(relay_publish, killed_relay_loses_its_window_and_no_claim)
{
	open_activity("a", 2000);
	rig_service(&rig, 0, true, NULL);
	rig_until_relay(&rig, "a", "events", "3");
	win(0, 0, 1000);
	/* Read, sent, perhaps arrived, not recorded. */
	uv_run(&rig.loop, UV_RUN_NOWAIT);
	rig_kill(&rig, 0);
	rig_service(&rig, 1, true, NULL);
	win(1, 1000, 500);
	until_claims(1500);
	(void)expect_claims(1500);
}

Test(relay_publish, rewind_publishes_again)
{
	open_activity("a", 500);
	rig_service(&rig, 0, true, NULL);
	win(0, 0, 100);
	until_claims(100);
	EXPECT("OK", &rig.redis, &lua_relay, "a", "rewind", "", "0", "40");
	cr_assert_str_eq(rig_relay(&rig, "a", "claims"), "40");
	win(0, 100, 50);
	until_claims(150);
	rig_until_relay(&rig, "a", "events", "3");
	cr_assert_geq(expect_claims(150), 60);
}

Test(relay_publish, graceful_stop_publishes_all_and_lets_go)
{
	char field[64];

	open_activity("a", 500);
	rig_service(&rig, 0, true, NULL);
	rig_until_relay(&rig, "a", "events", "3");
	(void)snprintf(field, sizeof field, "w:%s",
		       rig.services[0].env.witness);
	win(0, 0, 400);
	cr_assert_str_neq(rig_relay(&rig, "a", field), "(nil)");
	rig_stop(&rig, 0);
	cr_assert_str_eq(rig_relay(&rig, "a", "claims"), "400");
	cr_assert_str_eq(rig_relay(&rig, "a", "owner"), "");
	cr_assert_str_eq(rig_relay(&rig, "a", field), "(nil)");
	cr_assert_eq(expect_claims(400), 0);
}

Test(relay_publish, strange_element_halts_and_is_not_published)
{
	open_activity("a", 500);
	rig_service(&rig, 0, true, NULL);
	win(0, 0, 10);
	until_claims(10);
	/* A packet more and a claim less, so that the counts hold. */
	redis_server_ask(&rig.redis, "RPOP rain:{a}:packets");
	redis_server_ask(&rig.redis, "HSET rain:{a}:users thief x");
	redis_server_ask(&rig.redis, "LPUSH rain:{a}:claims %s",
			 "{\"redPacketId\":\"9\",\"amount\":\"99.00\","
			 "\"userId\":\"thief\",\"seq\":12,\"atMs\":1,"
			 "\"tranche\":1}");
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "element 11 of the claims") != NULL);
	rig_until_relay(&rig, "a", "events", "4");
	cr_assert_str_eq(rig_relay(&rig, "a", "claims"), "10");
	(void)expect_claims(10);
}

static void soon_lapsed(struct grab_options *o)
{
	o->lease_ms = 200;
	o->idle_ms = 50;
}

static long long lease_until(void)
{
	return strtoll(rig_relay(&rig, "a", "lease_until"), NULL, 10);
}

Test(relay_publish, idle_activity_lapses_and_costs_no_write)
{
	open_activity("a", 10);
	rig_service(&rig, 0, true, soon_lapsed);
	win(0, 0, 3);
	until_claims(3);
	EXPECT("OK", &rig.redis, &lua_activity, "a", "pause", "", "r");
	rig_until_relay(&rig, "a", "events", "4");
	/* Never renewed again: it would be before 100 ms are over. */
	RUN_UNTIL(&rig.loop, lua_now(&rig.redis) > lease_until() + 400);
}
