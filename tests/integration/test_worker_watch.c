/* The watch asks the grab-service for claims that Kafka did not bring. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "lib/ledger_fixture.h"
#include "lib/turns.h"
#include "net/dubbo_server.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"
#include "settle-worker/settle_metrics.h"
#include "settle-worker/watch.h"

enum { MANY = 100 };

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
	int nothing_came;    /* what the watch says when asking does not help */
	int asked[MANY + 1]; /* about the activity of that number */
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

	Rain__ActivityRequest *q = proto_unpack(
		&rain__activity_request__descriptor, argument, 4096);
	struct bytes id = from_pb(q->activity_id);
	uint64_t n = 0;

	if (bytes_to_u64(bytes_make(id.p + 1, id.n - 1), MANY, &n)) {
		s->asked[n]++;
	}
	proto_free(q);
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

static void count_nothing(void *ctx)
{
	struct grab_service *s = ctx;

	s->nothing_came++;
}

/* A watch that asks s, until that is enough. */
static void watch_until(struct grab_service *s,
			bool (*enough)(const struct grab_service *s))
{
	static const struct dubbo_method methods[] = {
		{ "rewind", "Lrain/RewindRequest;", rewind_method },
		{ "counters", "Lrain/ActivityRequest;", counters_method },
	};
	struct dubbo_interface i = { "rain.ActivityService", "1.0.0", methods,
				     2, s };
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
				   .caught_up = always,
				   .nothing_came = count_nothing,
				   .ctx = s };
	struct watch *w;
	bool stopped = false;

	cr_assert_eq(dubbo_server_new(hub, &so, &i, 1, &grab), 0);
	o.grab_addresses = dubbo_server_address(grab);
	cr_assert_eq(watch_start(&deps, &w), 0);
	RUN_UNTIL(&loop, enough(s));
	watch_stop(w, set_true, &stopped);
	RUN_UNTIL(&loop, stopped);
	dubbo_server_free(grab);
}

static bool rewound_and_counted(const struct grab_service *s)
{
	return s->rewinds >= 3 && s->counters >= 2;
}

Test(watch, asks_for_a_gap_that_stays)
{
	struct grab_service s = { 0 };

	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "u2", 300, 2);
	fixture_claim(&f, "a", "p4", "u4", 100, 4);
	(void)fixture_apply(&f);
	watch_until(&s, rewound_and_counted);
	cr_assert_eq(s.rewound_to, 2);
	/* Asked twice in vain it looks whether anything comes at all, once. */
	cr_assert_eq(s.nothing_came, 1);
}

static bool asked_about_all(const struct grab_service *s)
{
	for (int n = 1; n <= MANY; n++) {
		if (s->asked[n] == 0) {
			return false;
		}
	}
	return true;
}

/* Each in its turn: a topic may be lost, and only the counters tell. */
Test(watch, asks_about_every_activity)
{
	struct grab_service s = { 0 };
	char id[16];

	for (int n = 1; n <= MANY; n++) {
		(void)snprintf(id, sizeof id, "a%d", n);
		fixture_created(&f, id, 1000, 4);
	}
	(void)fixture_apply(&f);
	watch_until(&s, asked_about_all);
}

static bool seen_waiting(const struct grab_service *s)
{
	(void)s;
	return settle_waiting.value == 2 &&
	       settle_waiting_ms.value > INT64_C(60000);
}

/* F44: the fixture's messages are old, so this one waits for long already. */
Test(watch, shows_claims_whose_activity_never_comes)
{
	struct grab_service s = { 0 };

	fixture_claim(&f, "never", "p1", "u1", 250, 1);
	fixture_claim(&f, "never", "p2", "u2", 300, 2);
	(void)fixture_apply(&f);
	watch_until(&s, seen_waiting);
}
