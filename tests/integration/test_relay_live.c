/* Live activities and the relay: what was drawn is held against the plan, and
 * published. The amounts were computed by a program in another language. Needs
 * a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "lib/grab_rig.h"
#include "lib/kafka_read.h"
#include "rain/gateway.pb-c.h"

enum { PACKETS = 12 };

/* 50.00, at least 0.01 each, of the seed of 32 zeros. */
static const int amounts[PACKETS] = { 386, 520, 144, 66, 870, 752,
				      714, 573, 55,  61, 366, 493 };

static struct grab_rig rig;
static struct rig_got got;

static void start(void)
{
	rig_open(&rig);
	rig.ledger.passed = true;
	lua_open_live(&rig.redis, "a", PACKETS, 5000, 1, 0);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(relay_live, .init = start, .fini = stop, .timeout = 90);

static void wins(int i)
{
	char user[16];

	(void)snprintf(user, sizeof user, "w%d", i);
	rig_grab(&rig, 0, "a", user, &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON, "%d (%s)", got.status,
		     got.message);
	cr_assert_eq(got.amount_cents, amounts[i], "%d: %d", i,
		     (int)got.amount_cents);
}

/* The second packet has 5.20 in the plan, and has `wrong` in Redis. */
static void nobody_is_told(const char *wrong)
{
	const char *claim;

	rig_grab(&rig, 0, "a", "w1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	cr_assert_eq(got.amount_cents, 0);
	claim = redis_server_ask(&rig.redis, "LINDEX rain:{a}:claims 0");
	cr_assert(strstr(claim, wrong) != NULL, "%s", claim);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "with 5.20 in the plan") != NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
	/* Asked again, and asked how it stands. */
	rig_grab(&rig, 0, "a", "w1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	rig_result(&rig, 0, "a", "w1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	rig_grab(&rig, 0, "a", "w0", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(got.amount_cents, amounts[0]);
	cr_assert_str_eq(rig_relay(&rig, "a", "claims"), "1");
}

/* What a person does: the claim in both places, and what is left. */
static void mend(void)
{
	char claim[256];
	char *amount;

	(void)snprintf(
		claim, sizeof claim, "%s",
		redis_server_ask(&rig.redis, "LINDEX rain:{a}:claims 0"));
	amount = strstr(claim, "\"amount\":\"");
	cr_assert_not_null(amount);
	memcpy(amount, "\"amount\":\"5.20", 14);
	redis_server_ask(&rig.redis, "HSET rain:{a}:users w1 %s", claim);
	redis_server_ask(&rig.redis, "LSET rain:{a}:claims 0 %s", claim);
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta min_cents 1 "
				     "claimed_cents 906 balance 4094");
}

static void goes_on(void)
{
	rig_until_relay(&rig, "a", "claims", "2");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "resume", "", "");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "resume", "", "");
	rig_grab(&rig, 0, "a", "w1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(got.amount_cents, amounts[1]);
	for (int i = 2; i < PACKETS; i++) {
		wins(i);
	}
	rig_until_relay(&rig, "a", "claims", "12");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
}

/* Both numbers of the money agree, so the step draws. */
Test(relay_live, other_money_makes_other_amounts)
{
	rig_service(&rig, 0, true, NULL);
	wins(0);
	rig_until_relay(&rig, "a", "claims", "1");
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta balance 4714 "
				     "claimed_cents 286");
	nobody_is_told("\"amount\":\"5.32\"");
	mend();
	goes_on();
}

Test(relay_live, other_bounds_make_other_amounts)
{
	rig_service(&rig, 0, true, NULL);
	wins(0);
	rig_until_relay(&rig, "a", "claims", "1");
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta min_cents 200");
	nobody_is_told("\"amount\":\"4.72\"");
	mend();
	goes_on();
}

/* Mixed as docs/fairness.md says, by the service that draws and by the relay
 * that compares. */
Test(relay_live, entropy_makes_other_amounts)
{
	static const int mixed[PACKETS] = { 754, 205, 684, 215, 331, 176,
					    155, 217, 953, 294, 160, 856 };

	redis_server_ask(&rig.redis, "HSET rain:{a}:meta entropy "
				     "00112233445566778899aabbccddeeff");
	rig_service(&rig, 0, true, NULL);
	for (int i = 0; i < PACKETS; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "w%d", i);
		rig_grab(&rig, 0, "a", user, &got);
		cr_assert_eq(got.status, RAIN__STATUS__WON);
		cr_assert_eq(got.amount_cents, mixed[i], "%d: %d", i,
			     (int)got.amount_cents);
	}
	rig_until_relay(&rig, "a", "claims", "12");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
}

static void little_room(struct grab_options *o)
{
	o->plan_packets = PACKETS - 1;
}

static void count(void *ctx, const rd_kafka_message_t *m)
{
	(void)m;
	++*(int *)ctx;
}

/* Nothing is compared with a plan that does not fit into memory: the step draws
 * what the seed says all the same. */
Test(relay_live, more_packets_than_the_relay_may_hold)
{
	int claims = 0;

	rig_service(&rig, 0, true, little_room);
	for (int i = 0; i < PACKETS; i++) {
		wins(i);
	}
	rig_until_relay(&rig, "a", "claims", "12");
	kafka_read(rig_kafka(), rig.topic[1], RIG_PARTITIONS, count, &claims);
	cr_assert_eq(claims, PACKETS);
	rig_grab(&rig, 0, "a", "late", &got);
	cr_assert_eq(got.status, RAIN__STATUS__SOLD_OUT);
}
