/* ActivityService when the reply of Redis is lost: it looks again where that
 * decides, and says that it does not know where it does not. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/activity_rig.h"
#include "lib/lua_run.h"
#include "lib/turns.h"
#include "proto/proto_util.h"

static struct activity_rig g;

static void start(void)
{
	activity_rig_open(&g, NULL);
	/* A script that is known answers with one reply, not with NOSCRIPT. */
	lua_open(&g.server, "warm", 3);
	EXPECT("OK", &g.server, &lua_relay, "warm", "rewind", "", "", "0");
	EXPECT("DIFFERENT", &g.server, &lua_topup, "warm", "load", "2", "0");
	activity_rig_through_proxy(&g);
}

static void stop(void)
{
	cr_assert_eq(g.proxy.cuts, 1);
	activity_rig_close(&g);
}

TestSuite(activity_lost, .init = start, .fini = stop);

static void create(const char *id, uint64_t packets)
{
	Rain__Plan m = activity_plan(id, packets);

	activity_create_plan(&g, &m);
}

/* Of the tests, one way to OPEN. */
static void open_quiz(void)
{
	create("quiz", 1200);
	activity_ask(&g, "preload", "quiz");
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

Test(activity_lost, create_finds_its_plan)
{
	cut_proxy_arm(&g.proxy, "\r\ncreate\r\n");
	create("quiz", 5);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert(strstr(g.message, "lost") != NULL, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__CREATED);
	cr_assert_eq(g.changed, 1);
}

Test(activity_lost, a_chunk_is_not_pushed_twice)
{
	create("quiz", 1200);
	cut_proxy_arm(&g.proxy, "\r\n500\r\n");
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

/* Those behind it are in flight by then, and the list goes on before it is
 * known that the lost one is in it. */
Test(activity_lost, chunks_behind_a_lost_one_are_not_pushed_twice)
{
	create("quiz", 9700);
	cut_proxy_arm(&g.proxy, "\r\n1500\r\n");
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_str_eq(
		redis_server_ask(&g.server, "LLEN rain:{quiz}:packets"),
		"9700");
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

Test(activity_lost, loaded_is_said_again)
{
	create("quiz", 1200);
	cut_proxy_arm(&g.proxy, "\r\nloaded\r\n");
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->revision, 3);
}

Test(activity_lost, open_is_said_again)
{
	create("quiz", 1200);
	activity_ask(&g, "preload", "quiz");
	cut_proxy_arm(&g.proxy, "\r\nopen\r\n");
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__OPEN);
}

Test(activity_lost, a_page_is_read_again)
{
	create("quiz", 1200);
	activity_ask(&g, "preload", "quiz");
	cut_proxy_arm(&g.proxy, "\r\nLRANGE\r\n");
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

Test(activity_lost, close_is_seen_in_the_state)
{
	open_quiz();
	cut_proxy_arm(&g.proxy, "\r\nclose\r\n");
	activity_ask(&g, "close", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__CLOSED);
}

/* A halted activity that is PAUSED now: by this resume, or not yet? */
Test(activity_lost, resume_of_a_halted_activity_is_not_known)
{
	open_quiz();
	EXPECT("OK", &g.server, &lua_activity, "quiz", "halt", "", "evidence",
	       "why");
	cut_proxy_arm(&g.proxy, "\r\nresume\r\n");
	activity_ask(&g, "resume", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNKNOWN_OUTCOME, "%s",
		     g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__STATE_PAUSED);
}

Test(activity_lost, resume_of_a_paused_activity_is_seen)
{
	open_quiz();
	activity_ask(&g, "pause", "quiz");
	cut_proxy_arm(&g.proxy, "\r\nresume\r\n");
	activity_ask(&g, "resume", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__OPEN);
}

static void topup(const char *cut_at)
{
	Rain__TopUpRequest m = RAIN__TOP_UP_REQUEST__INIT;
	Rain__Plan plan = activity_plan("", 1200);
	struct activity_call c;

	open_quiz();
	g.ledger.known = true;
	g.ledger.funded_cents = 240000;
	g.ledger.funded_packets = 2400;
	m.activity_id = to_pb_str("quiz");
	m.plan = &plan;
	m.tranche = 2;
	cut_proxy_arm(&g.proxy, cut_at);
	activity_send(&g, &c, "topUp", "Lrain/TopUpRequest;", &m.base,
		      &rain__activity_reply__descriptor);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->loaded, 2400);
	cr_assert_eq(g.activity->tranches, 2);
	cr_assert_str_eq(
		redis_server_ask(&g.server, "LLEN rain:{quiz}:packets"),
		"2400");
	cr_assert_str_eq(redis_server_ask(&g.server, "LLEN rain:{quiz}:events"),
			 "4");
}

Test(activity_lost, the_first_chunk_of_a_tranche_is_not_pushed_twice)
{
	topup("\r\nload\r\n");
}

/* The seed that lies in Redis counts, not the one of the second try. */
Test(activity_lost, a_tranche_is_announced_once)
{
	topup("\r\nannounce\r\n");
}

Test(activity_lost, the_last_chunk_of_a_tranche_is_not_pushed_twice)
{
	topup("\r\n1000\r\n");
}

Test(activity_lost, rewind_is_not_known)
{
	Rain__RewindRequest m = RAIN__REWIND_REQUEST__INIT;
	struct activity_call c;

	open_quiz();
	m.activity_id = to_pb_str("quiz");
	cut_proxy_arm(&g.proxy, "\r\nrewind\r\n");
	activity_send(&g, &c, "rewind", "Lrain/RewindRequest;", &m.base,
		      &rain__activity_reply__descriptor);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNKNOWN_OUTCOME, "%s",
		     g.message);
}
