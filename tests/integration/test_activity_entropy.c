/* ActivityService.entropy: a number from outside, mixed into the seed before
 * any packet is made of it. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include <openssl/evp.h>

#include "base/rand.h"
#include "grab-service/claim.h"
#include "lib/activity_rig.h"
#include "plan/plan.h"
#include "proto/proto_util.h"

#define BEACON "00112233445566778899aabbccddeeff"

static struct activity_rig g;

static void start(void)
{
	Rain__Plan m = activity_plan("quiz", 100);

	activity_rig_open(&g, NULL);
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

static void stop(void)
{
	activity_rig_close(&g);
}

TestSuite(activity_entropy, .init = start, .fini = stop);

static void send_mix(struct activity_call *c, const char *hex, const char *by)
{
	Rain__EntropyRequest m = RAIN__ENTROPY_REQUEST__INIT;

	m.activity_id = to_pb_str("quiz");
	m.entropy = to_pb_str(hex);
	m.by = to_pb_str(by);
	activity_send(&g, c, "entropy", "Lrain/EntropyRequest;", &m.base,
		      &rain__activity_reply__descriptor);
}

static void mix(const char *hex, const char *by)
{
	struct activity_call c;

	send_mix(&c, hex, by);
	activity_wait(&g, &c);
	activity_take(&g, &c);
}

static void told(Rain__Outcome outcome, const char *part)
{
	cr_assert_eq(g.outcome, outcome, "%d: %s", (int)g.outcome, g.message);
	cr_assert(strstr(g.message, part) != NULL, "%s", g.message);
}

static int64_t packet_in_redis(unsigned i)
{
	const char *text = redis_server_ask(
		&g.server, "LINDEX rain:{quiz}:packets -%u", i + 1);
	const char *why;
	struct packet p;

	cr_assert(packet_parse(bytes_str(text), &p, &why), "%s", text);
	return p.amount_cents;
}

/* SHA-256 over seed and entropy, without the code under test. */
static void mixed_seed(uint8_t out[ALLOCATE_SEED])
{
	const char *seed =
		redis_server_ask(&g.server, "HGET rain:{quiz}:meta seed");
	uint8_t input[ALLOCATE_SEED + 16];

	cr_assert_eq(hex_decode(seed, strlen(seed), input, ALLOCATE_SEED), 0);
	cr_assert_eq(hex_decode(BEACON, 32, input + ALLOCATE_SEED, 16), 0);
	cr_assert_eq(
		EVP_Digest(input, sizeof(input), out, NULL, EVP_sha256(), NULL),
		1);
}

/* The packets in Redis are those of seed and entropy. */
static void expect_mixed(void)
{
	const struct allocate_rule rule = { .total_cents = 10000,
					    .count = 100,
					    .min_cents = 1 };
	uint8_t seed[ALLOCATE_SEED];
	int64_t amounts[100];

	mixed_seed(seed);
	allocate(seed, &rule, amounts);
	for (unsigned i = 0; i < 100; i++) {
		cr_assert_eq(packet_in_redis(i), amounts[i], "packet %u", i);
	}
}

Test(activity_entropy, makes_other_packets_and_is_on_record)
{
	const char *event;

	mix("00112233445566778899AABBCCDDEEFF", "ops@studio");
	told(RAIN__OUTCOME__DONE, "");
	cr_assert_eq(g.activity->state, RAIN__STATE__CREATED);
	cr_assert_eq(g.activity->revision, 2);
	cr_assert_str_eq(activity_text(g.activity->entropy), BEACON);
	cr_assert_str_eq(activity_text(g.activity->entropy_by), "ops@studio");
	cr_assert(g.activity->entropy_ms > 0);
	event = redis_server_ask(&g.server, "LINDEX rain:{quiz}:events 0");
	cr_assert(strstr(event, "\"type\":\"entropy\"") != NULL, "%s", event);
	cr_assert(strstr(event, "\"entropy\":\"" BEACON "\"") != NULL, "%s",
		  event);
	cr_assert(strstr(event, "\"by\":\"ops@studio\"") != NULL, "%s", event);

	activity_ask(&g, "preload", "quiz");
	told(RAIN__OUTCOME__DONE, "");
	expect_mixed();
	activity_ask(&g, "open", "quiz");
	told(RAIN__OUTCOME__DONE, "");
}

Test(activity_entropy, is_set_once_and_before_the_packets)
{
	mix(BEACON, "ops");
	told(RAIN__OUTCOME__DONE, "");
	mix(BEACON, "somebody.else");
	told(RAIN__OUTCOME__ALREADY, "has this entropy");
	cr_assert_eq(g.activity->revision, 2);
	cr_assert_str_eq(activity_text(g.activity->entropy_by), "ops");
	mix("ffffffffffffffffffffffffffffffff", "ops");
	told(RAIN__OUTCOME__CONFLICT, "it has other entropy already");
	activity_ask(&g, "preload", "quiz");
	told(RAIN__OUTCOME__DONE, "");
	mix("ffffffffffffffffffffffffffffffff", "ops");
	told(RAIN__OUTCOME__CONFLICT,
	     "entropy is not possible in state LOADED");
	mix(BEACON, "ops");
	told(RAIN__OUTCOME__ALREADY, "has this entropy");
}

Test(activity_entropy, what_it_may_be)
{
	mix("0011223344556677", "ops");
	told(RAIN__OUTCOME__INVALID, "16 to 64 bytes as hex digits");
	mix(BEACON "0", "ops");
	told(RAIN__OUTCOME__INVALID, "16 to 64 bytes as hex digits");
	mix("zz112233445566778899aabbccddeeff", "ops");
	told(RAIN__OUTCOME__INVALID, "16 to 64 bytes as hex digits");
	mix(BEACON BEACON BEACON BEACON "00", "ops");
	told(RAIN__OUTCOME__INVALID, "16 to 64 bytes as hex digits");
	mix(BEACON, "");
	told(RAIN__OUTCOME__INVALID, "by, who sets it, must be");
	mix(BEACON BEACON BEACON BEACON, "ops");
	told(RAIN__OUTCOME__DONE, "");
}

/* A stranger who changes it leaves packets that are not those of the plan. */
Test(activity_entropy, changed_in_redis_is_noticed)
{
	mix(BEACON, "ops");
	told(RAIN__OUTCOME__DONE, "");
	activity_ask(&g, "preload", "quiz");
	told(RAIN__OUTCOME__DONE, "");
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta entropy %s",
			 "ffffffffffffffffffffffffffffffff");
	activity_ask(&g, "open", "quiz");
	told(RAIN__OUTCOME__CONFLICT, "in the plan");
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta entropy beef");
	activity_ask(&g, "open", "quiz");
	told(RAIN__OUTCOME__UNAVAILABLE_NOW, "its entropy in Redis");
}

/* Whoever writes it into meta beforehand would choose the packets. */
Test(activity_entropy, without_its_event_loads_nothing)
{
	const char *refusal = "it has other entropy than its events: cancel it";

	redis_server_ask(&g.server, "HSET rain:{quiz}:meta entropy " BEACON);
	activity_ask(&g, "preload", "quiz");
	told(RAIN__OUTCOME__CONFLICT, refusal);
	cr_assert_eq(g.activity->state, RAIN__STATE__CREATED);
	cr_assert_eq(g.activity->loaded, 0);
	redis_server_ask(&g.server, "HDEL rain:{quiz}:meta entropy");
	mix(BEACON, "ops");
	told(RAIN__OUTCOME__DONE, "");
	/* Nor may what is on record be taken away, or made another. */
	redis_server_ask(&g.server, "HDEL rain:{quiz}:meta entropy");
	activity_ask(&g, "preload", "quiz");
	told(RAIN__OUTCOME__CONFLICT, refusal);
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta entropy %s",
			 "ffffffffffffffffffffffffffffffff");
	activity_ask(&g, "preload", "quiz");
	told(RAIN__OUTCOME__CONFLICT, refusal);
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta entropy " BEACON);
	activity_ask(&g, "preload", "quiz");
	told(RAIN__OUTCOME__DONE, "");
	expect_mixed();
}

/* A preload that has begun when the entropy comes takes it along. */
Test(activity_entropy, comes_while_a_preload_begins)
{
	struct activity_call load, entropy;

	activity_send_id(&g, &load, "preload", "quiz");
	send_mix(&entropy, BEACON, "ops");
	activity_wait(&g, &entropy);
	activity_take(&g, &entropy);
	told(RAIN__OUTCOME__DONE, "");
	activity_wait(&g, &load);
	activity_take(&g, &load);
	told(RAIN__OUTCOME__DONE, "all 100 packets are in Redis");
	expect_mixed();
}
