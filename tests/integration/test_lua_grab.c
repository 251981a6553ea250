/* grab.lua and result.lua: who gets what, in which state, at what time. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

/* rain.Status */
#define WON         "1"
#define ALREADY     "2"
#define SOLD_OUT    "3"
#define NOT_STARTED "4"
#define PAUSED      "6"
#define ENDED       "7"
#define BUSY        "11"
#define PENDING     "12"

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

TestSuite(lua_grab, .init = start, .fini = stop);

/* Ask both ways for user w, who has a packet, and for n, who has none. */
static void expect_both(const char *id, const char *grab, const char *result)
{
	RUN(&s, &lua_grab, id, "", "w", LATER, "n", LATER);
	cr_expect_str_eq(reply.at[9], ALREADY, "%s", reply.at[9]);
	cr_expect(strstr(reply.at[10], "\"userId\":\"w\"") != NULL);
	cr_expect_str_eq(reply.at[11], grab, "grab: %s", reply.at[11]);
	cr_expect_str_eq(reply.at[12], "");
	RUN(&s, &lua_result, id, "w", "0", "n", "0", "n", LATER);
	cr_expect_str_eq(reply.at[9], ALREADY, "%s", reply.at[9]);
	cr_expect(strstr(reply.at[10], "\"userId\":\"w\"") != NULL);
	cr_expect_str_eq(reply.at[11], result, "result: %s", reply.at[11]);
	cr_expect_str_eq(reply.at[13], PENDING, "%s", reply.at[13]);
}

Test(lua_grab, a_claim_is_the_packet_with_its_user)
{
	char expected[200];

	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_grab, "a", "", "u-1", LATER, "u-2", LATER);
	cr_assert_str_eq(reply.at[3], "4");
	cr_assert_str_eq(reply.at[4], "OPEN");
	cr_assert_str_eq(reply.at[5], "1");
	cr_assert_str_eq(reply.at[6], "2");
	cr_assert_str_eq(reply.at[7], "3");
	cr_assert_str_eq(reply.at[8], "0");
	cr_assert_str_eq(reply.at[9], WON);
	cr_assert_str_eq(reply.at[11], WON);
	(void)snprintf(expected, sizeof(expected),
		       "{\"redPacketId\":\"1001\",\"amount\":\"1.00\","
		       "\"userId\":\"u-2\",\"seq\":2,\"atMs\":%s,"
		       "\"tranche\":1}",
		       reply.at[2]);
	cr_assert_str_eq(reply.at[12], expected);
	cr_assert_str_eq(redis_server_ask(&s, "LINDEX rain:{a}:claims 0"),
			 expected);
	cr_assert_str_eq(redis_server_ask(&s, "HGET rain:{a}:users u-2"),
			 expected);
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "1");
}

Test(lua_grab, a_user_gets_one_packet_however_often_named)
{
	char *claim;

	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "v", LATER, "u", LATER,
	       "u", "1");
	cr_assert_str_eq(reply.at[9], WON);
	cr_assert_str_eq(reply.at[11], WON);
	cr_assert_str_eq(reply.at[13], ALREADY);
	cr_assert_str_eq(reply.at[14], reply.at[10]);
	cr_assert_str_eq(reply.at[15], ALREADY);
	cr_assert_str_eq(reply.at[16], reply.at[10]);
	claim = strdup(reply.at[10]);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "u", LATER);
	cr_assert_str_eq(reply.at[10], claim);
	cr_assert_str_eq(reply.at[12], claim);
	cr_assert_str_eq(reply.at[6], "2");
	free(claim);
}

Test(lua_grab, the_last_packet_goes_to_the_first_and_sold_out_to_the_rest)
{
	lua_open(&s, "a", 1);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "v", LATER, "u", LATER,
	       "v", LATER);
	cr_assert_str_eq(reply.at[9], WON);
	cr_assert_str_eq(reply.at[11], SOLD_OUT);
	cr_assert_str_eq(reply.at[13], ALREADY);
	cr_assert_str_eq(reply.at[15], SOLD_OUT);
	cr_assert_str_eq(reply.at[5], "0");
	RUN(&s, &lua_result, "a", "v", "0");
	cr_assert_str_eq(reply.at[9], SOLD_OUT);
}

Test(lua_grab, a_thousand_users_and_not_one_more)
{
	static char users[1001][16];
	const char *args[2 * 1001 + 2] = { "" };
	char mark[40];

	lua_open(&s, "a", 1500);
	for (int i = 0; i < 1001; i++) {
		(void)snprintf(users[i], sizeof(users[i]), "u%d", i);
		args[1 + 2 * i] = users[i];
		args[2 + 2 * i] = LATER;
	}
	lua_run(&s, &lua_grab, "a", args);
	cr_assert(strncmp(reply.at[1], "(error)", 7) == 0, "%s", reply.at[1]);
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "1500");
	for (int batch = 0; batch < 2; batch++) {
		for (int i = 0; i < 1000; i++) {
			(void)snprintf(users[i], sizeof(users[i]), "u%d-%d",
				       batch, i);
		}
		args[2001] = NULL;
		lua_run(&s, &lua_grab, "a", args);
		cr_assert_str_eq(reply.at[1], "OK");
	}
	cr_assert_str_eq(reply.at[9 + 2 * 499], WON);
	cr_assert_str_eq(reply.at[9 + 2 * 500], SOLD_OUT);
	for (int seq = 1; seq <= 1500; seq++) {
		(void)snprintf(mark, sizeof(mark), "\"seq\":%d,", seq);
		cr_assert(strstr(redis_server_ask(
					 &s, "LINDEX rain:{a}:claims %d", -seq),
				 mark) != NULL,
			  "%s", mark);
	}
	cr_assert_str_eq(redis_server_ask(&s, "HLEN rain:{a}:users"), "1500");
}

Test(lua_grab, nothing_is_executed_after_not_after)
{
	char now[24];

	lua_open(&s, "a", 3);
	(void)snprintf(now, sizeof(now), "%lld", lua_now(&s) - 1);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", now, "v", "0");
	cr_assert_str_eq(reply.at[9], BUSY);
	cr_assert_str_eq(reply.at[11], BUSY);
	cr_assert_str_eq(reply.at[5], "3");
	/* The same user once too late and once in time has a packet. */
	EXPECT("OK", &s, &lua_grab, "a", "", "u", now, "u", LATER);
	cr_assert_str_eq(reply.at[9], BUSY);
	cr_assert_str_eq(reply.at[11], WON);
}

/* A grab that may be executed is PENDING for who asks, and the other way
 * round, up to the very millisecond. */
Test(lua_grab, grab_and_result_agree_on_not_after)
{
	char text[24];
	long long at;

	lua_open(&s, "a", 3);
	do {
		at = lua_now(&s);
		(void)snprintf(text, sizeof(text), "%lld", at);
		RUN(&s, &lua_result, "a", "u", text);
	} while (strtoll(reply.at[2], NULL, 10) != at);
	cr_assert_str_eq(reply.at[9], PENDING);
	for (;;) {
		at = lua_now(&s);
		(void)snprintf(text, sizeof(text), "%lld", at);
		RUN(&s, &lua_grab, "a", "", "u", text);
		if (strtoll(reply.at[2], NULL, 10) == at) {
			break;
		}
		/* Later than that: it was not executed, so ask again. */
		cr_assert_str_eq(reply.at[9], BUSY);
	}
	cr_assert_str_eq(reply.at[9], WON);
}

Test(lua_grab, every_state_has_its_answer_and_winners_keep_their_packet)
{
	EXPECT("NO_META", &s, &lua_grab, "a", "", "u", LATER);
	cr_assert_str_eq(reply.at[3], "0");
	cr_assert_str_eq(reply.at[4], "");
	EXPECT("NO_META", &s, &lua_result, "a", "u", "0");
	lua_load(&s, "a", 3);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER);
	cr_assert_str_eq(reply.at[9], NOT_STARTED);
	RUN(&s, &lua_result, "a", "u", "0", "u", LATER);
	cr_assert_str_eq(reply.at[9], NOT_STARTED);
	cr_assert_str_eq(reply.at[11], PENDING);
	EXPECT("OK", &s, &lua_activity, "a", "open", "", "3");
	EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER);
	RUN(&s, &lua_result, "a", "n", "0", "n", LATER);
	cr_assert_str_eq(reply.at[9], BUSY);
	cr_assert_str_eq(reply.at[11], PENDING);
	EXPECT("OK", &s, &lua_activity, "a", "pause", "", "why");
	expect_both("a", PAUSED, PAUSED);
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "evidence", "why");
	expect_both("a", PAUSED, PAUSED);
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "why");
	expect_both("a", ENDED, ENDED);
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "200", "2");
	EXPECT("OK", &s, &lua_activity, "a", "settled", "", "why");
	expect_both("a", ENDED, ENDED);
	redis_server_ask(&s, "HSET rain:{a}:relay claims 1 events %s",
			 "8"); /* created ... settled */
	EXPECT("OK", &s, &lua_activity, "a", "unlink", "");
	EXPECT("UNLINKED", &s, &lua_grab, "a", "", "w", LATER);
	EXPECT("UNLINKED", &s, &lua_result, "a", "w", "0");

	lua_create(&s, "b", 3, 0, 0);
	EXPECT("OK", &s, &lua_grab, "b", "", "u", LATER);
	cr_assert_str_eq(reply.at[9], NOT_STARTED);
	EXPECT("OK", &s, &lua_activity, "b", "cancel", "", "why");
	EXPECT("OK", &s, &lua_grab, "b", "", "u", LATER);
	cr_assert_str_eq(reply.at[9], ENDED);
}

/* The times are written into meta, so that the script's own clock meets the
 * very millisecond: asked until it does. */
static void expect_at(const char *field, long long offset, const char *status)
{
	for (;;) {
		long long at = lua_now(&s);
		char text[24];

		(void)snprintf(text, sizeof(text), "%lld", at + offset);
		redis_server_ask(&s, "HSET rain:{a}:meta %s %s", field, text);
		RUN(&s, &lua_grab, "a", "", "nobody", "0");
		if (strtoll(reply.at[2], NULL, 10) == at) {
			break;
		}
	}
	cr_expect_str_eq(reply.at[9], status, "%s %+lld: %s", field, offset,
			 reply.at[9]);
}

Test(lua_grab, start_belongs_to_the_activity_and_end_does_not)
{
	lua_open(&s, "a", 3);
	expect_at("start_ms", 1, NOT_STARTED);
	cr_expect_str_eq(reply.at[8], "1");
	/* In time: BUSY says that only not_after stood in the way. */
	expect_at("start_ms", 0, BUSY);
	cr_expect_str_eq(reply.at[8], "0");
	expect_at("end_ms", 1, BUSY);
	expect_at("end_ms", 0, ENDED);
	EXPECT("OK", &s, &lua_activity, "a", "pause", "", "");
	expect_at("start_ms", 1, NOT_STARTED);
}

Test(lua_grab, tranches_end_where_meta_says)
{
	lua_open(&s, "a", 4);
	redis_server_ask(&s, "HSET rain:{a}:meta tranche_ends 1,3,4");
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "v", LATER, "w",
	       LATER);
	cr_assert(strstr(reply.at[10], "\"tranche\":1}") != NULL);
	cr_assert(strstr(reply.at[12], "\"tranche\":2}") != NULL);
	cr_assert(strstr(reply.at[14], "\"tranche\":2}") != NULL);
	/* An end that is missing costs no packet. */
	redis_server_ask(&s, "HSET rain:{a}:meta tranche_ends 1,3");
	EXPECT("SCHEMA", &s, &lua_grab, "a", "", "x", LATER);
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "1");
	redis_server_ask(&s, "HSET rain:{a}:meta tranche_ends 1,3,4");
	EXPECT("OK", &s, &lua_grab, "a", "", "x", LATER);
	cr_assert(strstr(reply.at[10], "\"tranche\":3}") != NULL);
}

Test(lua_grab, an_empty_batch_tells_the_time)
{
	lua_open(&s, "a", 4);
	EXPECT("OK", &s, &lua_grab, "a", "");
	cr_assert_eq(reply.n, 8);
	cr_assert(llabs(strtoll(reply.at[2], NULL, 10) - lua_now(&s)) < 1000);
}

Test(lua_grab, a_witness_registers_once)
{
	lua_open(&s, "a", 4);
	EXPECT("OK", &s, &lua_grab, "a", "grab-1");
	cr_assert_str_eq(redis_server_ask(&s, "HGET rain:{a}:relay w:grab-1"),
			 reply.at[2]);
	redis_server_ask(&s, "HSET rain:{a}:relay w:grab-1 before");
	EXPECT("OK", &s, &lua_grab, "a", "grab-1", "u", LATER);
	cr_assert_str_eq(redis_server_ask(&s, "HGET rain:{a}:relay w:grab-1"),
			 "before");
}
