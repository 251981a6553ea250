/* Grabs whose time has passed: they cost Redis nothing, but whoever may have
 * won already is told. */
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

TestSuite(grab_late, .init = start, .fini = stop, .timeout = 60);

Test(grab_late, late_grab_does_not_reach_redis)
{
	struct rig_got got;
	long before;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "warm", &got);
	before = rig_script_calls(&rig);
	rig_put(&rig, 0, LANE_GRAB, "a", "u", &got);
	got.ask.not_after_ms = redis_time_now(&rig.services[0].env.time) - 1;
	rig_pump(&rig, 0, LANE_GRAB, "a");
	cr_assert(got.done);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	rig_put(&rig, 0, LANE_GRAB, "a", "u", &got);
	got.ask.deadline_ms = uv_now(&rig.loop);
	rig_pump(&rig, 0, LANE_GRAB, "a");
	cr_assert(got.done);
	cr_assert_eq(rig_script_calls(&rig), before);
}

/* Whoever says that it may have won is told, however late it asks. */
Test(grab_late, late_repeat_is_told_its_packet)
{
	struct rig_got got;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "winner", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	for (int i = 0; i < 2; i++) {
		rig_put(&rig, 0, LANE_GRAB, "a", i == 0 ? "winner" : "loser",
			&got);
		got.ask.repeat = true;
		got.ask.not_after_ms =
			redis_time_now(&rig.services[0].env.time) - 1000;
		rig_pump(&rig, 0, LANE_GRAB, "a");
		RUN_UNTIL(&rig.loop, got.done);
		cr_assert_eq(got.status, i == 0 ? RAIN__STATUS__ALREADY_GRABBED
						: RAIN__STATUS__BUSY);
	}
}

/* Neighbours with the same deadline share what is written of it. */
Test(grab_late, users_of_one_call_have_deadlines_of_their_own)
{
	static const int late_ms[] = { -2000, -2000, 1000, 1000, -3000, 2000 };
	enum { N = sizeof late_ms / sizeof late_ms[0] };
	struct rig_got got[N];
	char user[] = "u0";
	int64_t now;
	long before;

	lua_open(&rig.redis, "a", 50);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "warm", &got[0]);
	for (int kind = 0; kind < LANE_KINDS; kind++) {
		before = rig_script_calls(&rig);
		now = redis_time_now(&rig.services[0].env.time);
		for (int i = 0; i < N; i++) {
			user[1] = (char)('0' + kind * N + i);
			rig_put(&rig, 0, (enum lane_kind)kind, "a", user,
				&got[i]);
			got[i].ask.repeat = true;
			got[i].ask.not_after_ms = now + 8 * late_ms[i];
		}
		rig_pump(&rig, 0, (enum lane_kind)kind, "a");
		for (int i = 0; i < N; i++) {
			RUN_UNTIL(&rig.loop, got[i].done);
			/* Nobody grabbed: late, that is the last word. */
			cr_expect_eq(got[i].status,
				     late_ms[i] < 0 ? RAIN__STATUS__BUSY
				     : kind == LANE_GRAB
					     ? RAIN__STATUS__WON
					     : RAIN__STATUS__PENDING,
				     "%d %d: %d", kind, i, got[i].status);
		}
		cr_expect_eq(rig_script_calls(&rig), before + 1);
	}
}
