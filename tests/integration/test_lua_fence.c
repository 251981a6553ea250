/* fence.lua: what must be shown before a restarted Redis gives packets. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

#define LATER "99999999999999"

static struct redis_server s;

/* An open activity with a witness, a lease and a claim, Redis restarted. */
static void start(void)
{
	redis_server_start(&s, (const char *const[]){ "--appendonly", "yes",
						      "--appendfsync", "always",
						      NULL });
	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_grab, "a", "g1", "u", LATER);
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "g1", "0", "60000");
	EXPECT("ALREADY", &s, &lua_fence, "a", "stamp", "g1", "1", "1", "4",
	       "0");
	redis_server_restart(&s);
	EXPECT("INCARNATION", &s, &lua_grab, "a", "g1", "v", LATER);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_fence, .init = start, .fini = stop);

#define STAMP(claims, revision, patience) \
	"stamp", "g1", "1", (claims), (revision), (patience)

Test(lua_fence, stamped_when_every_witness_has_confirmed)
{
	EXPECT("WITNESS", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	EXPECT("OK", &s, &lua_fence, "a", "confirm", "g1", "1", "u", "4", "3");
	EXPECT("OK", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	EXPECT("OK", &s, &lua_grab, "a", "g1", "v", LATER);
	cr_assert_str_eq(reply.at[9], "1");
	EXPECT("ALREADY", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	/* A confirmation is about one restart only. */
	redis_server_restart(&s);
	EXPECT("WITNESS", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
}

static long long changes(void)
{
	return redis_server_info(&s, "persistence",
				 "rdb_changes_since_last_save", NULL);
}

/* Every grab-service says it of every activity, again and again, while the
 * evidence is gathered: it costs no writes. */
Test(lua_fence, a_word_is_written_once)
{
	long long before;

	EXPECT("OK", &s, &lua_fence, "a", "confirm", "g1", "1", "u", "4", "3");
	before = changes();
	EXPECT("OK", &s, &lua_fence, "a", "confirm", "g1", "1", "u", "4", "3");
	cr_assert_eq(changes(), before);
	EXPECT("OK", &s, &lua_fence, "a", "confirm", "g2", "1", "u", "4", "3");
	cr_assert_gt(changes(), before);
}

Test(lua_fence, only_under_the_lease)
{
	EXPECT("LEASE", &s, &lua_fence, "a", "stamp", "g2", "1", "0", "0", "0");
	EXPECT("LEASE", &s, &lua_fence, "a", "stamp", "g1", "2", "0", "0", "0");
}

Test(lua_fence, a_witness_who_saw_more_says_lost)
{
	EXPECT("LOST", &s, &lua_fence, "a", "confirm", "g1", "2", "v", "4",
	       "3");
	EXPECT("LOST", &s, &lua_fence, "a", "confirm", "g1", "1", "v", "4",
	       "3");
	EXPECT("LOST", &s, &lua_fence, "a", "confirm", "g1", "1", "u", "5",
	       "3");
	EXPECT("LOST", &s, &lua_fence, "a", "confirm", "g1", "1", "u", "4",
	       "4");
	EXPECT("WITNESS", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	/* One who has seen no claim has nothing to miss. */
	EXPECT("OK", &s, &lua_fence, "a", "confirm", "g1", "0", "", "4", "3");
}

Test(lua_fence, the_ledger_and_the_cursors_know_what_there_was)
{
	EXPECT("OK", &s, &lua_fence, "a", "confirm", "g1", "1", "u", "4", "3");
	EXPECT("LOST", &s, &lua_fence, "a", STAMP("2", "4", "0"));
	EXPECT("LOST", &s, &lua_fence, "a", STAMP("1", "5", "0"));
	redis_server_ask(&s, "HSET rain:{a}:relay claims 2");
	EXPECT("LOST", &s, &lua_fence, "a", STAMP("1", "4", "0"));
	redis_server_ask(&s, "HSET rain:{a}:relay claims 1 events 4");
	EXPECT("LOST", &s, &lua_fence, "a", STAMP("1", "4", "0"));
	redis_server_ask(&s, "HSET rain:{a}:relay events 3");
	redis_server_ask(&s, "RPOP rain:{a}:packets");
	EXPECT("COUNTS", &s, &lua_fence, "a", STAMP("1", "4", "0"));
}

Test(lua_fence, a_silent_witness_is_waited_for_and_then_removed)
{
	EXPECT("WITNESS", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	cr_assert_str_eq(reply.at[6], "30000");
	cr_assert_str_eq(reply.at[7], "1");
	cr_assert_str_eq(reply.at[8], "g1");
	redis_server_ask(&s, "HINCRBY rain:{a}:relay fence_since -29000");
	EXPECT("WITNESS", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	cr_assert_leq(strtol(reply.at[6], NULL, 10), 1000);
	redis_server_ask(&s, "HINCRBY rain:{a}:relay fence_since -1001");
	EXPECT("OK", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	cr_assert_str_eq(redis_server_ask(&s, "HEXISTS rain:{a}:relay w:g1"),
			 "0");
	cr_assert_str_eq(
		redis_server_ask(&s, "HEXISTS rain:{a}:relay fence_since"),
		"0");
	/* Late, but what it saw still counts. */
	EXPECT("LOST", &s, &lua_fence, "a", "confirm", "g1", "2", "v", "4",
	       "3");
	EXPECT("OK", &s, &lua_fence, "a", "confirm", "g1", "1", "u", "4", "3");
}

Test(lua_fence, patience_begins_anew_with_each_restart)
{
	EXPECT("WITNESS", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
	redis_server_ask(&s, "HINCRBY rain:{a}:relay fence_since -60000");
	redis_server_restart(&s);
	EXPECT("WITNESS", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
}

Test(lua_fence, who_leaves_is_not_waited_for)
{
	EXPECT("OK", &s, &lua_fence, "a", "leave", "g1");
	EXPECT("OK", &s, &lua_fence, "a", STAMP("1", "4", "30000"));
}
