/* What happens to an activity by itself: closed at its end, counted, settled,
 * unlinked, out of the set. Needs a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "lib/grab_rig.h"
#include "lib/kafka_read.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;
static struct rig_got got;

static void start(void)
{
	rig_open(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(relay_keeper, .init = start, .fini = stop, .timeout = 90);

static void list_activity(void)
{
	redis_server_ask(&rig.redis, "SADD rain:activities a");
}

static long set_size(void)
{
	return strtol(redis_server_ask(&rig.redis, "SCARD rain:activities"),
		      NULL, 10);
}

Test(relay_keeper, from_the_end_to_out_of_the_set)
{
	char end[24];
	long long until = lua_now(&rig.redis) + 3000;

	lua_open_until(&rig.redis, "a", 2500, until);
	(void)snprintf(end, sizeof end, "%lld", until);
	list_activity();
	rig_service(&rig, 0, true, NULL);
	rig_grab(&rig, 0, "a", "w", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);

	rig_until_meta(&rig, "a", "state", "CLOSED");
	cr_assert_geq(lua_now(&rig.redis), strtoll(end, NULL, 10) + 50);
	rig_until_meta(&rig, "a", "leftover_cents", "249900");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "final_left"), "2499");

	/* Settled only when the ledger has seen this, and refunded. */
	rig.ledger.known = true;
	rig.ledger.revision = 4;
	rig.ledger.refund_done = true;
	rig.ledger.totals_asked = 0;
	RUN_UNTIL(&rig.loop, rig.ledger.totals_asked > 2);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "CLOSED");
	rig.ledger.revision = 6;
	rig.ledger.held_cents = 100;
	rig_until_meta(&rig, "a", "state", "SETTLED");

	/* Money is held: the lists stay. */
	rig.ledger.totals_asked = 0;
	RUN_UNTIL(&rig.loop, rig.ledger.totals_asked > 0);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "unlinked"), "(nil)");
	cr_assert_eq(set_size(), 1);
}

Test(relay_keeper, unlinked_when_all_is_published_and_nothing_is_held)
{
	lua_open(&rig.redis, "a", 3);
	list_activity();
	rig_service(&rig, 0, true, NULL);
	rig_grab(&rig, 0, "a", "w", &got);
	rig.ledger.known = true;
	rig.ledger.revision = 100;
	rig.ledger.refund_done = true;
	rig.ledger.record_user = "w";
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "r");
	rig_until_meta(&rig, "a", "unlinked", "1");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "leftover_cents"), "200");
	RUN_UNTIL(&rig.loop, set_size() == 0);
	cr_assert_str_eq(redis_server_ask(&rig.redis,
					  "EXISTS rain:{a}:packets "
					  "rain:{a}:users rain:{a}:claims "
					  "rain:{a}:events"),
			 "0");
	cr_assert_str_eq(rig_relay(&rig, "a", "claims"), "1");
	cr_assert_str_eq(rig_relay(&rig, "a", "events"), "6");
	rig_grab(&rig, 0, "a", "w", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ENDED);
}

Test(relay_keeper, crash_between_unlink_and_the_set_is_mended)
{
	lua_open(&rig.redis, "a", 3);
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "r");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "counted", "", "300", "3");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "settled", "", "r");
	redis_server_ask(&rig.redis, "HSET rain:{a}:relay claims 0 events 6");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "unlink", "");
	list_activity();
	rig_service(&rig, 0, true, NULL);
	RUN_UNTIL(&rig.loop, set_size() == 0);
}

Test(relay_keeper, cancelled_is_settled_when_all_is_back)
{
	lua_load(&rig.redis, "a", 3);
	EXPECT("OK", &rig.redis, &lua_activity, "a", "cancel", "", "rain");
	list_activity();
	rig.ledger.known = true;
	rig.ledger.state = "CANCELLED";
	rig.ledger.revision = 4;
	rig.ledger.funded_cents = 300;
	rig_service(&rig, 0, true, NULL);
	RUN_UNTIL(&rig.loop, rig.ledger.totals_asked > 2);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "CANCELLED");
	rig.ledger.refunded_cents = 300;
	rig_until_meta(&rig, "a", "state", "SETTLED");
	rig_until_meta(&rig, "a", "unlinked", "1");
	RUN_UNTIL(&rig.loop, set_size() == 0);
}

static void count(void *ctx, const rd_kafka_message_t *m)
{
	(void)m;
	++*(int *)ctx;
}

/* Published, and the ledger has never heard of the activity: a topic was lost
 * before anybody read it. */
Test(relay_keeper, what_the_ledger_never_heard_of_is_published_again)
{
	int claims = 0;

	lua_open(&rig.redis, "a", 3);
	list_activity();
	rig_service(&rig, 0, true, NULL);
	rig_grab(&rig, 0, "a", "w", &got);
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "r");
	rig_until_relay(&rig, "a", "claims", "1");
	/* One lease, the rewind, and the lease after it. */
	RUN_UNTIL(&rig.loop,
		  strtol(rig_relay(&rig, "a", "generation"), NULL, 10) >= 3);
	rig_until_relay(&rig, "a", "claims", "1");
	kafka_read(rig_kafka(), rig.topic[1], RIG_PARTITIONS, count, &claims);
	cr_assert_geq(claims, 2);
}

/* All at once; returns what they are told they have, in cents. */
static int64_t grab_many(const char *id, int users)
{
	struct rig_got *crowd = xcalloc((size_t)users, sizeof(*crowd));
	int64_t cents = 0;

	for (int i = 0; i < users; i++) {
		char user[16];

		(void)snprintf(user, sizeof(user), "u%d", i);
		rig_put(&rig, 0, LANE_GRAB, id, user, &crowd[i]);
	}
	rig_pump(&rig, 0, LANE_GRAB, id);
	for (int i = 0; i < users; i++) {
		RUN_UNTIL(&rig.loop, crowd[i].done);
		cr_assert_eq(crowd[i].status, RAIN__STATUS__WON, "%d",
			     crowd[i].status);
		cents += crowd[i].amount_cents;
	}
	free(crowd);
	return cents;
}

static void leftover_is(int64_t cents)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%lld", (long long)cents);
	rig_until_meta(&rig, "a", "leftover_cents", text);
}

Test(relay_keeper, a_live_one_is_counted_by_its_balance)
{
	int64_t won;

	lua_open_live(&rig.redis, "a", 5, 1000, 1, 0);
	list_activity();
	rig_service(&rig, 0, true, NULL);
	won = grab_many("a", 3);
	rig.ledger.known = true;
	rig.ledger.revision = 100;
	rig.ledger.refund_done = true;
	rig.ledger.record_user = "u0";
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "r");
	rig_until_meta(&rig, "a", "unlinked", "1");
	leftover_is(1000 - won);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "final_left"), "2");
	RUN_UNTIL(&rig.loop, set_size() == 0);
	rig_grab(&rig, 0, "a", "u0", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
}

/* More claims than a page, and nobody mends what somebody wrote. */
Test(relay_keeper, a_live_one_whose_money_does_not_fit_is_counted_by_its_claims)
{
	int64_t won;

	lua_open_live(&rig.redis, "a", 2500, 1000000, 1, 0);
	list_activity();
	rig_service(&rig, 0, true, NULL);
	won = grab_many("a", 2100);
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta balance 7 left x");
	rig_until_meta(&rig, "a", "state", "HALTED");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "r");
	leftover_is(1000000 - won);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "final_left"), "400");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "final_claims"), "2100");
	rig.ledger.known = true;
	rig.ledger.revision = 100;
	rig.ledger.refund_done = true;
	rig_until_meta(&rig, "a", "state", "SETTLED");
}

/* Somebody made a claim of more than there is: a person must look. */
Test(relay_keeper, claims_that_are_more_than_all_the_money)
{
	lua_open_live(&rig.redis, "a", 5, 1000, 1, 0);
	list_activity();
	rig_service(&rig, 0, true, NULL);
	(void)grab_many("a", 3);
	rig_until_relay(&rig, "a", "claims", "3");
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta balance 7");
	rig_until_meta(&rig, "a", "state", "HALTED");
	redis_server_ask(
		&rig.redis, "LSET rain:{a}:claims -1 %s",
		"{\"redPacketId\":\"1\",\"amount\":\"10.01\",\"userId\":"
		"\"u0\",\"seq\":1,\"atMs\":1,\"tranche\":1}");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "r");
	rig_until_meta(&rig, "a", "reason", "a claim can't be counted");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "HALTED");
}
