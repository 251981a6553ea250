/* What the steps refuse, and that a refusal has written nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/lua_run.h"

#define LATER "99999999999999"

static struct redis_server s;

static void start(void)
{
	redis_server_start(&s, (const char *const[]){ "--appendonly", "yes",
						      "--appendfsync", "always",
						      NULL });
	lua_open(&s, "a", 3);
	EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER);
}

static void stop(void)
{
	redis_server_close(&s);
}

TestSuite(lua_refuse, .init = start, .fini = stop);

/* Every script refuses with code, and nothing changes. The lease and the fence
 * are what leads on from another incarnation: they are not refused then. */
static void expect_refused(const char *code, bool fence_too)
{
	char *before = lua_whole(&s, "a");
	char *after;

	EXPECT(code, &s, &lua_grab, "a", "me", "u", LATER, "w", LATER);
	cr_expect_eq(reply.n, 8, "%zu", reply.n);
	EXPECT(code, &s, &lua_result, "a", "w", "0");
	cr_expect_eq(reply.n, 8);
	EXPECT(code, &s, &lua_activity, "a", "pause", "", "");
	EXPECT(code, &s, &lua_activity, "a", "close", "", "");
	EXPECT(code, &s, &lua_activity, "a", "halt", "", "counts");
	EXPECT(code, &s, &lua_preload, "a", "2", "x");
	EXPECT(code, &s, &lua_relay_read, "a", "-1", "5", "-1", "5");
	EXPECT(code, &s, &lua_relay, "a", "advance", "me", "1", "1", "1");
	if (fence_too) {
		EXPECT(code, &s, &lua_relay, "a", "acquire", "me", "0", "1000");
		EXPECT(code, &s, &lua_fence, "a", "confirm", "me", "0", "", "0",
		       "0");
		EXPECT(code, &s, &lua_fence, "a", "leave", "me");
	}
	after = lua_whole(&s, "a");
	cr_assert_str_eq(before, after);
	free(before);
	free(after);
}

Test(lua_refuse, an_activity_of_another_schema)
{
	redis_server_ask(&s, "HSET rain:{a}:meta schema 2");
	expect_refused("SCHEMA", true);
	redis_server_ask(&s, "HDEL rain:{a}:meta schema");
	expect_refused("SCHEMA", true);
	EXPECT("SCHEMA", &s, &lua_activity, "a", "create", "", "plan", "p");
}

Test(lua_refuse, without_meta)
{
	redis_server_ask(&s, "DEL rain:{a}:meta");
	expect_refused("NO_META", true);
	/* Whose packets these are nobody knows. */
	EXPECT("DIFFERENT", &s, &lua_activity, "a", "create", "", "plan", "p");
}

Test(lua_refuse, keys_of_a_wrong_type)
{
	static const char *const names[] = { "packets", "users", "claims",
					     "meta", "relay" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *name = names[i];

		redis_server_ask(&s, "RENAME rain:{a}:%s rain:{a}:kept", name);
		redis_server_ask(&s, "SET rain:{a}:%s stranger", name);
		EXPECT("TYPE", &s, &lua_grab, "a", "me", "u", LATER);
		EXPECT("TYPE", &s, &lua_activity, "a", "pause", "", "");
		EXPECT("TYPE", &s, &lua_relay_read, "a", "-1", "5", "-1", "5");
		EXPECT("TYPE", &s, &lua_fence, "a", "leave", "me");
		EXPECT("TYPE", &s, &lua_relay, "a", "acquire", "me", "0", "9");
		EXPECT("TYPE", &s, &lua_preload, "a", "0", "x");
		redis_server_ask(&s, "DEL rain:{a}:%s", name);
		redis_server_ask(&s, "RENAME rain:{a}:kept rain:{a}:%s", name);
	}
	cr_assert_str_eq(lua_meta(&s, "a", "state"), "OPEN");
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "2");
}

Test(lua_refuse, a_wrong_type_is_a_reason_to_halt)
{
	redis_server_ask(&s, "DEL rain:{a}:users");
	redis_server_ask(&s, "SET rain:{a}:users stranger");
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
	cr_assert_str_eq(lua_meta(&s, "a", "state"), "HALTED");
}

/* The worst place to lack a right is behind the RPOP. */
Test(lua_refuse, a_user_of_redis_who_may_not_run_a_command_to_come)
{
	static const char *const lacking[] = { "-lpush", "-hset", "-rpop" };
	char *before = lua_whole(&s, "a");
	char *after;

	for (size_t i = 0; i < 3; i++) {
		redis_server_ask(&s, "ACL SETUSER default +@all %s",
				 lacking[i]);
		EXPECT("ACL", &s, &lua_grab, "a", "", "u", LATER, "w", LATER);
		cr_expect_eq(reply.n, 8);
		/* Those who only ask are not concerned. */
		EXPECT("OK", &s, &lua_grab, "a", "", "w", LATER);
		cr_expect_str_eq(reply.at[9], "2");
		if (i < 2) {
			EXPECT("ACL", &s, &lua_activity, "a", "pause", "", "");
		}
	}
	redis_server_ask(&s, "ACL SETUSER default +@all -lpush");
	EXPECT("ACL", &s, &lua_activity, "b", "create", "", "plan", "p");
	redis_server_ask(&s, "ACL SETUSER default +@all -hset");
	EXPECT("ACL", &s, &lua_grab, "a", "witness");
	EXPECT("ACL", &s, &lua_relay, "a", "acquire", "me", "0", "1000");
	redis_server_ask(&s, "ACL SETUSER default +@all -hlen");
	EXPECT("ACL", &s, &lua_grab, "a", "", "u", LATER);
	EXPECT("ACL", &s, &lua_relay_read, "a", "-1", "0", "-1", "0");
	redis_server_ask(&s, "ACL SETUSER default +@all");
	cr_assert_str_eq(redis_server_ask(&s, "EXISTS rain:{b}:meta"), "0");
	after = lua_whole(&s, "a");
	cr_assert_str_eq(before, after);
	free(before);
	free(after);
}

Test(lua_refuse, preload_without_a_right_of_its_transaction)
{
	/* What is queued without its right is refused with all; what the
	 * script alone would run, by the script. */
	static const struct {
		const char *right;
		const char *told;
	} rows[] = {
		{ "lpush", "ACL" },
		{ "lpushx", "(error) EXECABORT" },
		{ "renamenx", "(error) EXECABORT" },
		{ "multi", "(error) ERR EXEC without MULTI" },
		{ "exec", "(error) EXECABORT" },
	};

	lua_create(&s, "b", 2, 0, 0);
	EXPECT("OK", &s, &lua_activity, "b", "loading", "");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		redis_server_ask(&s, "ACL SETUSER default -%s", rows[i].right);
		RUN(&s, &lua_preload, "b", "0", "x", "y");
		cr_assert_eq(strncmp(reply.at[1], rows[i].told,
				     strlen(rows[i].told)),
			     0, "%s: %s", rows[i].right, reply.at[1]);
		redis_server_ask(&s, "ACL SETUSER default +%s", rows[i].right);
		cr_assert_str_eq(redis_server_ask(&s, "KEYS rain:{b}:[lp]*"),
				 "", "%s", rows[i].right);
	}
}

/* A full Redis takes no packet, and can still be asked, closed and drained. */
Test(lua_refuse, a_full_redis)
{
	redis_server_ask(&s, "CONFIG SET maxmemory 1");
	RUN(&s, &lua_grab, "a", "", "u", LATER);
	cr_assert(strncmp(reply.at[1], "(error) OOM", 11) == 0, "%s",
		  reply.at[1]);
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:packets"), "2");
	cr_assert_str_eq(redis_server_ask(&s, "LLEN rain:{a}:claims"), "1");
	EXPECT("OK", &s, &lua_result, "a", "w", "0", "u", "0");
	cr_assert_str_eq(reply.at[9], "2");
	cr_assert_str_eq(reply.at[11], "11");
	EXPECT("OK", &s, &lua_relay, "a", "acquire", "me", "0", "1000");
	EXPECT("OK", &s, &lua_relay_read, "a", "-1", "5", "-1", "5");
	EXPECT("OK", &s, &lua_relay, "a", "advance", "me", "1", "1", "1");
	EXPECT("OK", &s, &lua_activity, "a", "pause", "", "");
	EXPECT("OK", &s, &lua_activity, "a", "close", "", "");
}

static void expect_counts(void)
{
	EXPECT("COUNTS", &s, &lua_grab, "a", "", "w", LATER, "u", LATER);
	cr_expect_str_eq(reply.at[9], "2");
	cr_expect(strstr(reply.at[10], "\"userId\":\"w\"") != NULL);
	cr_expect_str_eq(reply.at[11], "11");
	EXPECT("COUNTS", &s, &lua_result, "a", "w", "0", "u", LATER);
	cr_expect_str_eq(reply.at[9], "2");
	cr_expect_str_eq(reply.at[11], "11");
	EXPECT("COUNTS", &s, &lua_relay_read, "a", "0", "5", "0", "5");
	EXPECT("COUNTS", &s, &lua_activity, "a", "close", "", "");
}

Test(lua_refuse, packets_that_came_or_went)
{
	redis_server_ask(&s, "LPUSH rain:{a}:packets {}");
	expect_counts();
	redis_server_ask(&s, "DEL rain:{a}:packets");
	expect_counts();
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "counts");
	cr_assert_str_eq(lua_meta(&s, "a", "reason"),
			 "packets 0, claims 1, users 1 do not fit the 3 "
			 "packets of the activity");
}

Test(lua_refuse, claims_that_came_or_users_that_went)
{
	redis_server_ask(&s, "LPUSH rain:{a}:claims {}");
	expect_counts();
	redis_server_ask(&s, "LPOP rain:{a}:claims");
	redis_server_ask(&s, "HSET rain:{a}:users stranger {}");
	expect_counts();
}

Test(lua_refuse, everything_after_a_restart_of_redis)
{
	redis_server_restart(&s);
	expect_refused("INCARNATION", false);
	/* The relay reads how much there is, and nothing of it. */
	RUN(&s, &lua_relay_read, "a", "0", "5", "0", "5");
	cr_assert_str_eq(reply.at[10], "1");
	cr_assert_str_eq(reply.at[11], "3");
	cr_assert_str_eq(reply.at[12], "");
	cr_assert_str_eq(reply.at[13], "");
	/* What is only true of a new process is no reason to halt it. */
	EXPECT("OK", &s, &lua_activity, "a", "halt", "", "evidence", "lost");
	cr_assert_str_eq(lua_meta(&s, "a", "reason"), "lost");
}

/* lua/README.md lists what the user of Redis must be allowed: a whole life of
 * an activity needs no more. */
Test(lua_refuse, the_commands_that_are_listed_are_enough)
{
	static const char *const commands[] = {
		"eval",     "evalsha", "time",  "info",    "type",   "hget",
		"hmget",    "hset",    "hdel",  "hgetall", "hlen",   "llen",
		"lindex",   "lrange",  "lpush", "rpop",    "unlink", "lpushx",
		"renamenx", "multi",   "exec",
	};
	const char *argv[40] = { "ACL", "SETUSER", "default", "-@all" };
	char words[32][16];
	int argc = 4;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		(void)snprintf(words[i], sizeof(words[i]), "+%s", commands[i]);
		argv[argc++] = words[i];
	}
	cr_assert_str_eq(redis_server_askv(&s, argc, argv), "OK");
	lua_open(&s, "b", 2);
	EXPECT("OK", &s, &lua_grab, "b", "me", "u", LATER, "v", "0");
	EXPECT("OK", &s, &lua_result, "b", "u", "0");
	EXPECT("OK", &s, &lua_relay, "b", "acquire", "me", "0", "9000");
	EXPECT("OK", &s, &lua_relay_read, "b", "-1", "9", "-1", "9");
	EXPECT("OK", &s, &lua_relay, "b", "advance", "me", "1", "1", "1");
	EXPECT("OK", &s, &lua_activity, "b", "halt", "", "evidence", "why");
	EXPECT("OK", &s, &lua_activity, "b", "resume", "", "");
	redis_server_ask(&s, "HSET rain:{b}:meta incarnation before");
	EXPECT("WITNESS", &s, &lua_fence, "b", "stamp", "me", "1", "1", "1",
	       "9000");
	EXPECT("OK", &s, &lua_fence, "b", "confirm", "me", "1", "u", "6", "5");
	EXPECT("OK", &s, &lua_fence, "b", "stamp", "me", "1", "1", "1", "0");
	EXPECT("OK", &s, &lua_fence, "b", "leave", "me");
	EXPECT("OK", &s, &lua_activity, "b", "close", "", "");
	EXPECT("OK", &s, &lua_activity, "b", "counted", "", "100", "1");
	EXPECT("OK", &s, &lua_activity, "b", "halt", "", "evidence", "why");
	EXPECT("OK", &s, &lua_activity, "b", "close", "", "");
	EXPECT("OK", &s, &lua_activity, "b", "counted", "", "100", "1");
	EXPECT("OK", &s, &lua_activity, "b", "settled", "", "");
	EXPECT("OK", &s, &lua_relay, "b", "advance", "me", "1", "1",
	       redis_server_ask(&s, "LLEN rain:{b}:events"));
	EXPECT("OK", &s, &lua_activity, "b", "unlink", "");
}
