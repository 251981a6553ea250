/* Scripts and errors of a real Redis. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "base/metrics.h"
#include "lib/redis_rig.h"
#include "lib/redis_server.h"

static struct rig g;
static struct redis_server s;

static void setup(void)
{
	redis_server_start(&s, NULL);
	rig_open(&g, s.url, NULL);
	rig_ready(&g, true);
}

static void teardown(void)
{
	rig_close(&g);
	redis_server_close(&s);
}

TestSuite(redis_script, .init = setup, .fini = teardown);

static const char *run(struct answer *a, const char *source, size_t keys,
		       const char *words)
{
	struct redis_script script = rig_make_script("test", source);

	rig_script(&g, a, 9000, &script, keys, words);
	rig_answer(&g, a);
	return a->text;
}

static long long calls(const char *command)
{
	char field[64];
	long long n;

	snprintf(field, sizeof(field), "cmdstat_%s", command);
	n = redis_server_info(&s, "commandstats", field, "calls");
	return n > 0 ? n : 0;
}

Test(redis_script, script_flush_between_calls_is_not_noticed)
{
	static const char source[] =
		"#!lua\nreturn redis.call('INCR', KEYS[1]) .. ARGV[1]";
	struct answer a;

	for (int i = 1; i <= 20; i++) {
		char expected[16];

		snprintf(expected, sizeof(expected), "%dx", i);
		cr_assert_str_eq(run(&a, source, 1, "counter x"), expected);
		cr_assert_eq(a.outcome, REDIS_DONE);
		if (i % 5 == 0) {
			redis_server_ask(&s, "SCRIPT FLUSH");
		}
	}
	/* For the first of all and the first after each of three flushes. */
	cr_assert_eq(calls("eval"), 4);
	cr_assert_eq(calls("evalsha"), 20);
}

Test(redis_script, mixed_pipeline_with_flushes)
{
	enum { N = 300 };
	static struct answer a[N];
	struct redis_script script = rig_make_script(
		"echo", "redis.call('INCR', KEYS[1]) return ARGV[1]");
	char words[32];
	size_t place = 0;

	for (int i = 0; i < N; i++) {
		if (i % 50 == 7) {
			rig_send(&g, &a[i], 9000, "SCRIPT FLUSH");
		} else if (i % 3 == 0) {
			snprintf(words, sizeof(words), "ECHO %d", i);
			rig_send(&g, &a[i], 9000, words);
		} else {
			snprintf(words, sizeof(words), "counter %d", i);
			rig_script(&g, &a[i], 9000, &script, 1, words);
		}
		if (i % 20 == 0) {
			uv_run(&g.loop, UV_RUN_NOWAIT);
		}
	}
	rig_all(&g);
	for (int i = 0; i < N; i++) {
		bool flush = i % 50 == 7;

		cr_assert_eq(a[i].outcome, REDIS_DONE);
		snprintf(words, sizeof(words), "%d", i);
		cr_assert_str_eq(a[i].text, flush ? "OK" : words);
		if (flush || i % 3 == 0) {
			/* Plain commands keep their order. */
			cr_assert_gt(a[i].place, place);
			place = a[i].place;
		}
	}
	/* Each script had its effect once, however often it was sent. */
	cr_assert_str_eq(redis_server_ask(&s, "GET counter"), "196");
	cr_assert_gt(calls("eval"), 0);
}

Test(redis_script, nothing_is_assumed_of_a_new_connection)
{
	struct answer a;

	cr_assert_str_eq(run(&a, "return 'x'", 0, ""), "x");
	redis_server_restart(&s);
	rig_ready(&g, false);
	cr_assert_str_eq(run(&a, "return 'x'", 0, ""), "x");
	cr_assert_eq(calls("eval"), 1);
}

Test(redis_script, an_error_half_way_is_partial)
{
	struct answer a;

	redis_server_ask(&s, "SET text x");
	run(&a,
	    "redis.call('SET', KEYS[1], '1') "
	    "return redis.call('LPUSH', KEYS[2], '1')",
	    2, "mark text");
	cr_assert_eq(a.outcome, REDIS_PARTIAL);
	cr_assert_eq(strncmp(a.text, "WRONGTYPE", 9), 0);
	cr_assert_str_eq(redis_server_ask(&s, "GET mark"), "1");
	/* The same from a plain command did nothing. */
	rig_ask(&g, &a, "LPUSH text 1");
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert(redis_ready(g.redis));
}

static enum redis_reaction reaction(const struct answer *a)
{
	enum redis_outcome outcome;

	return redis_classify(bytes_str(a->text), &outcome);
}

Test(redis_script, a_full_redis_executes_nothing)
{
	static const char *const heads[] = { "#!lua\n", "" };
	struct answer a;

	redis_server_ask(&s, "RPUSH list 1 2 3");
	redis_server_ask(&s, "CONFIG SET maxmemory 1");
	for (size_t i = 0; i < 2; i++) {
		char source[200];

		snprintf(source, sizeof(source),
			 "%sredis.call('SET', KEYS[1], '1') "
			 "redis.call('RPOP', KEYS[2])",
			 heads[i]);
		run(&a, source, 2, "mark list");
		cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED, "%s", a.text);
		cr_assert_eq(reaction(&a), REDIS_REACT_FULL, "%s", a.text);
	}
	rig_ask(&g, &a, "SET mark 1");
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert_eq(reaction(&a), REDIS_REACT_FULL);
	/* What frees memory, or says that it must run, still goes. */
	run(&a, "#!lua flags=allow-oom\nreturn redis.call('RPOP', KEYS[1])", 1,
	    "list");
	cr_assert_eq(a.outcome, REDIS_DONE, "%s", a.text);
	redis_server_ask(&s, "CONFIG SET maxmemory 0");
	cr_assert_str_eq(redis_server_ask(&s, "EXISTS mark"), "0");
	cr_assert_str_eq(redis_server_ask(&s, "LLEN list"), "2");
}

/* The classification relies on it: a script that has written is not stopped
 * for want of memory. */
Test(redis_script, a_script_that_has_written_goes_on_when_full)
{
	struct answer a;

	redis_server_ask(&s, "RPUSH list 1 2 3");
	redis_server_ask(&s, "CONFIG SET maxmemory 1");
	run(&a, "redis.call('RPOP', KEYS[1]) redis.call('SET', KEYS[2], '1')",
	    2, "list mark");
	cr_assert_eq(a.outcome, REDIS_DONE, "%s", a.text);
}

Test(redis_script, a_busy_redis_executes_nothing_else)
{
	struct redis_script loop = rig_make_script("loop", "while true do end");
	struct answer a;
	struct answer b;
	struct rig other;

	redis_server_ask(&s, "CONFIG SET busy-reply-threshold 20");
	rig_script(&g, &a, 9000, &loop, 0, "");
	rig_spin(&g, 100);
	rig_open(&other, s.url, NULL);
	/* A client that comes now waits, as it does while Redis loads. */
	rig_send(&other, &b, 60, "SET mark 1");
	rig_answer(&other, &b);
	cr_assert_eq(b.outcome, REDIS_NOT_EXECUTED);
	cr_assert_not(redis_ready(other.redis));
	cr_assert_eq(strncmp(redis_server_ask(&s, "GET x"), "(error) BUSY", 12),
		     0);
	cr_assert_str_eq(redis_server_ask(&s, "SCRIPT KILL"), "OK");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED, "%s", a.text);
	rig_ready(&other, true);
	cr_assert_eq(redis_connection(other.redis), 1);
	rig_close(&other);
}

Test(redis_script, a_demoted_master_is_left)
{
	struct answer a;
	uint64_t before = redis_connection(g.redis);

	redis_server_ask(&s, "REPLICAOF 127.0.0.1 1");
	run(&a, "#!lua\nredis.call('SET', KEYS[1], '1')", 1, "mark");
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED, "%s", a.text);
	cr_assert_eq(reaction(&a), REDIS_REACT_RECONNECT);
	redis_server_ask(&s, "REPLICAOF NO ONE");
	rig_ready(&g, true);
	cr_assert_gt(redis_connection(g.redis), before);
	run(&a, "#!lua\nredis.call('SET', KEYS[1], '1')", 1, "mark");
	cr_assert_eq(a.outcome, REDIS_DONE);
}

Test(redis_script, metrics_tell_what_happened)
{
	struct answer a;
	struct buf page;
	const char *text;

	rig_ask(&g, &a, "NOSUCH");
	rig_ask(&g, &a, "PING");
	run(&a, "error('x')", 0, "");
	buf_init(&page);
	metrics_render(&page);
	buf_put_u8(&page, 0);
	text = (const char *)buf_live(&page).p;
	cr_assert_not_null(strstr(
		text, "rain_redis_commands_total{outcome=\"done\"} 1\n"));
	cr_assert_not_null(strstr(
		text, "rain_redis_commands_total{outcome=\"not_executed\"} 1"));
	cr_assert_not_null(strstr(
		text, "rain_redis_commands_total{outcome=\"partial\"} 1\n"));
	cr_assert_not_null(
		strstr(text, "rain_redis_errors_total{class=\"other\"} 1\n"));
	cr_assert_not_null(
		strstr(text, "rain_redis_errors_total{class=\"script\"} 1\n"));
	cr_assert_not_null(
		strstr(text, "rain_redis_errors_total{class=\"partial\"} 1\n"));
	cr_assert_not_null(strstr(text, "rain_redis_connects_total 1\n"));
	cr_assert_not_null(strstr(text, "rain_redis_in_flight 0\n"));
	buf_close(&page);
}
