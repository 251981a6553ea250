/* Somebody writes into the keys of a live activity: no packet is drawn of what
 * can't be, the halt finds the same reason, and a person can end it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

/* rain.Status */
#define WON     "1"
#define ALREADY "2"
#define BUSY    "11"

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

TestSuite(lua_live_edited, .init = start, .fini = stop);

/* What is written into an activity of 10.00 in 4 packets, 0.50 to 6.00 each,
 * of which w has the first with 4.50. */
static const struct edit {
	const char *command;
	const char *reason;
	bool cents; /* what is left can't be told from balance any more */
} edits[] = {
	{ "HSET rain:{a}:meta balance 0", "0 cents left and 450 in", true },
	{ "HINCRBY rain:{a}:meta balance 1", "551 cents left and", true },
	{ "HINCRBY rain:{a}:meta balance -1", "549 cents left and", true },
	{ "HSET rain:{a}:meta balance 1000", "are not the 1000 cents", true },
	{ "HSET rain:{a}:meta balance 9007199254740993", "are not", true },
	{ "HSET rain:{a}:meta balance 99999999999999999999", "are not", true },
	{ "HSET rain:{a}:meta balance junk", "balance is no number", true },
	{ "HSET rain:{a}:meta balance 5.5e2", "balance is no number", true },
	{ "HSET rain:{a}:meta balance -550", "balance is no number", true },
	{ "HSET rain:{a}:meta balance 550.0", "balance is no number", true },
	{ "HSET rain:{a}:meta balance nan", "balance is no number", true },
	{ "HDEL rain:{a}:meta balance", "balance is no number", true },
	{ "HINCRBY rain:{a}:meta claimed_cents 1", "451 in claims", true },
	{ "HDEL rain:{a}:meta claimed_cents", "claimed_cents is no", true },
	{ "HSET rain:{a}:meta balance 149 claimed_cents 851",
	  "149 cents cannot be the money of 3 packets", true },
	{ "HSET rain:{a}:meta max_cents 183", "550 cents cannot be", true },
	{ "HSET rain:{a}:meta total_cents 999", "the 999 cents", true },
	{ "HSET rain:{a}:meta min_cents 0x5", "min_cents is no", true },
	{ "HSET rain:{a}:meta max_cents -1", "max_cents is no", true },
	{ "HSET rain:{a}:meta left 0", "packets 0, claims 1", false },
	{ "HINCRBY rain:{a}:meta left 1", "packets 4, claims 1", false },
	{ "HINCRBY rain:{a}:meta left -1", "packets 2, claims 1", false },
	{ "HSET rain:{a}:meta left -3", "packets 9007199254740992", false },
	{ "HSET rain:{a}:meta left 3e0", "packets 9007199254740992", false },
	{ "HSET rain:{a}:meta left junk", "packets 9007199254740992", false },
	{ "HSET rain:{a}:meta left nan", "packets 9007199254740992", false },
	{ "HDEL rain:{a}:meta left", "packets 0, claims 1", false },
	{ "RPUSH rain:{a}:packets x", "somebody made a list", false },
	{ "HDEL rain:{a}:meta mode", "packets 0, claims 1", false },
	{ "HSET rain:{a}:meta id_base x", "id_base is no number", true },
	{ "HSET rain:{a}:meta id_base 1", "id_base or seed is none", true },
	{ "HDEL rain:{a}:meta seed", "id_base or seed is none", true },
	{ "HSET rain:{a}:meta seed 00", "id_base or seed is none", true },
	{ "LPUSH rain:{a}:claims {}", "packets 3, claims 2", false },
	{ "HDEL rain:{a}:users w", "claims 1, users 0", false },
};

static void open_a(void)
{
	lua_open_live(&s, "a", 4, 1000, 50, 600);
	EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	cr_assert(strstr(reply.at[10], "\"amount\":\"4.50\"") != NULL);
}

static void command(const char *text)
{
	const char *answer = redis_server_ask(&s, text);

	cr_assert(strncmp(answer, "(error)", 7) != 0, "%s: %s", text, answer);
}

/* More people than packets: nobody is told that it is sold out. */
static void nobody_wins(const struct edit *e)
{
	char *before = lua_whole(&s, "a");
	char *after;

	EXPECT("COUNTS", &s, &lua_grab, "a", "", "t", LATER, "u", LATER, "v",
	       LATER, "x", LATER, "y", LATER, "t", LATER,
	       lua_draws(&s, "a", 2, 6, 0xff));
	for (int i = 0; i < 6; i++) {
		cr_assert_str_eq(reply.at[9 + 2 * i], BUSY, "%s: %s",
				 e->command, reply.at[9 + 2 * i]);
		cr_assert_str_eq(reply.at[10 + 2 * i], "");
	}
	after = lua_whole(&s, "a");
	cr_assert_str_eq(before, after, "%s", e->command);
	free(before);
	free(after);
}

static void is_halted(const struct edit *e)
{
	EXPECT("COUNTS", &s, &lua_activity, "a", "close", "", "");
	EXPECT("COUNTS", &s, &lua_relay_read, "a", "-1", "9", "-1", "9");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
	cr_assert(strstr(lua_meta(&s, "a", "reason"), e->reason) != NULL,
		  "%s: %s", e->command, lua_meta(&s, "a", "reason"));
	/* Not open again before it is mended. */
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("COUNTS", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
}

static bool touches(const struct edit *e, const char *text)
{
	return strstr(e->command, text) != NULL;
}

/* It ends with what the claims say, without anybody who mends it. */
static void can_be_ended(const struct edit *e)
{
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "enough");
	if (touches(e, " mode") || touches(e, "LPUSH")) {
		/* As for a list: with what lies there. */
		return;
	}
	cr_assert_str_eq(lua_meta(&s, "a", "final_left"), "3", "%s",
			 e->command);
	cr_assert_str_eq(lua_meta(&s, "a", "final_claims"), "1");
	EXPECT("COUNTS", &s, &lua_activity, "a", "counted", "", "550", "4");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "0", "3");
	if (!e->cents) {
		EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "",
		       "549", "3");
	}
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "550", "3");
	EXPECT("ALREADY", &s, &lua_activity, "a", "counted", "", "550", "3");
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "9", "-1", "9");
	EXPECT("OK", &s, &lua_activity, "a", "settled", "", "");
}

Test(lua_live_edited, nothing_is_drawn_of_what_cannot_be)
{
	for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
		const struct edit *e = &edits[i];

		command("FLUSHALL");
		open_a();
		command(e->command);
		nobody_wins(e);
		if (!touches(e, "users")) {
			EXPECT("COUNTS", &s, &lua_grab, "a", "", "w", LATER,
			       "n", LATER, lua_draws(&s, "a", 2, 2, 0xff));
			cr_assert_str_eq(reply.at[9], ALREADY);
			cr_assert_str_eq(reply.at[11], BUSY);
		}
		is_halted(e);
		can_be_ended(e);
	}
}

Test(lua_live_edited, mended_it_goes_on)
{
	open_a();
	command("HINCRBY rain:{a}:meta balance 5");
	nobody_wins(&edits[1]);
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
	command("HINCRBY rain:{a}:meta balance -5");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "resume", "", "");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "halt", "", "counts");
	EXPECT("OK", &s, &lua_grab, "a", "", "u", LATER,
	       lua_draws(&s, "a", 2, 1, 0xff));
	cr_assert_str_eq(reply.at[9], WON);
}

/* One whose last packet is gone: nothing more may be there. */
Test(lua_live_edited, money_that_is_left_without_packets)
{
	lua_open_live(&s, "a", 1, 100, 1, 0);
	EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER,
	       lua_draws(&s, "a", 1, 1, 0xff));
	command("HSET rain:{a}:meta balance 5 claimed_cents 95");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
	cr_assert_str_eq(lua_meta(&s, "a", "reason"),
			 "5 cents cannot be the money of 0 packets");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "5", "0");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "0", "0");
}

Test(lua_live_edited, opened_with_the_money_of_the_plan_only)
{
	lua_load_live(&s, "a", 4, 1000, 1, 0);
	EXPECT("COUNTS", &s, &lua_activity, "a", "open", "", "3");
	command("HSET rain:{a}:meta balance 999");
	EXPECT("COUNTS", &s, &lua_activity, "a", "open", "", "4");
	command("HSET rain:{a}:meta claimed_cents 1");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "open", "", "4");
	cr_assert_str_eq(reply.at[5],
			 "has 999 cents in Redis, and 1000 in the plan");
	command("HSET rain:{a}:meta balance 1000 claimed_cents 0");
	EXPECT("OK", &s, &lua_activity, "a", "open", "", "4");
	EXPECT("ALREADY", &s, &lua_activity, "a", "open", "", "4");
}

Test(lua_live_edited, counted_with_its_balance_only)
{
	open_a();
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
	cr_assert(strstr(redis_server_ask(&s, "LINDEX rain:{a}:events 0"),
			 "\"claims\":\"1\",\"packets_left\":\"3\",") != NULL);
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "counted", "", "549", "3");
	cr_assert_str_eq(reply.at[5], "has 550 cents left, not 549");
	EXPECT("COUNTS", &s, &lua_activity, "a", "counted", "", "550", "2");
	EXPECT("OK", &s, &lua_activity, "a", "counted", "", "550", "3");
	cr_assert_str_eq(lua_meta(&s, "a", "leftover_cents"), "550");
}

Test(lua_live_edited, no_list_comes_into_it)
{
	command("LPUSH rain:{a}:packets x");
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "create", "", "plan", "p",
	       "algorithm", "double_mean", "mode", "live");
	command("DEL rain:{a}:packets");
	lua_load_live(&s, "b", 4, 1000, 1, 0);
	EXPECT("STATE", &s, &lua_preload, "b", "0", "x");
	command("HSET rain:{b}:meta state LOADING");
	EXPECT("DIFFERENT", &s, &lua_preload, "b", "0", "x");
	cr_assert_str_eq(redis_server_ask(&s, "EXISTS rain:{b}:packets"), "0");
	command("LPUSH rain:{b}:packets x");
	EXPECT("COUNTS", &s, &lua_activity, "b", "loaded", "", "1000");
	command("DEL rain:{b}:packets");
	EXPECT("DIFFERENT", &s, &lua_activity, "b", "loaded", "", "999");
	EXPECT("OK", &s, &lua_activity, "b", "loaded", "", "1000");
}

Test(lua_live_edited, nothing_is_added_to_it)
{
	open_a();
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "announce", "2",
	       "activity_id=a\ntranche=2\ntotal_cents=100\npackets=1\n"
	       "algorithm=equal\nmin_cents=1\nmax_cents=0\n",
	       "00", "c", "5000");
	cr_assert_str_eq(reply.at[5], "is drawn while people grab: nothing can "
				      "be added to it");
	EXPECT("DIFFERENT", &s, &lua_topup, "a", "load", "2", "0", "x");
}

/* Of a list, left is nobody's word: a step that believed it would find fewer
 * packets than it has winners, behind its first write. */
Test(lua_live_edited, a_list_is_counted_by_itself)
{
	lua_open(&s, "a", 3);
	command("RPOP rain:{a}:packets");
	command("HSET rain:{a}:meta left 1");
	EXPECT("COUNTS", &s, &lua_grab, "a", "", "u", LATER, "v", LATER, "w",
	       LATER);
	cr_assert_str_eq(reply.at[9], BUSY);
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "2");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
}
