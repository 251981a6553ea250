/* What a gateway tells without asking, and whom it never does. */
#include "base/clock.h"
#include "lib/gateway_rig.h"

static struct rig rig;
static struct app app;
static struct app other;

TestSuite(edge, .timeout = 60);

/* Long enough for any test; those of time say another. */
#define FRESH "edge.fresh=10s"

static const char *const fresh[] = { FRESH, "limit.user_rate=0",
				     "gateway.remembered_max=0", NULL };

static void say(Rain__Status status, uint64_t revision)
{
	for (size_t i = 0; i < 2; i++) {
		rig.grabs[i].status = status;
		rig.grabs[i].revision = revision;
		rig.grabs[i].packets = 100;
		rig.grabs[i].stands_ms = UINT32_MAX;
	}
}

static void start(const char *const *settings)
{
	rig_start(&rig, false, settings);
	rig_ready(&rig);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	say(RAIN__STATUS__SOLD_OUT, 5);
}

static void stop(void)
{
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

static int status_of(struct app *a, uint64_t seq)
{
	int code;

	RUN_UNTIL(&rig.loop, app_has(a, seq) || a->closed);
	code = app_answer(a, seq)->code;
	if (a->count > ANSWERS_MAX / 2) {
		a->count = 0;
	}
	return code;
}

static int tap(struct app *a)
{
	return status_of(a, app_grab(a, "quiz"));
}

static int tap_again(struct app *a)
{
	return status_of(
		a, app_client_grab(&a->client, BYTES("quiz"), BYTES(""), 1, 0));
}

static int tap_for(struct app *a, const char *user)
{
	return status_of(a, app_client_grab(&a->client, BYTES("quiz"),
					    bytes_str(user), 0, 0));
}

static int64_t told_here(Rain__Status status)
{
	return atomic_load(&gateway_metrics.edge[status].value);
}

static void wait_ms(uint64_t ms)
{
	uint64_t begin = clock_mono_ms();

	RUN_UNTIL(&rig.loop, clock_mono_ms() - begin > ms);
}

static const Rain__Status words[] = {
	RAIN__STATUS__SOLD_OUT, RAIN__STATUS__NOT_STARTED,
	RAIN__STATUS__NOT_YET,  RAIN__STATUS__PAUSED,
	RAIN__STATUS__ENDED,
};

Test(edge, who_was_told_is_told_again)
{
	start(fresh);
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		const struct answer *last;
		int64_t before = told_here(words[w]);
		unsigned calls = rig.grabs[0].calls;

		say(words[w], 10 + w);
		/* The first one asks, for it was told something else. */
		cr_assert_eq(tap_again(&app), (int)words[w]);
		for (unsigned i = 0; i < 20; i++) {
			cr_assert_eq(tap(&app), (int)words[w]);
		}
		cr_assert_eq(rig.grabs[0].calls, calls + 1);
		cr_assert_eq(told_here(words[w]) - before, 20);
		(void)status_of(&app, app_grab(&app, "quiz"));
		last = &app.answers[app.count - 1];
		cr_assert_eq(last->retry_after_ms > 0,
			     words[w] != RAIN__STATUS__SOLD_OUT &&
				     words[w] != RAIN__STATUS__ENDED);
	}
	stop();
}

Test(edge, off_asks_always)
{
	static const char *const off[] = { "edge.fresh=0", "limit.user_rate=0",
					   NULL };

	start(off);
	for (unsigned i = 1; i <= 5; i++) {
		cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
		cr_assert_eq(rig.grabs[0].calls, i);
	}
	stop();
}

/* "I may have won already", and questions. */
Test(edge, who_may_have_won_asks_the_service)
{
	uint64_t seq;

	start(fresh);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(rig.grabs[0].calls, 1);
	cr_assert_eq(tap_again(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(rig.grabs[0].calls, 2);
	seq = app_client_query_result(&app.client, BYTES("quiz"), BYTES(""), 0);
	cr_assert_eq(status_of(&app, seq), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(rig.grabs[0].results, 1);
	stop();
}

/* Bob won through another gateway, before it was sold out. */
Test(edge, who_won_elsewhere_is_told_so)
{
	start(fresh);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	say(RAIN__STATUS__ALREADY_GRABBED, 5);
	for (unsigned i = 1; i <= 5; i++) {
		const struct answer *a;

		cr_assert_eq(tap(&other), RAIN__STATUS__ALREADY_GRABBED);
		a = &other.answers[other.count - 1];
		cr_assert_eq(a->cents, 1221);
		cr_assert_eq(rig.grabs[0].calls, 1 + i);
	}
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(rig.grabs[0].calls, 6);
	stop();
}

/* Whatever the answer that tells it: of another user, with a packet or without,
 * of a grab or a question. */
Test(edge, a_top_up_ends_it_for_all)
{
	uint64_t seq;

	start(fresh);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	say(RAIN__STATUS__WON, 6);
	cr_assert_eq(tap(&other), RAIN__STATUS__WON);
	cr_assert_eq(tap(&app), RAIN__STATUS__WON);
	say(RAIN__STATUS__SOLD_OUT, 6);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(rig.grabs[0].calls, 4);
	/* The next chunk: the revision is the same. */
	say(RAIN__STATUS__WON, 6);
	rig.grabs[0].packets = 200;
	cr_assert_eq(tap(&other), RAIN__STATUS__WON);
	cr_assert_eq(tap(&app), RAIN__STATUS__WON);
	say(RAIN__STATUS__SOLD_OUT, 7);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	say(RAIN__STATUS__ALREADY_GRABBED, 8);
	seq = app_client_query_result(&other.client, BYTES("quiz"), BYTES(""),
				      0);
	cr_assert_eq(status_of(&other, seq), RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(tap(&app), RAIN__STATUS__ALREADY_GRABBED);
	stop();
}

/* One user with a device on each loop. */
Test(edge, a_win_on_another_loop_is_known)
{
	static const char *const settings[] = { FRESH, "limit.user_rate=0",
						"gateway.loops=2",
						"gateway.remembered_max=0",
						NULL };
	static struct app device;

	start(settings);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	/* Where the fewest are: so alice's second one goes where bob is. */
	rig_close(&rig, &other);
	RUN_UNTIL(&rig.loop,
		  atomic_load(&gateway_metrics.connections.value) == 1);
	rig_hello(&rig, &device, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	cr_assert_eq(rig.grabs[0].calls, 1);
	say(RAIN__STATUS__WON, 6);
	cr_assert_eq(tap(&device), RAIN__STATUS__WON);
	cr_assert_eq(tap(&app), RAIN__STATUS__WON);
	rig_close(&rig, &device);
	stop();
}

/* Asked again for all by one, not more often than is said. */
Test(edge, one_tap_in_so_long_asks)
{
	static const char *const settings[] = { "edge.fresh=100ms",
						"limit.user_rate=0",
						"limit.connection_rate=0",
						NULL };
	uint64_t begin = clock_mono_ms();
	uint64_t taps = 0;

	start(settings);
	while (rig.grabs[0].calls < 6) {
		cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
		taps++;
	}
	cr_assert_leq(5 * 99, clock_mono_ms() - begin);
	cr_assert_geq(taps, 6);
	stop();
}

Test(edge, the_others_do_not_wait_for_the_one_that_asks)
{
	static const char *const settings[] = { "edge.fresh=1s",
						"limit.user_rate=0", NULL };
	uint64_t begin = clock_mono_ms();
	uint64_t seq;
	int status;

	start(settings);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(tap(&other), RAIN__STATUS__SOLD_OUT);
	wait_ms(1000);
	rig.grabs[0].mode = FAKE_HOLD;
	seq = app_grab(&app, "quiz");
	RUN_UNTIL(&rig.loop,
		  rig.grabs[0].held_count == 1 || app_has(&app, seq));
	status = tap(&other);
	/* On a machine that sleeps, nothing is fresh any more. */
	cr_assert(status == RAIN__STATUS__SOLD_OUT ||
			  clock_mono_ms() - begin > 1900,
		  "status %d", status);
	fake_release(&rig.grabs[0]);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	stop();
}

/* Nobody is told for ever what nobody can confirm. */
Test(edge, without_a_service_it_ends)
{
	static const char *const settings[] = { "edge.fresh=50ms",
						"limit.user_rate=0", NULL };

	start(settings);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(tap(&other), RAIN__STATUS__SOLD_OUT);
	rig.grabs[0].mode = FAKE_THROW;
	wait_ms(101);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(tap(&app), RAIN__STATUS__PENDING);
		cr_assert_eq(tap(&other), RAIN__STATUS__PENDING);
	}
	rig.grabs[0].mode = FAKE_ANSWER;
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	stop();
}

/* Of a grab without an answer nobody knows whether it won. */
Test(edge, who_waits_for_an_answer_asks_again)
{
	unsigned calls;

	start(fresh);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(tap(&other), RAIN__STATUS__SOLD_OUT);
	rig.grabs[0].mode = FAKE_THROW;
	cr_assert_eq(tap_again(&app), RAIN__STATUS__PENDING);
	calls = rig.grabs[0].calls;
	cr_assert_eq(tap(&app), RAIN__STATUS__PENDING);
	cr_assert_eq(rig.grabs[0].calls, calls + 1);
	cr_assert_eq(tap(&other), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(rig.grabs[0].calls, calls + 1);
	rig.grabs[0].mode = FAKE_ANSWER;
	stop();
}

/* Many users on a connection: each by itself, on whichever it comes. */
Test(edge, users_of_a_front)
{
	static struct app web;
	static struct app more;

	start(fresh);
	rig_hello(&rig, &web, "web", true);
	rig_hello(&rig, &more, "more", true);
	cr_assert_eq(tap_for(&web, "u1"), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(tap_for(&web, "u2"), RAIN__STATUS__SOLD_OUT);
	cr_assert_eq(rig.grabs[0].calls, 2);
	for (unsigned i = 0; i < 10; i++) {
		cr_assert_eq(tap_for(&web, "u1"), RAIN__STATUS__SOLD_OUT);
		cr_assert_eq(tap_for(&more, "u2"), RAIN__STATUS__SOLD_OUT);
	}
	cr_assert_eq(rig.grabs[0].calls, 2);
	say(RAIN__STATUS__ALREADY_GRABBED, 5);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(tap_for(&web, "u3"),
			     RAIN__STATUS__ALREADY_GRABBED);
		cr_assert_eq(tap_for(&web, "u1"), RAIN__STATUS__SOLD_OUT);
	}
	cr_assert_eq(rig.grabs[0].calls, 5);
	rig_close(&rig, &web);
	rig_close(&rig, &more);
	stop();
}

Test(edge, rates_count)
{
	static const char *const settings[] = { FRESH, "limit.user_rate=1",
						"limit.user_burst=3", NULL };
	unsigned limited = 0;

	start(settings);
	for (unsigned i = 0; i < 30; i++) {
		limited += tap(&app) == RAIN__STATUS__RATE_LIMITED;
	}
	cr_assert_geq(limited, 15);
	cr_assert_eq(rig.grabs[0].calls, 1);
	stop();
}

/* A gateway that stops takes no tap, not for this either; what waits is
 * answered. */
Test(edge, while_it_drains)
{
	int64_t before = told_here(RAIN__STATUS__SOLD_OUT);
	uint64_t held;
	uint64_t seq;

	start(fresh);
	rig_close(&rig, &other);
	cr_assert_eq(tap(&app), RAIN__STATUS__SOLD_OUT);
	rig.grabs[0].mode = FAKE_HOLD;
	held = app_grab(&app, "another");
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	rig_drain(&rig);
	do {
		seq = app_grab(&app, "quiz");
		RUN_UNTIL(&rig.loop, app_has(&app, seq));
		before += app_answer(&app, seq)->kind == ANSWER_GRAB;
	} while (app_answer(&app, seq)->kind == ANSWER_GRAB);
	cr_assert_eq(app_answer(&app, seq)->code,
		     RAIN__ERROR_CODE__UNAVAILABLE);
	cr_assert_eq(told_here(RAIN__STATUS__SOLD_OUT), before);
	fake_release(&rig.grabs[0]);
	RUN_UNTIL(&rig.loop, app.closed);
	cr_assert_eq(app_answer(&app, held)->code, RAIN__STATUS__SOLD_OUT);
	rig_stop(&rig);
}
