/**
 * The scripts of lua/ run one by one against a test's Redis, blocking, their
 * replies as text with the indices of lua/README.md.
 *
 *   RUN(&s, &lua_activity, "a", "pause", "", "a break");
 *   cr_assert_str_eq(reply.at[1], "OK");
 */
#ifndef TESTS_LIB_LUA_RUN_H
#define TESTS_LIB_LUA_RUN_H

#include "lib/redis_server.h"
#include "lua/scripts.h"

enum { LUA_REPLY_MAX = 4096, LUA_ARGS_MAX = 2100 };

struct lua_reply {
	char *text;                    /* owned; the strings below are in it */
	size_t n;                      /* at[1] to at[n] */
	const char *at[LUA_REPLY_MAX]; /* arrays are flattened */
};

/** Of the last call; at[0] and what is beyond n are "". */
extern struct lua_reply reply;

/** Run script on the activity id by EVAL; args end with NULL. An error is one
 * element that begins with "(error)". Of lua_preload args are the offset and
 * the packets, and the commands behind it follow. Of lua_grab they are the
 * witness, user and deadline of each, and draws or nothing, of lua_result user
 * and deadline of each; and from at[9] on are status and claim of each. */
void lua_run(struct redis_server *s, const struct redis_script *script,
	     const char *id, const char *const *args);

#define RUN(s, script, id, ...) \
	lua_run((s), (script), (id), (const char *const[]){ __VA_ARGS__, NULL })

/** The same, and fail the test unless the code (index 1) is this. */
#define EXPECT(code, s, script, id, ...)                                \
	do {                                                            \
		RUN(s, script, id, __VA_ARGS__);                        \
		cr_assert_str_eq(reply.at[1], code, "%s is not %s: %s", \
				 reply.at[1], code, reply.at[5]);       \
	} while (0)

/** Milliseconds of the server's clock. */
long long lua_now(struct redis_server *s);

/** Create activity id with a plan of count packets of 1.00 each and the times
 * given, packet ids 1000 and up; leave it CREATED, LOADED or OPEN. The plan
 * keeps its commitment. */
void lua_create(struct redis_server *s, const char *id, int count,
		long long start_ms, long long end_ms);
void lua_load(struct redis_server *s, const char *id, int count);
void lua_open(struct redis_server *s, const char *id, int count);
void lua_open_until(struct redis_server *s, const char *id, int count,
		    long long end_ms);

/** The id of the first packet of a live activity: the ids after it do not fit
 * Lua's numbers, and the tenth carries into the upper digits. */
#define LUA_LIVE_BASE "1999999999999999990"

/** A live activity, whose seed is 32 zeros; leave it LOADED or OPEN. */
void lua_load_live(struct redis_server *s, const char *id, int count,
		   long long total_cents, long long min_cents,
		   long long max_cents);
void lua_open_live(struct redis_server *s, const char *id, int count,
		   long long total_cents, long long min_cents,
		   long long max_cents);

/** The last argument of a grab there: draws of `count` places from first on,
 * every byte of them this one, not 0. Of all 0xff the highest amount is drawn
 * that can be. Until the next call. */
const char *lua_draws(struct redis_server *s, const char *id, int first,
		      int count, int byte);

/** Everything of the activity, as one text that is the caller's (free()). */
char *lua_whole(struct redis_server *s, const char *id);

/** Create activity id with a plan that adopts the count packets that lie in its
 * list; leave it LOADED. */
void lua_adopt(struct redis_server *s, const char *id, int count,
	       long long total_cents);

/** Read a field of meta, "(nil)" if there is none; until the next question. */
const char *lua_meta(struct redis_server *s, const char *id, const char *field);

#endif
