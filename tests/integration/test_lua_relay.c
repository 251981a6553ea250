/* relay_read.lua and relay.lua: the outboxes, the lease and the cursors. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

#define LATER "99999999999999"

static struct redis_server s;

static void start(void)
{
	redis_server_start(&s, NULL);
	lua_open(&s, "a", 5);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER, "v", LATER, "w",
	       LATER);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_relay, .init = start, .fini = stop);

static void expect_place(const char *generation, const char *claims,
			 const char *events)
{
	cr_expect_str_eq(reply.at[5], generation, "%s", reply.at[5]);
	cr_expect_str_eq(reply.at[7], claims, "%s", reply.at[7]);
	cr_expect_str_eq(reply.at[8], events, "%s", reply.at[8]);
}

Test(lua_relay, reads_both_outboxes_in_order)
{
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "2", "-1", "9");
	cr_assert_str_eq(reply.at[5], "");
	cr_assert_str_eq(reply.at[6], "0");
	cr_assert_str_eq(reply.at[7], "0");
	cr_assert_str_eq(reply.at[8], "0");
	cr_assert_str_eq(reply.at[9], "0");
	cr_assert_str_eq(reply.at[10], "3");
	cr_assert_str_eq(reply.at[11], "3");
	cr_assert(strstr(reply.at[12], "\"seq\":1,") != NULL);
	cr_assert(strstr(reply.at[13], "\"seq\":2,") != NULL);
	cr_assert(strstr(reply.at[14], "\"created\"") != NULL);
	cr_assert(strstr(reply.at[15], "\"loaded\"") != NULL);
	cr_assert(strstr(reply.at[16], "\"opened\"") != NULL);
	EXPECT("OK", &s, &lua_relay_read, "a", "2", "2", "2", "1");
	cr_assert(strstr(reply.at[12], "\"seq\":3,") != NULL);
	cr_assert(strstr(reply.at[13], "\"opened\"") != NULL);
	/* Behind the arrays: what is left, and the users. */
	cr_assert_str_eq(reply.at[14], "2");
	cr_assert_str_eq(reply.at[15], "3");
	cr_assert_eq(reply.n, 15);
	redis_server_ask(&s, "HSET rain:{a}:relay claims 1 events 3");
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "1", "-1", "1");
	cr_assert(strstr(reply.at[12], "\"seq\":2,") != NULL);
	EXPECT("OK", &s, &lua_relay_read, "a", "7", "9", "7", "9");
	cr_assert_str_eq(reply.at[10], "3");
}

Test(lua_relay, a_lease_has_one_owner_at_a_time)
{
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "one", "0", "60000");
	expect_place("1", "0", "0");
	cr_assert(llabs(strtoll(reply.at[6], NULL, 10) - 60000 - lua_now(&s)) <
		  5000);
	EXPECT("LEASE", &s, &lua_relay, "a", "acquire", "two", "0", "60000");
	expect_place("1", "0", "0");
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "one", "0", "60000");
	expect_place("1", "0", "0");
	EXPECT("OK", &s, &lua_relay, "a", "renew", "one", "1", "60000");
	EXPECT("LEASE", &s, &lua_relay, "a", "renew", "one", "2", "60000");
	EXPECT("LEASE", &s, &lua_relay, "a", "release", "two", "1");
	EXPECT("OK", &s, &lua_relay, "a", "release", "one", "1");
	EXPECT("LEASE", &s, &lua_relay, "a", "renew", "one", "1", "60000");
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "two", "0", "60000");
	expect_place("2", "0", "0");
}

Test(lua_relay, a_lapsed_lease_is_ours_until_somebody_takes_it)
{
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "one", "0", "0");
	EXPECT("OK", &s, &lua_relay, "a", "advance", "one", "1", "1", "0");
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "two", "0", "60000");
	expect_place("2", "1", "0");
	EXPECT("LEASE", &s, &lua_relay, "a", "advance", "one", "1", "2", "0");
	expect_place("2", "1", "0");
}

Test(lua_relay, cursors_move_forward_within_the_lists)
{
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "one", "0", "60000");
	EXPECT("ORDER", &s, &lua_relay, "a", "advance", "one", "1", "4", "0");
	EXPECT("ORDER", &s, &lua_relay, "a", "advance", "one", "1", "0", "4");
	EXPECT("ALREADY", &s, &lua_relay, "a", "advance", "one", "1", "0", "0");
	EXPECT("OK", &s, &lua_relay, "a", "advance", "one", "1", "2", "3");
	expect_place("1", "2", "3");
	EXPECT("ORDER", &s, &lua_relay, "a", "advance", "one", "1", "1", "3");
	EXPECT("ORDER", &s, &lua_relay, "a", "advance", "one", "1", "2", "2");
	EXPECT("OK", &s, &lua_relay, "a", "advance", "one", "1", "3", "3");
}

Test(lua_relay, anybody_rewinds_and_the_owner_starts_anew)
{
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "one", "0", "60000");
	EXPECT("OK", &s, &lua_relay, "a", "advance", "one", "1", "2", "3");
	EXPECT("ORDER", &s, &lua_relay, "a", "rewind", "", "", "4");
	/* Not forward: what was never published would be left out. */
	EXPECT("OK", &s, &lua_relay, "a", "rewind", "", "", "3");
	expect_place("2", "2", "0");
	EXPECT("OK", &s, &lua_relay, "a", "rewind", "", "", "1");
	expect_place("3", "1", "0");
	EXPECT("LEASE", &s, &lua_relay, "a", "advance", "one", "1", "3", "3");
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "one", "0", "60000");
	expect_place("4", "1", "0");
}
