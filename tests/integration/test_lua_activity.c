/* activity.lua and preload.lua: from state to state, and nowhere else. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

#define LATER "99999999999999"

static struct redis_server s;

static void start(void)
{
	redis_server_start(&s, NULL);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_activity, .init = start, .fini = stop);

static const char *newest_event(void)
{
	return redis_server_ask(&s, "LINDEX rain:{a}:events 0");
}

static void expect_event(const char *head, const char *rest)
{
	const char *event = newest_event();

	cr_expect(strncmp(event, head, strlen(head)) == 0, "%s", event);
	cr_expect(strlen(event) > strlen(rest) &&
			  strcmp(event + strlen(event) - strlen(rest), rest) ==
				  0,
		  "%s", event);
}

/* The text of the plan, as long as the test lasts. */
static const char *plan_of_a(void)
{
	static char text[512];

	(void)snprintf(text, sizeof(text), "%s", lua_meta(&s, "a", "plan"));
	return text;
}

Test(lua_activity, create_writes_the_plan_and_its_event)
{
	lua_create(&s, "a", 3, 10, 20);
	cr_assert_str_eq(reply.at[3], "1");
	cr_assert_str_eq(reply.at[4], "CREATED");
	cr_assert_str_eq(lua_meta(&s, "a", "schema"), "1");
	cr_assert_str_eq(lua_meta(&s, "a", "revision"), "1");
	cr_assert_eq(strlen(lua_meta(&s, "a", "seed")), 64);
	cr_assert_str_eq(lua_meta(&s, "a", "tranches"), "0");
	cr_assert_eq(strlen(lua_meta(&s, "a", "incarnation")), 81);
	expect_event("{\"type\":\"created\",\"revision\":1,\"atMs\":",
		     ",\"title\":\"quiz \\\"night\\\"\",\"sponsor\":\"s\","
		     "\"currency\":\"CNY\",\"total_cents\":\"300\","
		     "\"packets\":\"3\",\"commitment\":\""
		     "7025bd568fa755571ff35816fa75f403"
		     "5ac6541179abe071f32c5694b51b6b95\","
		     "\"start_ms\":\"10\",\"end_ms\":\"20\","
		     "\"ack\":\"redis\"}");
}

Test(lua_activity, create_knows_its_plan_again)
{
	lua_open(&s, "a", 3);
	EXPECT("ALREADY", &s, &lua_activity, "a", "create", "", "plan",
	       plan_of_a());
	cr_assert_str_eq(reply.at[4], "OPEN");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "create", "", "plan",
	       "another");
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:events"), "3");
}

Test(lua_activity, preload_pushes_in_plan_order_and_each_chunk_once)
{
	lua_create(&s, "a", 3, 0, 0);
	EXPECT("STATE", &s, &lua_preload, "a", "0", "p1", "p2");
	EXPECT("OK", &s, &lua_activity, "a", "loading", "1");
	EXPECT("ALREADY", &s, &lua_activity, "a", "loading", "1");
	EXPECT("OK", &s, &lua_preload, "a", "0", "p1", "p2");
	cr_assert_str_eq(reply.at[5], "2");
	EXPECT("ORDER", &s, &lua_preload, "a", "0", "p1", "p2");
	cr_assert_str_eq(reply.at[5], "2");
	EXPECT("ORDER", &s, &lua_preload, "a", "2", "p3", "p4");
	EXPECT("COUNTS", &s, &lua_activity, "a", "loaded", "", "300");
	EXPECT("OK", &s, &lua_preload, "a", "2", "p3");
	cr_assert_str_eq(redis_server_ask(&s, "LRANGE rain:{a}:packets 0 -1"),
			 "p3\np2\np1");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "loaded", "", "299");
	EXPECT("OK", &s, &lua_activity, "a", "loaded", "", "300");
	expect_event("{\"type\":\"loaded\",\"revision\":3,",
		     ",\"tranche\":\"1\",\"packets\":\"3\","
		     "\"total_cents\":\"300\"}");
	cr_assert_str_eq(lua_meta(&s, "a", "tranche_ends"), "3");
	EXPECT("ALREADY", &s, &lua_activity, "a", "loaded", "", "300");
	EXPECT("STATE", &s, &lua_preload, "a", "3", "p4");
}

/* No transaction leaves it behind: a stranger has made it. */
Test(lua_activity, preload_finds_its_gate_open)
{
	lua_create(&s, "a", 3, 0, 0);
	EXPECT("OK", &s, &lua_activity, "a", "loading", "1");
	EXPECT("OK", &s, &lua_preload, "a", "0", "p1", "p2");
	redis_server_ask(&s, "LPUSH rain:{a}:loading p0");
	RUN(&s, &lua_preload, "a", "2", "p3");
	cr_assert_str_eq(reply.at[1], "COUNTS");
	cr_assert_str_eq(redis_server_ask(&s, "LRANGE rain:{a}:packets 0 -1"),
			 "p2\np1");
}

Test(lua_activity, open_only_against_the_length_that_was_checked)
{
	lua_load(&s, "a", 3);
	EXPECT("COUNTS", &s, &lua_activity, "a", "open", "", "2");
	redis_server_ask(&s, "LPUSH rain:{a}:packets p");
	EXPECT("COUNTS", &s, &lua_activity, "a", "open", "", "4");
	redis_server_ask(&s, "LPOP rain:{a}:packets");
	EXPECT("OK", &s, &lua_activity, "a", "open", "3", "3");
	expect_event("{\"type\":\"opened\",\"revision\":4,",
		     ",\"packets\":\"3\"}");
	EXPECT("ALREADY", &s, &lua_activity, "a", "open", "3", "3");
}

Test(lua_activity, a_foreign_revision_changes_nothing)
{
	lua_open(&s, "a", 3);
	EXPECT("REVISION", &s, &lua_activity, "a", "pause", "3", "why");
	EXPECT("REVISION", &s, &lua_activity, "a", "pause", "5", "why");
	EXPECT("OK", &s, &lua_activity, "a", "pause", "4", "why");
	/* Asked again because the reply was lost. */
	EXPECT("ALREADY", &s, &lua_activity, "a", "pause", "4", "why");
	cr_assert_str_eq(lua_meta(&s, "a", "revision"), "5");
	expect_event("{\"type\":\"paused\",\"revision\":5,",
		     ",\"reason\":\"why\"}");
}

Test(lua_activity, a_rain_from_open_to_unlinked)
{
	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER);
	EXPECT("OK", &s, &lua_activity, "a", "pause", "", "ad");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "on");
	expect_event("{\"type\":\"resumed\"", "\"reason\":\"on\"}");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "end");
	cr_assert_str_eq(reply.at[4], "CLOSED");
	expect_event("{\"type\":\"closed\"",
		     "\"claims\":\"1\",\"packets_left\":\"2\","
		     "\"seed\":\"00000000000000000000000000000000"
		     "00000000000000000000000000000000\"}");
	cr_assert_str_eq(lua_meta(&s, "a", "final_claims"), "1");
	cr_assert_str_eq(lua_meta(&s, "a", "final_left"), "2");
	EXPECT("STATE", &s, &lua_activity, "a", "settled", "", "refund");
	EXPECT("COUNTS", &s, &lua_activity, "a", "counted", "", "200", "1");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "0", "2");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "301", "2");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "200", "2");
	expect_event("{\"type\":\"counted\"",
		     "\"leftover_cents\":\"200\",\"packets_left\":\"2\"}");
	EXPECT("ALREADY", &s, &lua_activity, "a", "counted", "", "200", "2");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "199", "2");
	EXPECT("STATE", &s, &lua_activity, "a", "unlink", "");
	EXPECT("OK", &s, &lua_activity, "a", "settled", "", "refund");
	EXPECT("ORDER", &s, &lua_activity, "a", "unlink", "");
	redis_server_ask(&s, "HSET rain:{a}:relay claims 1 events 8");
	EXPECT("OK", &s, &lua_activity, "a", "unlink", "");
	cr_assert_str_eq(redis_server_ask(&s, "KEYS rain:{a}:claims"), "");
	cr_assert_str_eq(lua_meta(&s, "a", "unlinked"), "1");
	EXPECT("ALREADY", &s, &lua_activity, "a", "unlink", "");
	EXPECT("UNLINKED", &s, &lua_activity, "a", "settled", "", "");
	EXPECT("UNLINKED", &s, &lua_relay_read, "a", "-1", "9", "-1", "9");
	cr_assert_str_eq(reply.at[8], "1");
	cr_assert_str_eq(reply.at[9], "8");
	cr_assert_str_eq(reply.at[10], "0");
	EXPECT("UNLINKED", &s, &lua_relay, "a", "rewind", "", "", "0");
	EXPECT("ALREADY", &s, &lua_activity, "a", "create", "", "plan",
	       plan_of_a());
}

/* No operation leads out of a state but those of the table. */
static void expect_only(const char *allowed)
{
	static const char *const operations[] = { "loading", "loaded", "open",
						  "pause",   "resume", "close",
						  "counted", "cancel", "halt",
						  "settled", "unlink" };

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]);
	     i++) {
		if (strstr(allowed, operations[i]) == NULL) {
			EXPECT("STATE", &s, &lua_activity, "a", operations[i],
			       "", "evidence", "1");
			cr_expect(strlen(reply.at[5]) > 10);
		}
	}
}

Test(lua_activity, no_way_out_of_a_state_but_its_own)
{
	lua_create(&s, "a", 1, 0, 0);
	expect_only("loading cancel");
	EXPECT("OK", &s, &lua_activity, "a", "loading", "");
	expect_only("loading loaded cancel");
	EXPECT("OK", &s, &lua_preload, "a", "0", "p");
	EXPECT("OK", &s, &lua_activity, "a", "loaded", "", "100");
	expect_only("loaded open cancel");
	EXPECT("OK", &s, &lua_activity, "a", "open", "", "1");
	expect_only("open pause resume close halt");
	EXPECT("OK", &s, &lua_activity, "a", "pause", "", "");
	expect_only("pause resume close halt");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "evidence", "x");
	expect_only("resume close halt");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "");
	cr_assert_str_eq(reply.at[4], "PAUSED");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "evidence", "x");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	expect_only("close counted halt");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "100", "1");
	EXPECT("OK", &s, &lua_activity, "a", "settled", "", "");
	expect_only("settled unlink");
}

Test(lua_activity, cancelled_before_it_opened)
{
	lua_load(&s, "a", 1);
	EXPECT("OK", &s, &lua_activity, "a", "cancel", "", "rain");
	expect_event("{\"type\":\"cancelled\"", "\"reason\":\"rain\"}");
	EXPECT("ALREADY", &s, &lua_activity, "a", "cancel", "", "rain");
	expect_only("cancel settled");
	EXPECT("OK", &s, &lua_activity, "a", "settled", "", "");
}

Test(lua_activity, halt_repeats_the_check)
{
	char claim[200];

	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "v", LATER);
	(void)snprintf(claim, sizeof(claim), "%s", reply.at[12]);
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "halt", "", "counts");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "halt", "", "claim", "2",
	       claim);
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "halt", "", "element", "1");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "halt", "", "element", "2");
	cr_assert_str_eq(lua_meta(&s, "a", "state"), "OPEN");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "claim", "1", claim);
	cr_assert_str_eq(reply.at[5], "claim 1 is not what it was");
	expect_event("{\"type\":\"halted\"",
		     "\"reason\":\"claim 1 is not what it was\"}");
	EXPECT("ALREADY", &s, &lua_activity, "a", "halt", "", "counts");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "looked");
	/* Whoever opens it again sees why it was not. */
	cr_assert_str_eq(lua_meta(&s, "a", "reason"),
			 "looked; it was halted: claim 1 is not what it was");
	expect_event("{\"type\":\"resumed\"",
		     "\"reason\":\"looked; it was halted: claim 1 is not what "
		     "it was\"}");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "claim", "3", "gone");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "");
	redis_server_ask(&s, "LSET rain:{a}:claims 0 %s", "{\"seq\":2}");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "element", "2");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
}

Test(lua_activity, what_was_closed_never_opens_again)
{
	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "300", "3");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "evidence", "x");
	EXPECT("STATE", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	cr_assert_str_eq(lua_meta(&s, "a", "leftover_cents"), "(nil)");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "300", "3");
}

Test(lua_activity, paused_with_a_packet_missing_stays_paused)
{
	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_activity, "a", "pause", "", "");
	redis_server_ask(&s, "RPOP rain:{a}:packets");
	EXPECT("COUNTS", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("COUNTS", &s, &lua_activity, "a", "close", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	cr_assert_str_eq(lua_meta(&s, "a", "final_left"), "2");
}

/* No other key may be there, and no other plan takes it. */
Test(lua_activity, a_list_that_is_there_is_adopted)
{
	const char *fields[] = { "create",   "",      "plan",        "p",
				 "title",    "t",     "sponsor",     "s",
				 "currency", "CNY",   "total_cents", "2",
				 "count",    "2",     "commitment",  "c",
				 "start_ms", "0",     "end_ms",      "0",
				 "ack",      "redis", "algorithm",   "equal",
				 NULL };

	redis_server_ask(&s, "RPUSH rain:{a}:packets x y");
	lua_run(&s, &lua_activity, "a", fields);
	cr_assert_str_eq(reply.at[1], "DIFFERENT");
	fields[23] = "adopted";
	redis_server_ask(&s, "LPUSH rain:{a}:claims x");
	lua_run(&s, &lua_activity, "a", fields);
	cr_assert_str_eq(reply.at[1], "DIFFERENT");
	redis_server_ask(&s, "DEL rain:{a}:claims");
	lua_run(&s, &lua_activity, "a", fields);
	cr_assert_str_eq(reply.at[1], "OK", "%s", reply.at[5]);
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "entropy", "", "00", "me");
	cr_assert_str_eq(lua_meta(&s, "a", "entropy"), "(nil)");
	EXPECT("OK", &s, &lua_activity, "a", "loading", "");
	redis_server_ask(&s, "RPOP rain:{a}:packets");
	EXPECT("COUNTS", &s, &lua_activity, "a", "loaded", "", "2");
	cr_assert_str_eq(reply.at[5],
			 "there are 1 packets in Redis, and 2 in the plan");
	redis_server_ask(&s, "RPUSH rain:{a}:packets y");
	EXPECT("OK", &s, &lua_activity, "a", "loaded", "", "2");
	EXPECT("OK", &s, &lua_activity, "a", "open", "", "2", "d1");
	cr_assert_str_eq(lua_meta(&s, "a", "list"), "d1");
	expect_event("{\"type\":\"opened\"", "\"packets\":\"2\"}");
}
