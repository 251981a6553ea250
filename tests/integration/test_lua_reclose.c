/* An activity whose numbers do not add up can be closed all the same: then they
 * are what they are, and only a new difference is one. */
#include <criterion/criterion.h>

#include "lib/lua_run.h"

static struct redis_server s;

static void start(void)
{
	redis_server_start(&s, NULL);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_reclose, .init = start, .fini = stop, .timeout = 60);

static void closed_with_a_packet_too_few(void)
{
	lua_open(&s, "a", 5);
	EXPECT("OK", &s, &lua_grab, "a", "", "u", "9999999999999");
	redis_server_ask(&s, "RPOP rain:{a}:packets");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts", "");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "r");
}

Test(lua_reclose, it_stays_closed)
{
	closed_with_a_packet_too_few();
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "10", "-1", "10");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "halt", "", "counts", "");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "300", "3");
	cr_assert_str_eq(lua_meta(&s, "a", "state"), "CLOSED");
	EXPECT("OK", &s, &lua_activity, "a", "settled", "", "r");
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "10", "-1", "10");
}

/* The claim of somebody who is told nothing may be what is missing. */
Test(lua_reclose, nobody_is_told_that_it_is_over)
{
	closed_with_a_packet_too_few();
	RUN(&s, &lua_grab, "a", "", "u", "9999999999999", "v", "9999999999999");
	cr_assert_str_eq(reply.at[1], "COUNTS");
	cr_assert_str_eq(reply.at[9], "2");
	cr_assert_str_eq(reply.at[11], "11");
}

Test(lua_reclose, what_changes_after_the_close_is_found)
{
	closed_with_a_packet_too_few();
	redis_server_ask(&s, "RPOP rain:{a}:packets");
	RUN(&s, &lua_relay_read, "a", "-1", "10", "-1", "10");
	cr_assert_str_eq(reply.at[1], "COUNTS");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts", "");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "r");
	redis_server_ask(&s, "HDEL rain:{a}:users u");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts", "");
}

Test(lua_reclose, a_new_incarnation_finds_the_numbers_of_the_close)
{
	closed_with_a_packet_too_few();
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "o", "", "9999");
	redis_server_ask(&s, "HSET rain:{a}:meta incarnation other");
	EXPECT("OK", &s, &lua_fence, "a", "stamp", "o", reply.at[5], "1", "1",
	       "0");
}
