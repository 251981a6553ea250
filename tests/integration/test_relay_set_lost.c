/* The set of activities is lost while one is open: who wins is paid all the
 * same. Needs a broker. */
#include <criterion/criterion.h>

#include "grab-service/track.h"
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

TestSuite(relay_set_lost, .init = start, .fini = stop, .timeout = 90);

static void win(const char *user)
{
	struct rig_got got;

	rig_grab(&rig, 0, "a", user, &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
}

static struct track *track_of_a(void)
{
	return directory_find(rig.services[0].env.directory, BYTES("a"))->track;
}

static bool is_listed(void)
{
	return strcmp(redis_server_ask(&rig.redis,
				       "SISMEMBER rain:activities a"),
		      "1") == 0;
}

Test(relay_set_lost, a_win_puts_it_back)
{
	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
	redis_server_ask(&rig.redis, "DEL rain:activities");
	RUN_UNTIL(&rig.loop, is_listed());
	win("u2");
	rig_until_relay(&rig, "a", "claims", "2");
	cr_assert_not_null(track_of_a());
}

/* Nobody wins any more, and it is to be closed and counted all the same. */
Test(relay_set_lost, it_comes_back_without_a_win)
{
	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
	redis_server_ask(&rig.redis, "SREM rain:activities a");
	RUN_UNTIL(&rig.loop, is_listed());
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "");
	rig_until_meta(&rig, "a", "leftover_cents", "900");
}

/* FLUSHALL: there is nobody to halt, but somebody is told. */
Test(relay_set_lost, a_redis_that_is_emptied_is_noticed)
{
	struct rig_got got;
	struct buf notes;

	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
	redis_server_ask(&rig.redis, "FLUSHALL");
	RUN_UNTIL(&rig.loop, track_of_a()->lost && is_listed());
	buf_init(&notes);
	(void)relay_ready(rig.services[0].env.relay, &notes);
	buf_put_u8(&notes, 0);
	cr_assert_not_null(strstr((const char *)buf_live(&notes).p,
				  "a: is gone from Redis"));
	buf_close(&notes);
	rig_grab(&rig, 0, "a", "u1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY, "%d", got.status);
	rig_grab(&rig, 0, "a", "u2", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY, "%d", got.status);
}
