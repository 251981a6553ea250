#include "lib/lua_run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "base/check.h"
#include "base/rand.h"

struct lua_reply reply;

static void split(char *text)
{
	free(reply.text);
	reply = (struct lua_reply){ .text = text };
	for (size_t i = 0; i < LUA_REPLY_MAX; i++) {
		reply.at[i] = "";
	}
	for (char *line = text; line != NULL;) {
		char *end = strchr(line, '\n');

		if (end != NULL) {
			*end++ = '\0';
		}
		check(reply.n + 1 < LUA_REPLY_MAX);
		reply.at[++reply.n] = line;
		line = end;
	}
}

/* With the first key_count keys of the activity. */
static void run(struct redis_server *s, const struct redis_script *script,
		int key_count, const char *id, const char *const *args)
{
	static const char *const names[] = { "packets", "users", "claims",
					     "events",  "meta",  "relay",
					     "loading" };
	const char *argv[LUA_ARGS_MAX + 16] = { "EVAL" };
	char keys[7][100];
	char *source = xstrndup(script->source.p, script->source.n);
	const char *answer;
	int argc = 0;

	argv[++argc] = source;
	argv[++argc] = key_count == 6 ? "6" : "7";
	for (int i = 0; i < key_count; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "rain:{%s}:%s", id,
			       names[i]);
		argv[++argc] = keys[i];
	}
	for (int i = 0; args[i] != NULL; i++) {
		check(i < LUA_ARGS_MAX);
		argv[++argc] = args[i];
	}
	answer = redis_server_askv(s, argc + 1, argv);
	split(xstrndup(answer, strlen(answer)));
	free(source);
}

/* The transaction of step_preload(), whose first reply is the script's. */
static void preload(struct redis_server *s, const char *id,
		    const char *const *args)
{
	const char *argv[LUA_ARGS_MAX + 2] = { "LPUSHX" };
	char gate[100];
	char count[16];
	const char *answer;
	int n = 0;

	(void)snprintf(gate, sizeof(gate), "rain:{%s}:loading", id);
	argv[1] = gate;
	for (; args[1 + n] != NULL; n++) {
		check(n < LUA_ARGS_MAX);
		if (n > 0) {
			argv[1 + n] = args[1 + n];
		}
	}
	(void)snprintf(count, sizeof(count), "%d", n);
	(void)redis_server_ask(s, "MULTI");
	run(s, &lua_preload, 7, id,
	    (const char *const[]){ args[0], count, args[1], NULL });
	if (n > 1) {
		(void)redis_server_askv(s, n + 1, argv);
	}
	(void)redis_server_ask(
		s, "RENAMENX rain:{%s}:loading rain:{%s}:packets", id, id);
	answer = redis_server_ask(s, "EXEC");
	split(xstrndup(answer, strlen(answer)));
}

/* From 9 on status and claim of each user instead of one answer. */
static void tell_apart(void)
{
	size_t users = reply.n - 8;

	check(8 + 2 * users < LUA_REPLY_MAX);
	for (size_t i = users; i-- > 0;) {
		const char *answer = reply.at[9 + i];
		bool number = strspn(answer, "0123456789") == strlen(answer);
		bool had = answer[0] == '*';

		reply.at[9 + 2 * i] = number ? answer : had ? "2" : "1";
		reply.at[10 + 2 * i] = number ? "" : answer + had;
	}
	reply.n = 8 + 2 * users;
}

/* lua_grab and lua_result, with the arguments in the order of lua/README.md. */
static void ask(struct redis_server *s, const struct redis_script *script,
		const char *id, const char *const *args)
{
	static char deadlines[1001 * 32];
	const char *argv[LUA_ARGS_MAX] = { "", "", deadlines };
	char *end = deadlines;
	int n = 0, same = 0;

	if (script == &lua_grab) {
		argv[0] = *args++;
	}
	for (deadlines[0] = '\0'; args[0] != NULL && args[1] != NULL;
	     args += 2) {
		check(n < 1001);
		argv[3 + n++] = args[0];
		same++;
		if (args[2] == NULL || args[3] == NULL ||
		    strcmp(args[1], args[3]) != 0) {
			end += snprintf(end, 32, "%d %s ", same, args[1]);
			same = 0;
		}
	}
	if (args[0] != NULL) {
		argv[1] = args[0];
	}
	run(s, script, 6, id, argv);
	if (strcmp(reply.at[1], "OK") == 0 ||
	    strcmp(reply.at[1], "COUNTS") == 0) {
		tell_apart();
	}
}

void lua_run(struct redis_server *s, const struct redis_script *script,
	     const char *id, const char *const *args)
{
	if (script == &lua_preload) {
		preload(s, id, args);
	} else if (script == &lua_grab || script == &lua_result) {
		ask(s, script, id, args);
	} else {
		run(s, script, 6, id, args);
	}
}

long long lua_now(struct redis_server *s)
{
	const char *time = redis_server_ask(s, "TIME");
	char *end = NULL;
	long long seconds = strtoll(time, &end, 10);

	return seconds * 1000 + strtoll(end + 1, NULL, 10) / 1000;
}

const char *lua_meta(struct redis_server *s, const char *id, const char *field)
{
	return redis_server_ask(s, "HGET rain:{%s}:meta %s", id, field);
}

/* The seed is nothing but zeros: packets of one amount need none. */
static void commit(const char *plan, char hex[65])
{
	unsigned char input[32 + 512] = { 0 };
	unsigned char digest[32];
	size_t n = strlen(plan);

	check(n < sizeof(input) - 32);
	memcpy(input + 32, plan, n);
	check(EVP_Digest(input, 32 + n, digest, NULL, EVP_sha256(), NULL) == 1);
	hex_encode(digest, sizeof(digest), hex);
}

/* What differs between the plans of tests. */
struct split {
	const char *algorithm;
	const char *min_cents;
	const char *max_cents;
	long long total_cents;
	const char *mode; /* NULL: a list */
};

static void create(struct redis_server *s, const char *id, int count,
		   const struct split *split, long long start_ms,
		   long long end_ms)
{
	char n[24], cents[24], start[24], end[24], plan[512], commitment[65];

	(void)snprintf(n, sizeof(n), "%d", count);
	(void)snprintf(cents, sizeof(cents), "%lld", split->total_cents);
	(void)snprintf(start, sizeof(start), "%lld", start_ms);
	(void)snprintf(end, sizeof(end), "%lld", end_ms);
	(void)snprintf(plan, sizeof(plan),
		       "activity_id=%s\ntitle=quiz \"night\"\nsponsor=s\n"
		       "currency=CNY\ntotal_cents=%s\npackets=%d\n"
		       "algorithm=%s\nmin_cents=%s\nmax_cents=%s\n"
		       "start_ms=%lld\nend_ms=%lld\nack=redis\nkeep_days=0\n%s",
		       id, cents, count, split->algorithm, split->min_cents,
		       split->max_cents, start_ms, end_ms,
		       split->mode != NULL ? "mode=live\n" : "");
	commit(plan, commitment);
	EXPECT("OK", s, &lua_activity, id, "create", "", "plan", plan, "title",
	       "quiz \"night\"", "sponsor", "s", "currency", "CNY",
	       "total_cents", cents, "count", n, "algorithm", split->algorithm,
	       "min_cents", split->min_cents, "max_cents", split->max_cents,
	       "start_ms", start, "end_ms", end, "ack", "redis", "keep_days",
	       "0", "id_base", split->mode != NULL ? LUA_LIVE_BASE : "1000",
	       "seed",
	       "00000000000000000000000000000000"
	       "00000000000000000000000000000000",
	       "commitment", commitment, split->mode != NULL ? "mode" : NULL,
	       split->mode);
}

void lua_create(struct redis_server *s, const char *id, int count,
		long long start_ms, long long end_ms)
{
	const struct split split = { "double_mean", "100", "100", count * 100LL,
				     NULL };

	create(s, id, count, &split, start_ms, end_ms);
}

void lua_adopt(struct redis_server *s, const char *id, int count,
	       long long total_cents)
{
	const struct split split = { "adopted", "1", "0", total_cents, NULL };
	char cents[24];

	create(s, id, count, &split, 0, 0);
	(void)snprintf(cents, sizeof(cents), "%lld", total_cents);
	EXPECT("OK", s, &lua_activity, id, "loading", "");
	EXPECT("OK", s, &lua_activity, id, "loaded", "", cents);
}

void lua_load_live(struct redis_server *s, const char *id, int count,
		   long long total_cents, long long min_cents,
		   long long max_cents)
{
	char cents[24], min[24], max[24];
	const struct split split = { "double_mean", min, max, total_cents,
				     "live" };

	(void)snprintf(cents, sizeof(cents), "%lld", total_cents);
	(void)snprintf(min, sizeof(min), "%lld", min_cents);
	(void)snprintf(max, sizeof(max), "%lld", max_cents);
	create(s, id, count, &split, 0, 0);
	EXPECT("OK", s, &lua_activity, id, "loading", "");
	EXPECT("OK", s, &lua_activity, id, "loaded", "", cents);
}

void lua_open_live(struct redis_server *s, const char *id, int count,
		   long long total_cents, long long min_cents,
		   long long max_cents)
{
	char n[24];

	lua_load_live(s, id, count, total_cents, min_cents, max_cents);
	(void)snprintf(n, sizeof(n), "%d", count);
	EXPECT("OK", s, &lua_activity, id, "open", "", n);
}

const char *lua_draws(struct redis_server *s, const char *id, int first,
		      int count, int byte)
{
	static char text[100 + 1000 * 12];
	int n = snprintf(text, sizeof(text), "%d %s ", first,
			 lua_meta(s, id, "commitment"));

	check(count <= 1000 && n < 100);
	memset(text + n, byte, (size_t)count * 12);
	text[n + count * 12] = '\0';
	return text;
}

char *lua_whole(struct redis_server *s, const char *id)
{
	static const char *const asks[] = {
		"LRANGE rain:{%s}:packets 0 -1", "HGETALL rain:{%s}:users",
		"LRANGE rain:{%s}:claims 0 -1",  "LRANGE rain:{%s}:events 0 -1",
		"HGETALL rain:{%s}:meta",        "HGETALL rain:{%s}:relay",
	};
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	check(f != NULL);
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		(void)fprintf(f, "%s\n", redis_server_ask(s, asks[i], id));
	}
	(void)fclose(f);
	return text;
}

static void push_chunk(struct redis_server *s, const char *id, int from,
		       int count)
{
	static char texts[1000][80];
	const char *args[1002];
	char offset[24];

	(void)snprintf(offset, sizeof(offset), "%d", from);
	args[0] = offset;
	for (int i = 0; i < count; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]),
			       "{\"redPacketId\":\"%d\",\"amount\":\"1.00\"}",
			       1000 + from + i);
		args[i + 1] = texts[i];
	}
	args[count + 1] = NULL;
	lua_run(s, &lua_preload, id, args);
	cr_assert_str_eq(reply.at[1], "OK", "%s", reply.at[1]);
}

static void load_until(struct redis_server *s, const char *id, int count,
		       long long end_ms)
{
	char cents[24];

	lua_create(s, id, count, 0, end_ms);
	EXPECT("OK", s, &lua_activity, id, "loading", "");
	for (int i = 0; i < count; i += 1000) {
		push_chunk(s, id, i, count - i < 1000 ? count - i : 1000);
	}
	(void)snprintf(cents, sizeof(cents), "%d00", count);
	EXPECT("OK", s, &lua_activity, id, "loaded", "", cents);
}

void lua_load(struct redis_server *s, const char *id, int count)
{
	load_until(s, id, count, 0);
}

void lua_open(struct redis_server *s, const char *id, int count)
{
	lua_open_until(s, id, count, 0);
}

void lua_open_until(struct redis_server *s, const char *id, int count,
		    long long end_ms)
{
	char n[24];

	load_until(s, id, count, end_ms);
	(void)snprintf(n, sizeof(n), "%d", count);
	EXPECT("OK", s, &lua_activity, id, "open", "", n);
}
