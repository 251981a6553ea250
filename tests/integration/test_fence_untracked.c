/* A service that has served an activity before its relay had heard of it is a
 * witness all the same. Needs a broker. */
#include <criterion/criterion.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;

static void start(void)
{
	rig_open_forgetful(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(fence_untracked, .init = start, .fini = stop, .timeout = 90);

static void look_seldom(struct grab_options *o)
{
	o->scan_ms = 60000;
}

static void win(const char *user)
{
	struct rig_got got;

	rig_grab(&rig, 0, "a", user, &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
}

Test(fence_untracked, what_it_saw_is_missed)
{
	rig.ledger.passed = true;
	rig_service(&rig, 0, true, look_seldom);
	RUN_UNTIL(&rig.loop, rig.services[0].env.scanned_ms > 0);
	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	win("u1");
	cr_assert_str_eq(redis_server_ask(&rig.redis, "SAVE"), "OK");
	win("u2");
	cr_assert_null(directory_find(rig.services[0].env.directory, BYTES("a"))
			       ->track);
	redis_server_kill(&rig.redis);
	redis_server_restart(&rig.redis);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "claim 2 of user u2 is not there") != NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
}
