/* The set of activities is lost while one is open: who wins is paid all the
 * same. Needs a broker. */
#include <criterion/criterion.h>

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

Test(relay_set_lost, a_win_puts_it_back)
{
	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
	redis_server_ask(&rig.redis, "DEL rain:activities");
	RUN_UNTIL(&rig.loop, track_of_a() == NULL);
	win("u2");
	rig_until_relay(&rig, "a", "claims", "2");
	cr_assert_str_eq(
		redis_server_ask(&rig.redis, "SISMEMBER rain:activities a"),
		"1");
}
