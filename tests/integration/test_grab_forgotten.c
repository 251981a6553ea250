/* Redis has lost an activity that this service has served, and the ledger has
 * not heard of it yet: nobody is told that it does not exist. */
#include <criterion/criterion.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;
static struct rig_got got;

static void start(void)
{
	rig_open(&rig);
	rig_service(&rig, 0, false, NULL);
	/* As if the set had just been looked through. */
	uv_update_time(&rig.loop);
	rig.services[0].env.scanned_ms = uv_now(&rig.loop);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(grab_forgotten, .init = start, .fini = stop, .timeout = 60);

Test(grab_forgotten, what_was_served_here_exists)
{
	lua_open(&rig.redis, "a", 3);
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	redis_server_ask(&rig.redis, "FLUSHALL");
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	rig_result(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	rig_grab(&rig, 0, "b", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__NO_SUCH_ACTIVITY);
}
