/* A Dubbo client against our own server. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "lib/dubbo_caller.h"
#include "proto/proto_util.h"

TestSuite(dubbo_client, .init = caller_setup, .fini = caller_teardown,
	  .timeout = 60);

Test(dubbo_client, each_kind_of_answer)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	struct outcome r;

	client_start(&o);
	call_and_wait(&r, "echo"); /* made before it is connected */
	expect_text(&r, "echo");
	cr_assert_eq(r.provider, 0);
	call_and_wait(&r, "null");
	cr_assert(r.outcome == DUBBO_DONE && r.kind == DUBBO_NULL);
	call_and_wait(&r, "throw");
	cr_assert(r.kind == DUBBO_EXCEPTION);
	cr_assert_str_eq(r.text, "no more");
	call_and_wait(&r, "fail");
	cr_assert(r.kind == DUBBO_ERROR && r.status == 80);
	cr_assert_str_eq(r.text, "broken");
	cr_assert_eq(
		metric_value(
			"rain_dubbo_client_calls_total{outcome=\"value\"} "),
		2);
	cr_assert_eq(metric_value("rain_dubbo_client_in_flight "), 0);
	cr_assert_eq(metric_value("rain_dubbo_client_providers_ready "), 1);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, over_tcp_by_name_with_a_secret)
{
	struct dubbo_server_options so = server_options("127.0.0.1:0");
	struct dubbo_client_options o;
	struct dubbo_server *s;
	struct outcome r;
	char address[64];

	so.secret = "s3cret";
	s = server_start(&so);
	snprintf(address, sizeof(address), "localhost%s",
		 strrchr(dubbo_server_address(s), ':'));
	o = client_options(address);
	o.secret = "s3cret";
	client_start(&o);
	call_and_wait(&r, "echo");
	expect_text(&r, "echo");
	dubbo_client_free(client);
	o.secret = "guess";
	client_start(&o);
	call_and_wait(&r, "echo");
	cr_assert(r.kind == DUBBO_ERROR && r.status == 70);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, replies_find_their_calls_in_any_order)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r[3];

	client_start(&o);
	for (int i = 0; i < 3; i++) {
		call(&r[i], "hold", 5000, -1);
	}
	RUN_UNTIL(&loop, service.held_count == 3);
	answer_held(2, "c");
	answer_held(0, "a");
	wait_for(&r[2]);
	wait_for(&r[0]);
	cr_assert_eq(r[1].times, 0);
	answer_held(1, "b");
	wait_for(&r[1]);
	expect_text(&r[0], "a");
	expect_text(&r[1], "b");
	expect_text(&r[2], "c");
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, a_deadline_ends_a_call_and_the_late_reply_is_dropped)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome slow;
	static struct outcome slower;
	struct outcome next;
	uint64_t start;

	client_start(&o);
	call_and_wait(&next, "echo");
	start = uv_now(&loop);
	call(&slower, "hold", 5000, -1);
	call(&slow, "hold", 30, -1);
	wait_for(&slow);
	cr_assert_eq(slow.outcome, DUBBO_UNKNOWN);
	cr_assert_eq(slow.provider, 0);
	cr_assert(uv_now(&loop) - start >= 30);
	cr_assert_eq(slower.times, 0);
	cr_assert_eq(service.held_count, 2);
	cr_assert(service.deadline <= start + 1000);
	answer_held(1, "late");
	call_and_wait(&next, "next");
	expect_text(&next, "next");
	cr_assert_eq(slow.times, 1);
	cr_assert_eq(metric_value("rain_dubbo_client_late_replies_total "), 1);
	answer_held(0, "in time");
	wait_for(&slower);
	expect_text(&slower, "in time");
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, without_a_provider_nothing_was_sent)
{
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r;
	uint64_t start = uv_now(&loop);

	client_start(&o);
	call(&r, "echo", 40, -1);
	wait_for(&r);
	cr_assert_eq(r.outcome, DUBBO_NOT_SENT);
	cr_assert_eq(r.provider, -1);
	cr_assert(uv_now(&loop) - start >= 40);
	cr_assert_eq(dubbo_client_ready(client), 0);
	dubbo_client_free(client);
}

Test(dubbo_client, a_waiting_call_leaves_when_a_provider_is_there)
{
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r[3];
	struct dubbo_server *s;
	struct turns *t;
	uint64_t deadline;

	client_start(&o);
	deadline = uv_now(&loop) + 9000;
	for (int i = 0; i < 3; i++) {
		call(&r[i], "echo", 9000, -1);
	}
	t = turns_start(&loop, 50);
	while (!t->late) {
		uv_run(&loop, UV_RUN_ONCE);
	}
	turns_stop(t);
	s = serve(0);
	for (int i = 0; i < 3; i++) {
		wait_for(&r[i]);
		expect_text(&r[i], "echo");
	}
	/* The provider was told what was left of the time. */
	cr_assert(service.deadline <= deadline + 20, "%ld too late",
		  (long)(service.deadline - deadline));
	dubbo_client_free(client);
	dubbo_server_free(s);
}

static void count_cb(void *ctx)
{
	++*(int *)ctx;
}

Test(dubbo_client, connects_again_after_a_restart)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r;
	static int changes;

	client_start(&o);
	dubbo_client_watch(client, count_cb, &changes);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	cr_assert_eq(changes, 1);
	call(&r, "hold", 5000, -1);
	RUN_UNTIL(&loop, service.held_count == 1);
	dubbo_server_free(s);
	wait_for(&r);
	cr_assert_eq(r.outcome, DUBBO_UNKNOWN); /* it was sent */
	cr_assert_eq(changes, 2);
	answer_held(0, "nobody");
	s = serve(0);
	call_and_wait(&r, "again");
	expect_text(&r, "again");
	cr_assert_eq(changes, 3);
	cr_assert(metric_value("rain_dubbo_client_reconnects_total ") >= 1);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, calls_over_the_limit_are_not_sent)
{
	static struct outcome r[5];
	static struct outcome big;
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;
	uint8_t *megabytes = xcalloc(1, 9 << 20);
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);

	o.calls_max = 3;
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	m.activity_id = to_pb(bytes_make(megabytes, 9 << 20));
	dubbo_client_call(client, &target, &m.base, 5000, -1, done_cb, &big);
	cr_assert_eq(big.times, 0);
	wait_for(&big);
	cr_assert_eq(big.outcome, DUBBO_NOT_SENT);
	for (int i = 0; i < 5; i++) {
		call(&r[i], "hold", 5000, -1);
	}
	wait_for(&r[3]);
	wait_for(&r[4]);
	cr_assert_eq(r[3].outcome, DUBBO_NOT_SENT);
	cr_assert_eq(r[4].outcome, DUBBO_NOT_SENT);
	RUN_UNTIL(&loop, service.held_count == 3);
	for (size_t i = 0; i < 3; i++) {
		answer_held(i, "x");
		wait_for(&r[i]);
		expect_text(&r[i], "x");
	}
	free(megabytes);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

static struct outcome chained;

static void call_again_cb(void *ctx, enum dubbo_outcome outcome,
			  const struct dubbo_result *r, int provider)
{
	(void)r;
	(void)provider;
	*(enum dubbo_outcome *)ctx = outcome;
	call(&chained, "echo", 1000, -1);
}

Test(dubbo_client, freeing_ends_every_call)
{
	static struct outcome sent;
	static enum dubbo_outcome first;
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);

	client_start(&o);
	call(&sent, "hold", 5000, -1);
	RUN_UNTIL(&loop, service.held_count == 1);
	m.activity_id = to_pb_str("hold");
	dubbo_client_call(client, &target, &m.base, 5000, -1, call_again_cb,
			  &first);
	dubbo_client_free(client);
	cr_assert(sent.times == 1 && sent.outcome == DUBBO_UNKNOWN);
	cr_assert_eq(first, DUBBO_NOT_SENT, "it had no time to leave");
	cr_assert_eq(chained.times, 0);
	wait_for(&chained);
	cr_assert_eq(chained.outcome, DUBBO_NOT_SENT);
	answer_held(0, "nobody");
	if (service.held_count == 2) {
		answer_held(1, "nobody");
	}
	dubbo_server_free(s);
	o.addresses = paths[1];
	client_start(&o); /* never connected */
	call(&sent, "echo", 5000, -1);
	dubbo_client_free(client);
	cr_assert(sent.times == 1 && sent.outcome == DUBBO_NOT_SENT);
}

Test(dubbo_client, bad_addresses_are_refused)
{
	static const char *const bad[] = { "", "host", "127.0.0.1:1,", "a:b",
					   "127.0.0.1:1,,127.0.0.1:2" };

	for (size_t i = 0; i < 5; i++) {
		struct dubbo_client_options o = client_options(bad[i]);

		cr_assert_eq(dubbo_client_new(hub, &o, &client), ERR_CONFIG,
			     "%s", bad[i]);
		cr_assert(client == NULL);
	}
}

Test(dubbo_client, a_heartbeat_reaches_our_server_and_comes_back)
{
	struct dubbo_server_options so = server_options(paths[0]);
	struct dubbo_client_options o = client_options(paths[0]);
	struct dubbo_server *s;
	struct turns *t;

	/* Silent but for heartbeats, for several idle times of the server and
	 * several silences of the client. */
	so.idle_ms = 60;
	o.heartbeat_ms = 20;
	s = server_start(&so);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	t = turns_start(&loop, 300);
	while (!t->late) {
		uv_run(&loop, UV_RUN_ONCE);
		cr_assert(dubbo_client_ready(client) == 1);
	}
	turns_stop(t);
	cr_assert_eq(metric_value("rain_dubbo_client_reconnects_total "), 0);
	dubbo_client_free(client);
	dubbo_server_free(s);
}
