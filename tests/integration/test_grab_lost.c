/* F53: Redis did what it was asked, and its answer is lost for longer than
 * anybody waits. Nobody takes the packet back or gives it to another. */
#include <criterion/criterion.h>

#include "lib/cut_proxy.h"
#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;
static struct cut_proxy proxy;
static char path[128];

static void through_proxy(struct grab_options *o)
{
	o->redis_url = path;
}

static void start(void)
{
	rig_open(&rig);
	(void)snprintf(path, sizeof path, "%s.cut", rig.redis.url);
	cut_proxy_open(&proxy, rig.hub, path, rig.redis.url);
	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, through_proxy);
}

static void stop(void)
{
	rig_stop(&rig, 0);
	cut_proxy_close(&proxy);
	rig_close(&rig);
}

TestSuite(grab_lost, .init = start, .fini = stop, .timeout = 60);

static void expect_lists(const char *packets, const char *users)
{
	cr_expect_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{a}:packets"),
			 packets);
	cr_expect_str_eq(redis_server_ask(&rig.redis, "HLEN rain:{a}:users"),
			 users);
	cr_expect_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"),
			 users);
}

/* Drawn, and not heard of: it is the same packet when it is asked again. The
 * call that is asked again has other draws. */
Test(grab_lost, packet_of_a_live_activity_is_drawn_once)
{
	struct rig_got got;
	struct rig_got again;

	lua_open_live(&rig.redis, "b", 5, 1000, 1, 0);
	/* Redis knows the script from here on. */
	rig_grab(&rig, 0, "a", "warm", &got);
	/* Lost is also that the call had no draws: nobody knows. */
	cut_proxy_arm(&proxy, "first");
	rig_grab(&rig, 0, "b", "first", &got);
	cr_assert_eq(proxy.cuts, 1);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	cut_proxy_arm(&proxy, "second");
	rig_grab(&rig, 0, "b", "second", &got);
	cr_assert_eq(proxy.cuts, 2);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
	rig_grab(&rig, 0, "b", "second", &again);
	cr_assert_str_eq(again.packet, got.packet);
	cr_assert_eq(again.amount_cents, got.amount_cents);
	cr_assert_str_eq(
		redis_server_ask(&rig.redis, "HGET rain:{b}:meta left"), "3");
	cr_assert_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{b}:claims"),
			 "2");
}

Test(grab_lost, packet_of_an_unknown_outcome_is_kept_for_its_user)
{
	struct rig_got warm;
	struct rig_got first;
	struct rig_got again;
	struct rig_got other;

	/* Redis knows the script from here on. */
	rig_grab(&rig, 0, "a", "warm", &warm);
	cut_proxy_arm(&proxy, "winner");
	rig_put(&rig, 0, LANE_GRAB, "a", "winner", &first);
	first.ask.deadline_ms = uv_now(&rig.loop) + 700;
	rig_pump(&rig, 0, LANE_GRAB, "a");
	RUN_UNTIL(&rig.loop, proxy.cuts == 1);
	/* The way to Redis stays cut until the caller has given up. */
	cut_proxy_close(&proxy);
	RUN_UNTIL(&rig.loop, first.done);
	cr_expect_eq(first.status, RAIN__STATUS__PENDING);
	expect_lists("3", "2");

	cut_proxy_open(&proxy, rig.hub, path, rig.redis.url);
	RUN_UNTIL(&rig.loop, redis_ready(rig.services[0].env.redis));
	rig_grab(&rig, 0, "a", "other", &other);
	cr_expect_eq(other.status, RAIN__STATUS__WON);
	expect_lists("2", "3");
	rig_grab(&rig, 0, "a", "winner", &again);
	cr_expect_eq(again.status, RAIN__STATUS__ALREADY_GRABBED);
	cr_expect_str_neq(again.packet, other.packet);
	expect_lists("2", "3");
}
