/* topup.lua, step by step: announced, loaded in chunks, while people grab. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/lua_run.h"

/* rain.Status */
#define WON      "1"
#define ALREADY  "2"
#define SOLD_OUT "3"
#define ENDED    "7"

#define LATER "99999999999999"
#define SEED2 "2222222222222222222222222222222222222222222222222222222222222222"
#define SEED3 "3333333333333333333333333333333333333333333333333333333333333333"

static struct redis_server s;

static void start(void)
{
	redis_server_start(&s, NULL);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_topup, .init = start, .fini = stop);

static const char *plan_of(int tranche, long long packets, long long cents)
{
	static char text[400];

	(void)snprintf(text, sizeof(text),
		       "activity_id=a\ntranche=%d\ntotal_cents=%lld\n"
		       "packets=%lld\nalgorithm=equal\nmin_cents=1\n"
		       "max_cents=0\n",
		       tranche, cents, packets);
	return text;
}

/* Announce tranche t of `packets` packets of 1.00. */
static void announce(const char *code, const char *t, int packets)
{
	EXPECT(code, &s, &lua_topup, "a", "announce", t,
	       plan_of((int)strtol(t, NULL, 10), packets, packets * 100LL),
	       t[0] == '2' ? SEED2 : SEED3, "c0ffee", "5000");
}

static const char *packet(int i)
{
	static char texts[8][80];
	char *out = texts[i % 8];

	(void)snprintf(out, sizeof(texts[0]),
		       "{\"redPacketId\":\"%d\",\"amount\":\"1.00\"}",
		       5000 + i);
	return out;
}

static void status_is(const char *status, const char *user)
{
	RUN(&s, &lua_grab, "a", "", user, LATER);
	cr_assert_str_eq(reply.at[1], "OK", "%s", reply.at[1]);
	cr_assert_str_eq(reply.at[9], status, "%s: %s", user, reply.at[9]);
}

static void meta_is(const char *field, const char *value)
{
	const char *is = lua_meta(&s, "a", field);

	cr_assert_str_eq(is, value, "%s is %s, not %s", field, is, value);
}

static void said(const char *part)
{
	cr_assert(strstr(reply.at[5], part) != NULL ||
			  strstr(reply.at[6], part) != NULL,
		  "%s %s", reply.at[5], reply.at[6]);
}

static void sell_out(int packets)
{
	char user[16];

	for (int i = 0; i < packets; i++) {
		(void)snprintf(user, sizeof(user), "first%d", i);
		status_is(WON, user);
	}
	status_is(SOLD_OUT, "late");
}

Test(lua_topup, a_rain_that_is_sold_out_goes_on_with_the_first_chunk)
{
	const char *event;

	lua_open(&s, "a", 2);
	sell_out(2);
	announce("OK", "2", 3);
	cr_assert_str_eq(reply.at[3], "5", "the announcement has a revision");
	event = redis_server_ask(&s, "LINDEX rain:{a}:events 0");
	cr_assert(strncmp(event, "{\"type\":\"topped_up\",\"revision\":5,",
			  33) == 0,
		  "%s", event);
	cr_assert(strstr(event, "\"tranche\":\"2\",\"packets\":\"3\","
				"\"total_cents\":\"300\","
				"\"commitment\":\"c0ffee\"}") != NULL,
		  "%s", event);
	status_is(SOLD_OUT, "late");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "0", packet(0));
	cr_assert_str_eq(reply.at[5], "1");
	cr_assert_str_eq(reply.at[3], "5", "a chunk has none");
	/* The next grab after the chunk wins, and is of the second tranche. */
	status_is(WON, "late");
	cr_assert(strstr(reply.at[10], "\"redPacketId\":\"5000\"") != NULL,
		  "%s", reply.at[10]);
	cr_assert(strstr(reply.at[10], "\"seq\":3,") != NULL);
	cr_assert(strstr(reply.at[10], "\"tranche\":2}") != NULL);
	status_is(SOLD_OUT, "later");
	meta_is("packets", "3");
	meta_is("tranche_ends", "2,3");
	meta_is("tranches", "1");
	meta_is("topup", "2");
	meta_is("topup_cents", "200");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "1", packet(1),
	       packet(2));
	meta_is("packets", "5");
	meta_is("tranche_ends", "2,5");
	meta_is("tranches", "2");
	meta_is("topup", "(nil)");
	meta_is("topup_cents", "(nil)");
	meta_is("all_cents", "500");
	meta_is("revision", "5");
	status_is(WON, "later");
	status_is(ALREADY, "first0");
}

Test(lua_topup, a_chunk_is_pushed_once_and_in_order)
{
	lua_open(&s, "a", 2);
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "load", "2", "0", packet(0));
	announce("OK", "2", 3);
	EXPECT("ORDER", &s, &lua_topup, "a", "load", "2", "1", packet(1));
	cr_assert_str_eq(reply.at[5], "0");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "0", packet(0));
	EXPECT("ORDER", &s, &lua_topup, "a", "load", "2", "0", packet(0));
	cr_assert_str_eq(reply.at[5], "1", "where to go on");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "1");
	cr_assert_str_eq(reply.at[5], "1");
	EXPECT("ORDER", &s, &lua_topup, "a", "load", "2", "1", packet(1),
	       packet(2), packet(3));
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "1", packet(1),
	       packet(2));
	EXPECT("ALREADY", &s, &lua_topup, "a", "load", "2", "1", packet(1),
	       packet(2));
	cr_assert_str_eq(reply.at[5], "3");
	cr_assert_str_eq(redis_server_ask(&s, "LRANGE rain:{a}:packets 0 2"),
			 "{\"redPacketId\":\"5002\",\"amount\":\"1.00\"}\n"
			 "{\"redPacketId\":\"5001\",\"amount\":\"1.00\"}\n"
			 "{\"redPacketId\":\"5000\",\"amount\":\"1.00\"}");
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "5");
}

Test(lua_topup, packets_that_are_not_the_announced_money)
{
	lua_open(&s, "a", 1);
	announce("OK", "2", 2);
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "load", "2", "0", "junk");
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "load", "2", "0",
	       "{\"redPacketId\":\"1\",\"amount\":\"2.01\"}");
	/* All the money, but not all the packets; and the other way round. */
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "load", "2", "0",
	       "{\"redPacketId\":\"1\",\"amount\":\"2.00\"}");
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "load", "2", "0", packet(0),
	       "{\"redPacketId\":\"1\",\"amount\":\"0.99\"}");
	meta_is("packets", "1");
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "1");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "0", packet(0),
	       "{\"redPacketId\":\"1\",\"amount\":\"1.00\"}");
}

Test(lua_topup, one_tranche_after_the_other)
{
	lua_open(&s, "a", 1);
	announce("DIFFERENT", "3", 2);
	said("the next one is 2, not 3");
	announce("OK", "2", 2);
	announce("ALREADY", "2", 2);
	announce("DIFFERENT", "2", 3);
	announce("STATE", "3", 2);
	said("has tranche 2 still to load");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "0", packet(0),
	       packet(1));
	announce("ALREADY", "2", 2);
	announce("OK", "3", 1);
	EXPECT("ALREADY", &s, &lua_topup, "a", "load", "2", "0", packet(0));
	EXPECT("OK", &s, &lua_topup, "a", "load", "3", "0", packet(2));
	meta_is("tranche_ends", "1,3,4");
	meta_is("tranches", "3");
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:events"), "5");
	/* Revision and events fit: the relay reads them. */
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "9", "-1", "9");
}

Test(lua_topup, only_while_people_may_grab)
{
	lua_create(&s, "a", 1, 0, 0);
	announce("STATE", "2", 2);
	said("topup is not possible in state CREATED");
	EXPECT("OK", &s, &lua_activity, "a", "cancel", "", "");
	announce("STATE", "2", 2);
	lua_open_until(&s, "b", 1, lua_now(&s));
	EXPECT("STATE", &s, &lua_topup, "b", "announce", "2",
	       plan_of(2, 1, 100), SEED2, "c", "1");
	said("its end is past");
}

Test(lua_topup, nothing_is_added_to_an_adopted_list)
{
	lua_open(&s, "a", 1);
	redis_server_ask(&s, "HSET rain:{a}:meta algorithm adopted");
	announce("DIFFERENT", "2", 2);
	said("has an adopted list: nothing can be added to it");
}

Test(lua_topup, halted_and_paused_in_between)
{
	lua_open(&s, "a", 1);
	announce("OK", "2", 3);
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "0", packet(0));
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "evidence", "seen");
	EXPECT("STATE", &s, &lua_topup, "a", "load", "2", "1", packet(1));
	said("topup is not possible in state HALTED");
	cr_assert_str_eq(reply.at[5], "1");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "1", packet(1));
	redis_server_ask(&s, "RPOP rain:{a}:packets");
	EXPECT("COUNTS", &s, &lua_topup, "a", "load", "2", "2", packet(2));
	meta_is("packets", "3");
}

Test(lua_topup, half_loaded_it_is_not_closed)
{
	lua_open(&s, "a", 1);
	announce("OK", "2", 2);
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "0", packet(0));
	EXPECT("STATE", &s, &lua_activity, "a", "close", "", "");
	said("tranche 2 is half loaded: ask for the same top-up again");
	EXPECT("OK", &s, &lua_activity, "a", "pause", "", "");
	EXPECT("STATE", &s, &lua_activity, "a", "close", "", "");
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "1", packet(1));
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	cr_assert(strstr(redis_server_ask(&s, "LINDEX rain:{a}:events 0"),
			 ",\"topup_seeds\":\"" SEED2 "\"}") != NULL);
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "301", "3");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "300", "3");
}

/* What was funded and never loaded is left over too. */
Test(lua_topup, halted_half_loaded_and_closed)
{
	lua_open(&s, "a", 1);
	announce("OK", "2", 5);
	EXPECT("OK", &s, &lua_topup, "a", "load", "2", "0", packet(0),
	       packet(1));
	status_is(WON, "u");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "evidence", "seen");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	EXPECT("STATE", &s, &lua_topup, "a", "load", "2", "2", packet(2));
	status_is(ENDED, "v");
	/* Two packets lie in the list, and three were never there. */
	EXPECT("COUNTS", &s, &lua_activity, "a", "counted", "", "200", "5");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "0", "2");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "301", "2");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "200", "2");
	meta_is("leftover_cents", "500");
	EXPECT("ALREADY", &s, &lua_activity, "a", "counted", "", "200", "2");
	EXPECT("OK", &s, &lua_activity, "a", "settled", "", "");
}

/* Nothing of it was promised to be there: it is given back whole. */
Test(lua_topup, announced_only_and_closed)
{
	lua_open(&s, "a", 1);
	announce("OK", "2", 5);
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "100", "1");
	meta_is("leftover_cents", "600");
	EXPECT("STATE", &s, &lua_topup, "a", "load", "2", "0", packet(0));
}

Test(lua_topup, as_much_as_fits)
{
	char t[8];

	lua_open(&s, "a", 2);
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "announce", "2",
	       plan_of(2, 9999999, 9999999), SEED2, "c", "1");
	said("with 9999999 more it would have over 10000000");
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "announce", "2",
	       plan_of(2, 1, 9007199254740792), SEED2, "c", "1");
	said("has 200 cents, and with 9007199254740792 more it would have "
	     "over 9007199254740991");
	for (int i = 2; i <= 16; i++) {
		(void)snprintf(t, sizeof(t), "%d", i);
		announce("OK", t, 1);
		EXPECT("OK", &s, &lua_topup, "a", "load", t, "0", packet(i));
	}
	announce("DIFFERENT", "17", 1);
	said("has 16 tranches, no more are allowed");
	meta_is("tranche_ends", "2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17");
}

Test(lua_topup, a_full_redis_and_a_foreign_incarnation)
{
	lua_open(&s, "a", 1);
	announce("OK", "2", 2);
	redis_server_ask(&s, "CONFIG SET maxmemory 1");
	RUN(&s, &lua_topup, "a", "load", "2", "0", packet(0));
	cr_assert(strstr(reply.at[1], "OOM") != NULL, "%s", reply.at[1]);
	meta_is("packets", "1");
	redis_server_ask(&s, "CONFIG SET maxmemory 0");
	redis_server_ask(&s, "HSET rain:{a}:meta incarnation another");
	EXPECT("INCARNATION", &s, &lua_topup, "a", "load", "2", "0", packet(0));
}
