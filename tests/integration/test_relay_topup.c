/* A tranche that is added under a grab-service: its claims are held against
 * its own seed, and none is taken for a stranger's because it came fast. Needs
 * a broker. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/grab_rig.h"
#include "plan/tranche.h"
#include "rain/gateway.pb-c.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"

static struct grab_rig rig;
static const char *id = "a";

/* 2 packets, sold out and published. */
static void start(void)
{
	struct rig_got got;

	rig_open(&rig);
	lua_open(&rig.redis, "a", 2);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	rig_grab(&rig, 0, "a", "u1", &got);
	rig_grab(&rig, 0, "a", "u2", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	rig_until_relay(&rig, "a", "claims", "2");
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(relay_topup, .init = start, .fini = stop, .timeout = 60);

/* Announce a tranche of 3 packets of 1.00 from id 5000 on, and load the first
 * of them, without a turn of the loop. */
static void announce(const char *commitment)
{
	struct tranche t = {
		.number = 2,
		.rule = { .total_cents = 300,
			  .count = 3,
			  .min_cents = 1,
			  .algorithm = ALLOCATE_EQUAL },
	};
	static const uint8_t seed[ALLOCATE_SEED] = { 0 };
	char text[TRANCHE_TEXT_MAX], right[PLAN_COMMITMENT];

	(void)snprintf(t.activity_id, sizeof(t.activity_id), "%s", id);
	(void)tranche_text(&t, text);
	tranche_commitment(seed, &t, right);
	EXPECT("OK", &rig.redis, &lua_topup, id, "announce", "2", text, ZEROS,
	       commitment != NULL ? commitment : right, "5000");
	EXPECT("OK", &rig.redis, &lua_topup, id, "load", "2", "0",
	       "{\"redPacketId\":\"5000\",\"amount\":\"1.00\"}");
}

/* The two others. */
static void load_rest(void)
{
	EXPECT("OK", &rig.redis, &lua_topup, id, "load", "2", "1",
	       "{\"redPacketId\":\"5001\",\"amount\":\"1.00\"}",
	       "{\"redPacketId\":\"5002\",\"amount\":\"1.00\"}");
}

static void topup(const char *commitment)
{
	announce(commitment);
	load_rest();
}

/* Faster than any relay reads: the reply itself has the news. */
Test(relay_topup, the_next_grab_wins_and_is_published)
{
	struct rig_got got;

	rig_grab(&rig, 0, "a", "late", &got);
	cr_assert_eq(got.status, RAIN__STATUS__SOLD_OUT);
	topup(NULL);
	rig_grab(&rig, 0, "a", "late", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON, "%d %s", got.status,
		     got.message);
	cr_assert_str_eq(got.packet, "5000");
	rig_grab(&rig, 0, "a", "later", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	rig_until_relay(&rig, "a", "claims", "4");
	rig_until_relay(&rig, "a", "events", "4");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
}

/* As if another grab-service had given them out and this one took over. */
Test(relay_topup, claims_of_others_are_published_when_they_can_be_compared)
{
	rig_kill(&rig, 0);
	topup(NULL);
	for (int i = 0; i < 3; i++) {
		char user[16];

		(void)snprintf(user, sizeof(user), "w%d", i);
		EXPECT("OK", &rig.redis, &lua_grab, "a", "", user,
		       "99999999999999");
	}
	rig_service(&rig, 1, true, NULL);
	rig_until_relay(&rig, "a", "claims", "5");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
}

Test(relay_topup, a_claim_that_its_seed_does_not_have)
{
	static const char wrong[] =
		"{\"redPacketId\":\"5000\",\"amount\":\"9.99\",\"userId\":"
		"\"late\",\"seq\":3,\"atMs\":1,\"tranche\":2}";
	struct rig_got got;

	topup(NULL);
	rig_grab(&rig, 0, "a", "late", &got);
	rig_until_relay(&rig, "a", "claims", "3");
	redis_server_ask(&rig.redis, "HSET rain:{a}:users late %s", wrong);
	rig_grab(&rig, 0, "a", "late", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "it is packet 5000 with 9.99, and packet 5000 with "
			 "1.00 in the plan") != NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
}

/* The clock does not close what is half loaded; once it is whole, it does. */
Test(relay_topup, its_end_comes_in_the_middle)
{
	long long end = lua_now(&rig.redis) + 2000;

	id = "b";
	lua_open_until(&rig.redis, id, 2, end);
	announce(NULL);
	redis_server_ask(&rig.redis, "SADD rain:activities b");
	RUN_UNTIL(&rig.loop, lua_now(&rig.redis) > end + 500);
	cr_assert_str_eq(lua_meta(&rig.redis, id, "state"), "OPEN");
	load_rest();
	rig_until_meta(&rig, id, "state", "CLOSED");
	rig_until_meta(&rig, id, "leftover_cents", "500");
}

Test(relay_topup, a_tranche_that_is_not_the_one_of_its_commitment)
{
	topup(ZEROS);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"), "commitment") !=
			  NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
}

/* Claims of a packet that was never announced are still a stranger's. */
Test(relay_topup, a_packet_that_nobody_announced)
{
	struct rig_got got;

	redis_server_ask(&rig.redis, "LPUSH rain:{a}:packets %s",
			 "{\"redPacketId\":\"5000\",\"amount\":\"1.00\"}");
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta packets 3 "
				     "tranche_ends 3");
	rig_grab(&rig, 0, "a", "late", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	rig_until_meta(&rig, "a", "state", "HALTED");
}
