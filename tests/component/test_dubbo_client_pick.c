/* Which of its providers a Dubbo client asks. */
#include <stdio.h>

#include "lib/dubbo_caller.h"

TestSuite(dubbo_client_pick, .init = caller_setup, .fini = caller_teardown,
	  .timeout = 60);

static void drained_cb(void *ctx)
{
	*(bool *)ctx = true;
}

Test(dubbo_client_pick, a_draining_provider_gets_no_new_calls_and_loses_none)
{
	static struct outcome held;
	static struct outcome other;
	static bool drained;
	struct dubbo_server *a = serve(0);
	struct dubbo_server *b = serve(1);
	struct dubbo_client_options o;
	char both[140];

	snprintf(both, sizeof(both), "%s, %s", paths[0], paths[1]);
	o = client_options(both);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	call(&held, "hold", 5000, 1);
	RUN_UNTIL(&loop, service.held_count == 1);
	dubbo_server_drain(a, drained_cb, &drained);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	for (int i = 0; i < 5; i++) {
		call_and_wait(&other, "echo");
		cr_assert_eq(other.provider, 1);
	}
	cr_assert(held.times == 0 && !drained);
	answer_held(0, "kept");
	wait_for(&held);
	expect_text(&held, "kept");
	cr_assert_eq(held.provider, 0);
	RUN_UNTIL(&loop, drained);
	dubbo_server_free(a);
	call_and_wait(&other, "echo");
	a = serve(0); /* a new process: not READONLY any more */
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	dubbo_client_free(client);
	dubbo_server_free(a);
	dubbo_server_free(b);
}

Test(dubbo_client_pick,
     the_fewest_in_flight_is_asked_and_the_avoided_one_is_not)
{
	static struct outcome held[4];
	struct outcome r;
	struct dubbo_server *a = serve(0);
	struct dubbo_server *b = serve(1);
	struct dubbo_client_options o;
	char both[140];

	snprintf(both, sizeof(both), "%s,%s", paths[0], paths[1]);
	o = client_options(both);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	call(&held[0], "hold", 5000, 1);
	call(&held[1], "hold", 5000, 1);
	call(&held[2], "hold", 5000, -1);
	RUN_UNTIL(&loop, service.held_count == 3);
	call_and_wait(&r, "echo");
	cr_assert_eq(r.provider, 1);
	call(&r, "echo", 5000, 1); /* the busier one after all */
	wait_for(&r);
	cr_assert_eq(r.provider, 0);
	for (size_t i = 0; i < 3; i++) {
		answer_held(i, "x");
		wait_for(&held[i]);
	}
	cr_assert(held[0].provider == 0 && held[1].provider == 0 &&
		  held[2].provider == 1);
	dubbo_server_free(b);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	call(&r, "echo", 5000, 0); /* avoided, but there is no other */
	wait_for(&r);
	cr_assert_eq(r.provider, 0);
	dubbo_client_free(client);
	dubbo_server_free(a);
}

Test(dubbo_client_pick, a_provider_that_lets_deadlines_pass_is_asked_last)
{
	static struct outcome slow;
	struct outcome r;
	struct dubbo_server *a = serve(0);
	struct dubbo_server *b = serve(1);
	struct dubbo_client_options o;
	char both[140];
	int first;

	snprintf(both, sizeof(both), "%s,%s", paths[0], paths[1]);
	o = client_options(both);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	call(&slow, "hold", 20, 1);
	wait_for(&slow);
	cr_assert(slow.outcome == DUBBO_UNKNOWN && slow.provider == 0);
	for (int i = 0; i < 3; i++) {
		call_and_wait(&r, "echo");
		cr_assert_eq(r.provider, 1);
	}
	answer_held(0, "alive"); /* late, but it lives */
	RUN_UNTIL(&loop,
		  metric_value("rain_dubbo_client_late_replies_total ") == 1);
	/* It is as good as the other again: they take turns. */
	call_and_wait(&r, "echo");
	first = r.provider;
	call_and_wait(&r, "echo");
	cr_assert_eq(first + r.provider, 1);
	dubbo_client_free(client);
	dubbo_server_free(a);
	dubbo_server_free(b);
}

/* Two that are equally idle are asked in turns, not the first one always. */
Test(dubbo_client_pick, equals_take_turns)
{
	struct outcome r;
	struct dubbo_server *a = serve(0);
	struct dubbo_server *b = serve(1);
	struct dubbo_client_options o;
	int asked[2] = { 0 };
	char both[140];

	snprintf(both, sizeof(both), "%s,%s", paths[0], paths[1]);
	o = client_options(both);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	for (int i = 0; i < 10; i++) {
		call_and_wait(&r, "echo");
		asked[r.provider]++;
	}
	cr_assert_eq(asked[0], 5);
	cr_assert_eq(asked[1], 5);
	dubbo_client_free(client);
	dubbo_server_free(a);
	dubbo_server_free(b);
}
