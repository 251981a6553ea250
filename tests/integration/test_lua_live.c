/* grab.lua of live activities: what is drawn, and what is refused with nothing
 * written. Draws of nothing but 0xff bytes are the highest number there is, so
 * each amount is the highest that can be: they were computed by hand. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

/* rain.Status */
#define WON         "1"
#define ALREADY     "2"
#define SOLD_OUT    "3"
#define NOT_STARTED "4"
#define NOT_YET     "5"
#define PAUSED      "6"
#define ENDED       "7"
#define BUSY        "11"

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

TestSuite(lua_live, .init = start, .fini = stop);

static void amount_is(int at, const char *amount)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "\"amount\":\"%s\",", amount);
	cr_assert_str_eq(reply.at[at - 1], WON, "%s", reply.at[at - 1]);
	cr_assert(strstr(reply.at[at], text) != NULL, "%s: %s", text,
		  reply.at[at]);
}

static void left_is(const char *id, const char *left)
{
	cr_assert_str_eq(
		redis_server_ask(
			&s, "HMGET rain:{%s}:meta left balance claimed_cents",
			id),
		left);
}

Test(lua_live, a_claim_is_what_a_list_would_have_given)
{
	char expected[200];

	lua_open_live(&s, "a", 4, 1000, 1, 0);
	left_is("a", "4\n1000\n0");
	EXPECT("OK", &s, &lua_grab, "a", "", "u-1", LATER, "u-2", LATER,
	       lua_draws(&s, "a", 1, 2, 0xff));
	cr_assert_eq(reply.n, 12);
	cr_assert_str_eq(reply.at[5], "2");
	cr_assert_str_eq(reply.at[6], "2");
	cr_assert_str_eq(reply.at[7], "4");
	/* Twice the mean of 250.00 less the minimum; of 501 left, 167. */
	amount_is(10, "4.99");
	(void)snprintf(expected, sizeof(expected),
		       "{\"redPacketId\":\"1999999999999999991\",\"amount\":"
		       "\"3.33\",\"userId\":\"u-2\",\"seq\":2,\"atMs\":%s,"
		       "\"tranche\":1}",
		       reply.at[2]);
	cr_assert_str_eq(reply.at[12], expected);
	cr_assert_str_eq(redis_server_ask(&s, "LINDEX rain:{a}:claims 0"),
			 expected);
	cr_assert_str_eq(redis_server_ask(&s, "HGET rain:{a}:users u-2"),
			 expected);
	cr_assert_str_eq(redis_server_ask(&s, "EXISTS rain:{a}:packets"), "0");
	left_is("a", "2\n168\n832");
	/* The next draws may begin before the next place. */
	EXPECT("OK", &s, &lua_grab, "a", "", "u-3", LATER, "u-4", LATER,
	       lua_draws(&s, "a", 2, 3, 0xff));
	amount_is(10, "1.67");
	amount_is(12, "0.01");
	left_is("a", "0\n0\n1000");
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "9", "-1", "9");
}

/* A byte of 0x01 is 1/255 of the range, and a bit less. */
Test(lua_live, low_draws)
{
	lua_open_live(&s, "a", 4, 1000, 1, 0);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "v", LATER, "w", LATER,
	       "x", LATER, lua_draws(&s, "a", 1, 9, 0x01));
	amount_is(10, "0.02");
	amount_is(12, "0.03");
	amount_is(14, "0.04");
	amount_is(16, "9.91");
}

Test(lua_live, bounds_leave_no_choice)
{
	lua_open_live(&s, "min", 3, 300, 100, 0);
	EXPECT("OK", &s, &lua_grab, "min", "", "u", LATER, "v", LATER,
	       lua_draws(&s, "min", 1, 2, 0xff));
	amount_is(10, "1.00");
	amount_is(12, "1.00");
	lua_open_live(&s, "max", 3, 600, 1, 200);
	EXPECT("OK", &s, &lua_grab, "max", "", "u", LATER, "v", LATER,
	       lua_draws(&s, "max", 1, 2, 0x01));
	amount_is(10, "2.00");
	amount_is(12, "2.00");
}

/* 2^53 - 1 is as far as Lua's numbers are exact. */
Test(lua_live, the_highest_total)
{
	const long long most = 9007199254740991;

	lua_open_live(&s, "a", 1, most, 1, 0);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	amount_is(10, "90071992547409.91");
	left_is("a", "0\n0\n9007199254740991");
	lua_open_live(&s, "b", 2, most, 1, 0);
	EXPECT("OK", &s, &lua_grab, "b", "", "u", LATER, "v", LATER,
	       lua_draws(&s, "b", 1, 2, 0xff));
	amount_is(10, "90071992547409.89");
	amount_is(12, "0.02");
	lua_open_live(&s, "c", 3, most, 1, most);
	EXPECT("OK", &s, &lua_grab, "c", "", "u", LATER,
	       lua_draws(&s, "c", 1, 1, 0xff));
	amount_is(10, "60047995031606.59");
	left_is("c", "2\n3002399751580332\n6004799503160659");
	EXPECT("OK", &s, &lua_grab, "c", "", "v", LATER, "w", LATER,
	       lua_draws(&s, "c", 2, 2, 0xff));
	amount_is(10, "30023997515803.31");
	amount_is(12, "0.01");
	/* 1 + floor(9007199254740989 * 0x0101...01 / 2^96) */
	lua_open_live(&s, "d", 2, most, 1, 0);
	EXPECT("OK", &s, &lua_grab, "d", "", "u", LATER, "v", LATER,
	       lua_draws(&s, "d", 1, 2, 0x01));
	amount_is(10, "353223500185.93");
	amount_is(12, "89718769047223.98");
}

/* Nothing written at all, not even who registers. */
static void asks_for_draws(const char *draws)
{
	char *before = lua_whole(&s, "a");
	char *after;

	EXPECT("DRAWS", &s, &lua_grab, "a", "me", "u", LATER, "w", LATER, "v",
	       LATER, draws);
	cr_assert_str_eq(reply.at[4], "OPEN");
	cr_assert_str_eq(reply.at[5], "3");
	cr_assert_str_eq(reply.at[6], "1");
	cr_assert_str_eq(reply.at[7], "4");
	cr_assert_str_eq(reply.at[8], "0");
	cr_assert_str_eq(reply.at[9], "0000000000000000000000000000000000000000"
				      "000000000000000000000000");
	cr_assert_str_eq(reply.at[10], "", "no entropy");
	cr_assert_str_eq(reply.at[11], "activity_id=a");
	cr_assert_str_eq(reply.at[reply.n - 1], "", "the plan's last line end");
	cr_assert_str_eq(reply.at[reply.n], lua_meta(&s, "a", "commitment"));
	after = lua_whole(&s, "a");
	cr_assert_str_eq(before, after);
	free(before);
	free(after);
}

Test(lua_live, without_the_draws_of_its_places_nothing_is_done)
{
	char half[400];
	char other[400];

	lua_open_live(&s, "a", 4, 1000, 1, 0);
	EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	asks_for_draws(NULL);
	asks_for_draws("nonsense");
	asks_for_draws("2 ");
	asks_for_draws(lua_draws(&s, "a", 3, 9, 0xff));
	asks_for_draws(lua_draws(&s, "a", 1, 2, 0xff));
	asks_for_draws(lua_draws(&s, "a", 2, 1, 0xff));
	asks_for_draws(lua_draws(&s, "a", 99, 9, 0xff));
	(void)snprintf(half, sizeof(half), "%s",
		       lua_draws(&s, "a", 2, 2, 0xff));
	half[strlen(half) - 6] = '\0';
	asks_for_draws(half);
	(void)snprintf(other, sizeof(other), "%s",
		       lua_draws(&s, "a", 2, 2, 0xff));
	other[2] = other[2] == '0' ? '1' : '0';
	asks_for_draws(other);
	/* Who wins nothing needs none. */
	EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER, "v", "0");
	cr_assert_str_eq(reply.at[9], ALREADY);
	cr_assert_str_eq(reply.at[11], BUSY);
	EXPECT("OK", &s, &lua_result, "a", "w", "0", "v", "0");
	cr_assert_str_eq(reply.at[9], ALREADY);
	cr_assert_str_eq(reply.at[11], BUSY);
	cr_assert_str_eq(reply.at[5], "3");
	EXPECT("OK", &s, &lua_grab, "a", "me", "u", LATER, "v", LATER,
	       lua_draws(&s, "a", 2, 2, 0xff));
	amount_is(10, "3.33");
}

Test(lua_live, entropy_is_told_with_the_seed)
{
	lua_load_live(&s, "a", 4, 1000, 1, 0);
	redis_server_ask(&s, "HSET rain:{a}:meta entropy 00ff");
	EXPECT("OK", &s, &lua_activity, "a", "open", "", "4");
	EXPECT("DRAWS", &s, &lua_grab, "a", "", "u", LATER);
	cr_assert_str_eq(reply.at[10], "00ff");
}

Test(lua_live, twice_in_a_batch_again_and_sold_out)
{
	lua_open_live(&s, "a", 2, 100, 1, 0);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "u", LATER, "v", LATER,
	       "w", LATER, "v", LATER, lua_draws(&s, "a", 1, 2, 0xff));
	amount_is(10, "0.99");
	cr_assert_str_eq(reply.at[11], ALREADY);
	cr_assert_str_eq(reply.at[12], reply.at[10]);
	amount_is(14, "0.01");
	cr_assert_str_eq(reply.at[15], SOLD_OUT);
	cr_assert_str_eq(reply.at[17], ALREADY);
	cr_assert_str_eq(reply.at[18], reply.at[14]);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "x", LATER);
	cr_assert_str_eq(reply.at[9], ALREADY);
	cr_assert_str_eq(reply.at[11], SOLD_OUT);
	EXPECT("OK", &s, &lua_result, "a", "x", "0");
	cr_assert_str_eq(reply.at[9], SOLD_OUT);
	left_is("a", "0\n0\n100");
}

Test(lua_live, a_thousand_users_at_once)
{
	static char users[1000][16];
	const char *args[2 * 1000 + 3] = { "" };
	long long sum = 0;

	lua_open_live(&s, "a", 1200, 1000000, 1, 0);
	for (int i = 0; i < 1000; i++) {
		(void)snprintf(users[i], sizeof(users[i]), "u%d", i);
		args[1 + 2 * i] = users[i];
		args[2 + 2 * i] = LATER;
	}
	args[2001] = lua_draws(&s, "a", 1, 999, 0x80);
	lua_run(&s, &lua_grab, "a", args);
	cr_assert_str_eq(reply.at[1], "DRAWS");
	args[2001] = lua_draws(&s, "a", 1, 1000, 0x80);
	lua_run(&s, &lua_grab, "a", args);
	cr_assert_str_eq(reply.at[1], "OK", "%s", reply.at[1]);
	for (int i = 0; i < 1000; i++) {
		const char *amount = strstr(reply.at[10 + 2 * i], "amount");
		char *end;

		cr_assert_str_eq(reply.at[9 + 2 * i], WON);
		sum += strtoll(amount + 9, &end, 10) * 100;
		sum += strtoll(end + 1, NULL, 10);
	}
	cr_assert_str_eq(lua_meta(&s, "a", "left"), "200");
	cr_assert_eq(strtoll(lua_meta(&s, "a", "claimed_cents"), NULL, 10),
		     sum);
	cr_assert_eq(strtoll(lua_meta(&s, "a", "balance"), NULL, 10),
		     1000000 - sum);
	cr_assert_str_eq(redis_server_ask(&s, "HLEN rain:{a}:users"), "1000");
	/* The ids carry over ten digits. */
	cr_assert(strstr(redis_server_ask(&s, "LINDEX rain:{a}:claims -11"),
			 "\"2000000000000000000\"") != NULL);
}

Test(lua_live, released_over_time)
{
	lua_open_live(&s, "a", 10, 1000, 1, 0);
	redis_server_ask(&s, "HSET rain:{a}:meta release_ms 86400000");
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "v", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	amount_is(10, "1.99");
	cr_assert_str_eq(reply.at[11], NOT_YET);
	cr_assert_gt(strtol(reply.at[8], NULL, 10), 8000000);
	left_is("a", "9\n801\n199");
	EXPECT("OK", &s, &lua_grab, "a", "", "v", LATER);
	cr_assert_str_eq(reply.at[9], NOT_YET);
}

Test(lua_live, every_state_has_its_answer)
{
	lua_load_live(&s, "a", 3, 300, 1, 0);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER);
	cr_assert_str_eq(reply.at[9], NOT_STARTED);
	EXPECT("OK", &s, &lua_activity, "a", "open", "", "3");
	EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	for (int i = 0; i < 4; i++) {
		static const char *const to[] = { "pause", "halt", "close",
						  "settled" };
		static const char *const told[] = { PAUSED, PAUSED, ENDED,
						    ENDED };

		if (i == 3) {
			EXPECT("OK", &s, &lua_activity, "a", "counted", "",
			       "101", "2");
		}
		EXPECT("OK", &s, &lua_activity, "a", to[i], "", "evidence",
		       "why");
		EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER, "u", LATER,
		       lua_draws(&s, "a", 2, 1, 0xff));
		cr_expect_str_eq(reply.at[9], ALREADY);
		cr_expect_str_eq(reply.at[11], told[i], "%s", to[i]);
		cr_expect_str_eq(reply.at[5], "2");
		EXPECT("OK", &s, &lua_result, "a", "w", "0", "u", "0");
		cr_expect_str_eq(reply.at[11], told[i], "%s", to[i]);
	}
	redis_server_ask(&s, "HSET rain:{a}:relay claims 1 events 8");
	EXPECT("OK", &s, &lua_activity, "a", "unlink", "");
	EXPECT("UNLINKED", &s, &lua_grab, "a", "", "w", LATER);
}

Test(lua_live, its_time_is_over)
{
	lua_open_live(&s, "a", 3, 300, 1, 0);
	redis_server_ask(&s, "HSET rain:{a}:meta end_ms 1");
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	cr_assert_str_eq(reply.at[9], ENDED);
	left_is("a", "3\n300\n0");
}

/* HSET on meta is needed where a list needs RPOP. */
Test(lua_live, a_user_of_redis_who_may_not_write)
{
	static const char *const lacking[] = { "-lpush", "-hset" };
	char *before;
	char *after;

	lua_open_live(&s, "a", 3, 300, 1, 0);
	before = lua_whole(&s, "a");
	for (size_t i = 0; i < 2; i++) {
		redis_server_ask(&s, "ACL SETUSER default +@all %s",
				 lacking[i]);
		EXPECT("ACL", &s, &lua_grab, "a", "", "u", LATER,
		       lua_draws(&s, "a", 1, 1, 0xff));
		cr_expect_eq(reply.n, 8);
	}
	after = lua_whole(&s, "a");
	cr_assert_str_eq(before, after);
	redis_server_ask(&s, "ACL SETUSER default +@all -rpop");
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	amount_is(10, "1.99");
	free(before);
	free(after);
}

Test(lua_live, a_full_redis)
{
	lua_open_live(&s, "a", 3, 300, 1, 0);
	redis_server_ask(&s, "CONFIG SET maxmemory 1");
	RUN(&s, &lua_grab, "a", "", "u", LATER, lua_draws(&s, "a", 1, 1, 0xff));
	cr_assert(strncmp(reply.at[1], "(error) OOM", 11) == 0, "%s",
		  reply.at[1]);
	left_is("a", "3\n300\n0");
}
