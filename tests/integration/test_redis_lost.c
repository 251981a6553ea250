/* A real Redis that dies, stalls, restarts, loads, or is not there. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "lib/redis_rig.h"
#include "lib/redis_server.h"

static struct rig g;
static struct redis_server s;

static void setup(void)
{
	redis_server_start_tcp(&s, NULL);
}

static void teardown(void)
{
	redis_server_close(&s);
}

TestSuite(redis_lost, .init = setup, .fini = teardown);

Test(redis_lost, kill_with_5000_in_flight)
{
	enum { N = 5000 };
	static struct answer a[N];
	struct answer b;
	uint64_t before;

	rig_open(&g, s.url, NULL);
	rig_ready(&g, true);
	before = redis_connection(g.redis);
	redis_server_pause(&s);
	for (int i = 0; i < N; i++) {
		rig_send(&g, &a[i], 9000, "INCR counter");
	}
	rig_spin(&g, 20); /* let the bytes leave */
	cr_assert_eq(g.ended, 0);
	redis_server_kill(&s);
	rig_all(&g);
	for (int i = 0; i < N; i++) {
		cr_assert_eq(a[i].outcome, REDIS_UNKNOWN);
		cr_assert_eq(a[i].place, (size_t)i + 1);
	}
	redis_server_restart(&s);
	cr_assert_str_eq(rig_ask(&g, &b, "PING"), "PONG");
	cr_assert_gt(redis_connection(g.redis), before);
	rig_close(&g);
}

Test(redis_lost, a_stopped_server_leaves_the_outcome_unknown)
{
	struct answer a;
	struct answer b;
	struct answer c;

	rig_open(&g, s.url, NULL);
	rig_ready(&g, true);
	redis_server_pause(&s);
	rig_send(&g, &a, 50, "INCR counter");
	rig_send(&g, &b, 9000, "INCR counter");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_UNKNOWN);
	cr_assert_eq(b.ended, 0);
	redis_server_resume(&s);
	rig_answer(&g, &b);
	/* It was executed indeed, and its late reply is nobody else's. */
	cr_assert_str_eq(b.text, "2");
	cr_assert_str_eq(rig_ask(&g, &c, "INCR counter"), "3");
	cr_assert_eq(redis_connection(g.redis), 1);
	rig_close(&g);
}

static void short_silence(struct redis_options *o)
{
	o->silence_max_ms = 100;
	o->connect_timeout_ms = 100;
}

Test(redis_lost, a_stopped_server_is_left_after_silence)
{
	struct answer a;
	struct answer b;

	rig_open(&g, s.tcp_url, short_silence);
	rig_ready(&g, true);
	redis_server_pause(&s);
	rig_send(&g, &a, 9000, "INCR counter");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_UNKNOWN);
	cr_assert_not(redis_ready(g.redis));
	/* The kernel still accepts; the hello gets no answer. */
	rig_send(&g, &b, 200, "GET counter");
	rig_answer(&g, &b);
	cr_assert_eq(b.outcome, REDIS_NOT_EXECUTED);
	redis_server_resume(&s);
	rig_ready(&g, true);
	rig_close(&g);
}

Test(redis_lost, a_restart_loses_no_command_that_waits)
{
	struct answer a[3];

	rig_open(&g, s.tcp_url, NULL);
	rig_ready(&g, true);
	redis_server_stop(&s);
	rig_ready(&g, false);
	cr_assert_eq(redis_connection(g.redis), 0);
	rig_send(&g, &a[0], 30, "INCR counter");
	rig_send(&g, &a[1], 9000, "INCR counter");
	rig_send(&g, &a[2], 9000, "INCR counter");
	rig_answer(&g, &a[0]);
	cr_assert_eq(a[0].outcome, REDIS_NOT_EXECUTED);
	redis_server_restart(&s);
	rig_all(&g);
	cr_assert_str_eq(a[1].text, "1");
	cr_assert_str_eq(a[2].text, "2");
	cr_assert_eq(g.changes, 3);
	rig_close(&g);
}

static void short_connect(struct redis_options *o)
{
	o->connect_timeout_ms = 200;
}

Test(redis_lost, a_refused_port_is_tried_until_it_answers)
{
	struct answer a;
	uint64_t from;

	redis_server_stop(&s);
	rig_open(&g, s.tcp_url, short_connect);
	from = uv_now(&g.loop);
	rig_send(&g, &a, 150, "PING");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert_leq(uv_now(&g.loop) - from, 1000);
	cr_assert_eq(g.changes, 0);
	redis_server_restart(&s);
	cr_assert_str_eq(rig_ask(&g, &a, "PING"), "PONG");
	rig_close(&g);
}

static long long blocked_clients(void)
{
	return redis_server_info(&s, "clients", "blocked_clients", NULL);
}

Test(redis_lost, client_kill)
{
	struct answer blocked;
	struct answer b;

	rig_open(&g, s.url, NULL);
	rig_ready(&g, true);
	rig_send(&g, &blocked, 9000, "BLPOP nothing 0");
	/* Only Redis knows when it is blocked: nothing wakes our loop then. */
	for (int i = 0; i < 2000 && blocked_clients() != 1; i++) {
		rig_spin(&g, 5);
	}
	cr_assert_eq(blocked_clients(), 1);
	cr_assert_str_eq(redis_server_ask(&s, "CLIENT KILL TYPE normal"), "1");
	rig_answer(&g, &blocked);
	cr_assert_eq(blocked.outcome, REDIS_UNKNOWN);
	cr_assert_str_eq(rig_ask(&g, &b, "CLIENT GETNAME"), "test");
	cr_assert_eq(redis_connection(g.redis), 2);
	rig_close(&g);
}

static void a_killed_connection_every_few(int i)
{
	if (i % 10 == 0) {
		redis_server_ask(&s, "CLIENT KILL TYPE normal");
	}
}

/* Counted from outside: done says executed, not executed says not. */
Test(redis_lost, outcomes_are_true)
{
	enum { N = 300 };
	static struct answer a[N];
	int done = 0;
	int unknown = 0;
	int value;

	rig_open(&g, s.url, NULL);
	for (int i = 0; i < N; i++) {
		rig_send(&g, &a[i], 9000, "INCR counter");
		a_killed_connection_every_few(i);
		uv_run(&g.loop, UV_RUN_NOWAIT);
	}
	rig_all(&g);
	for (int i = 0; i < N; i++) {
		cr_assert_neq(a[i].outcome, REDIS_PARTIAL);
		done += a[i].outcome == REDIS_DONE;
		unknown += a[i].outcome == REDIS_UNKNOWN;
	}
	cr_assert_eq(sscanf(redis_server_ask(&s, "GET counter"), "%d", &value),
		     1);
	cr_assert_geq(value, done);
	cr_assert_leq(value, done + unknown);
	cr_assert_gt(done, 0);
	rig_close(&g);
}

static const char *const saves[] = { "--key-load-delay", "0",
				     "--loading-process-events-interval-bytes",
				     "1024", NULL };

Test(redis_lost, a_loading_server_is_waited_for)
{
	struct answer a;
	struct redis_server big;

	redis_server_start(&big, saves);
	for (int i = 0; i < 400; i++) {
		redis_server_ask(&big, "SET key:%d %s", i,
				 "some text that takes its time to load");
	}
	cr_assert_str_eq(redis_server_ask(&big, "SAVE"), "OK");
	redis_server_kill(&big);
	big.args[1] = "2000"; /* microseconds a key */
	redis_server_restart_only(&big);
	rig_open(&g, big.url, NULL);
	RUN_UNTIL(&g.loop, redis_connection(g.redis) == 1);
	rig_send(&g, &a, 9000, "GET key:399");
	cr_assert_not(redis_ready(g.redis));
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_DONE);
	cr_assert_str_eq(a.text, "some text that takes its time to load");
	cr_assert_eq(redis_connection(g.redis), 1);
	/* It did say LOADING, or this test shows nothing. */
	cr_assert_geq(redis_server_info(&big, "errorstats", "errorstat_LOADING",
					"count"),
		      1);
	rig_close(&g);
	redis_server_close(&big);
}
