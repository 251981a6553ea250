/* The watch asks the grab-service for claims that Kafka did not bring. */
#include <criterion/criterion.h>
#include <signal.h>

#include "lib/ledger_fixture.h"
#include "lib/turns.h"
#include "net/dubbo_server.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"
#include "settle-worker/watch.h"

static uv_loop_t loop;
static struct stream_hub *hub;
static struct fixture f;
static struct reads *reads;

static void setup(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(uv_loop_init(&loop), 0);
	hub = stream_hub_new(&loop);
	fixture_open(&f);
	cr_assert_eq(reads_new(&loop, f.ledger, 2, 4, &reads), 0);
}

static void set_true(void *ctx)
{
	*(bool *)ctx = true;
}

static void teardown(void)
{
	bool freed = false;

	reads_free(reads, set_true, &freed);
	RUN_UNTIL(&loop, freed);
	/* What the hub still holds closes before it may go. */
	while (uv_run(&loop, UV_RUN_NOWAIT) != 0) {
	}
	stream_hub_free(hub);
	turns_end(&loop);
	fixture_close(&f);
}

TestSuite(watch, .init = setup, .fini = teardown, .timeout = 60);

struct grab_service {
	uint64_t rewound_to;
	int rewinds;
	int counters;
};

static void rewind_method(void *ctx, struct dubbo_call *call,
			  struct bytes argument)
{
	struct grab_service *s = ctx;
	Rain__ActivityReply r = RAIN__ACTIVITY_REPLY__INIT;
	Rain__RewindRequest *q =
		proto_unpack(&rain__rewind_request__descriptor, argument, 4096);

	s->rewinds++;
	s->rewound_to = q->seq;
	proto_free(q);
	r.outcome = RAIN__OUTCOME__DONE;
	dubbo_reply(call, &r.base);
}

static void counters_method(void *ctx, struct dubbo_call *call,
			    struct bytes argument)
{
	struct grab_service *s = ctx;
	Rain__CountersReply r = RAIN__COUNTERS_REPLY__INIT;

	(void)argument;
	s->counters++;
	r.outcome = RAIN__OUTCOME__DONE;
	r.claims = 2;
	r.claims_published = 2;
	dubbo_reply(call, &r.base);
}

static bool always(void *ctx)
{
	(void)ctx;
	return true;
}

Test(watch, asks_for_a_gap_that_stays)
{
	static const struct dubbo_method methods[] = {
		{ "rewind", "Lrain/RewindRequest;", rewind_method },
		{ "counters", "Lrain/ActivityRequest;", counters_method },
	};
	struct grab_service s = { 0 };
	struct dubbo_interface i = { "rain.ActivityService", "1.0.0", methods,
				     2, &s };
	struct dubbo_server_options so = { .listen = "127.0.0.1:0",
					   .secret = "",
					   .calls_max = 100,
					   .connections_max = 10,
					   .payload_max = DUBBO_PAYLOAD_MAX,
					   .idle_ms = 60000 };
	struct dubbo_server *grab;
	struct settle_options o = { .gap_age_ms = 100,
				    .watch_ms = 20,
				    .counters_ms = 50,
				    .grab_timeout_ms = 1000,
				    .grab_secret = "" };
	struct watch_deps deps = { .loop = &loop,
				   .hub = hub,
				   .reads = reads,
				   .options = &o,
				   .caught_up = always };
	struct watch *w;
	bool stopped = false;

	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "u2", 300, 2);
	fixture_claim(&f, "a", "p4", "u4", 100, 4);
	(void)fixture_apply(&f);
	cr_assert_eq(dubbo_server_new(hub, &so, &i, 1, &grab), 0);
	o.grab_addresses = dubbo_server_address(grab);
	cr_assert_eq(watch_start(&deps, &w), 0);
	RUN_UNTIL(&loop, s.rewinds >= 1 && s.counters >= 2);
	cr_assert_eq(s.rewound_to, 2);
	watch_stop(w, set_true, &stopped);
	RUN_UNTIL(&loop, stopped);
	dubbo_server_free(grab);
}
