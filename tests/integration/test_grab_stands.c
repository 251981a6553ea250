/* For how long an answer without a packet stands, on a real Redis. */
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

TestSuite(grab_stands, .init = start, .fini = stop, .timeout = 60);

/* What a gateway may tell again: a chunk of a top-up moves the number of packets
 * and not the revision, and whoever was told SOLD_OUT before may win it. */
Test(grab_stands, what_makes_sold_out_another_word)
{
	struct rig_got first;
	struct rig_got got;

	lua_open(&rig.redis, "a", 1);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.stands_ms, 0, "a packet");
	rig_grab(&rig, 0, "a", "v", &first);
	cr_assert_eq(first.status, RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(first.packets, 1);
	cr_assert_eq(first.stands_ms, UINT32_MAX);
	/* As lua/topup.lua loads: list and meta at once. */
	(void)redis_server_ask(&rig.redis, "HSET rain:{a}:meta packets 2 "
					   "tranche_ends 1,2");
	(void)redis_server_ask(
		&rig.redis, "LPUSH rain:{a}:packets "
			    "{\"redPacketId\":\"2001\",\"amount\":\"1.00\"}");
	rig_grab(&rig, 0, "a", "v", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	rig_grab(&rig, 0, "a", "w", &got);
	cr_assert_eq(got.status, RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(got.revision, first.revision);
	cr_assert_eq(got.packets, 2);
	rig_result(&rig, 0, "a", "w", &got);
	cr_assert_eq(got.stands_ms, 0, "a question");
	EXPECT("OK", &rig.redis, &lua_activity, "a", "pause", "", "");
	rig_grab(&rig, 0, "a", "w", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PAUSED);
	cr_assert_eq(got.stands_ms, UINT32_MAX);
	cr_assert_gt(got.revision, first.revision);
}
