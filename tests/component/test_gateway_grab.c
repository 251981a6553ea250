/* A grab from the app's socket to the services and back: batches, what the
 * connection remembers, what is asked again, what is not known. */
#include <stdlib.h>

#include "base/clock.h"
#include "lib/gateway_rig.h"
#include "proto/frame.h"
#include "proto/proto_util.h"

static struct rig rig;
static struct app app;

TestSuite(grab, .timeout = 60);

static void start(bool two, const char *const *settings)
{
	rig_start(&rig, two, settings);
	rig_ready(&rig);
	rig_hello(&rig, &app, "alice", false);
}

static void stop(void)
{
	if (!app.closed) {
		rig_close(&rig, &app);
	}
	rig_stop(&rig);
}

static uint64_t grab(uint32_t attempt)
{
	return app_client_grab(&app.client, BYTES("quiz"), BYTES(""), attempt,
			       0);
}

static int status_of(uint64_t seq)
{
	RUN_UNTIL(&rig.loop, app_has(&app, seq) || app.closed);
	return app_answer(&app, seq)->code;
}

/* Grabs of many users in one segment. */
static void front_grabs(struct app *a, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char user[16];

		(void)snprintf(user, sizeof(user), "u%u", i);
		(void)app_client_grab(&a->client, BYTES("quiz"),
				      bytes_str(user), 0, 0);
	}
}

Test(grab, those_of_a_turn_go_in_one_call)
{
	static struct app front;
	static const char *const settings[] = { "gateway.batch_max=10", NULL };

	start(false, settings);
	rig_hello(&rig, &front, "web", true);
	front_grabs(&front, 8);
	RUN_UNTIL(&rig.loop, front.count == 9);
	cr_assert_eq(rig.grabs[0].calls, 1);
	cr_assert_eq(rig.grabs[0].sizes[0], 8);
	/* More than fit in one: split, in order. */
	front_grabs(&front, 25);
	RUN_UNTIL(&rig.loop, front.count == 34);
	cr_assert_eq(rig.grabs[0].calls, 4);
	cr_assert_eq(rig.grabs[0].sizes[1], 10);
	cr_assert_eq(rig.grabs[0].sizes[2], 10);
	cr_assert_eq(rig.grabs[0].sizes[3], 5);
	cr_assert_str_eq(rig.grabs[0].last_user, "u24");
	rig_close(&rig, &front);
	stop();
}

Test(grab, no_call_holds_more_than_a_thousand)
{
	static struct app front;

	start(false, NULL);
	rig_hello(&rig, &front, "web", true);
	front_grabs(&front, 2500);
	RUN_UNTIL(&rig.loop, front.count == 2501);
	cr_assert_eq(rig.grabs[0].grabs, 2500);
	cr_assert(rig.grabs[0].calls < 60);
	for (size_t i = 0; i < rig.grabs[0].calls; i++) {
		cr_assert(rig.grabs[0].sizes[i] <= 1000);
	}
	rig_close(&rig, &front);
	stop();
}

Test(grab, a_packet_is_remembered_for_a_first_tap)
{
	uint64_t seq;

	start(false, NULL);
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__WON);
	rig.grabs[0].status = RAIN__STATUS__ALREADY_GRABBED;
	seq = grab(0);
	cr_assert_eq(status_of(seq), RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(app_answer(&app, seq)->cents, 1221);
	cr_assert_eq(rig.grabs[0].calls, 1);
	/* "I may have won already" goes to the service. */
	cr_assert_eq(status_of(grab(1)), RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(rig.grabs[0].calls, 2);
	cr_assert_eq(rig.grabs[0].last.attempt, 1);
	stop();
}

Test(grab, nothing_else_is_remembered)
{
	start(false, NULL);
	for (unsigned i = 1; i <= 3; i++) {
		rig.grabs[0].status = RAIN__STATUS__SOLD_OUT;
		cr_assert_eq(status_of(grab(0)), RAIN__STATUS__SOLD_OUT);
		cr_assert_eq(rig.grabs[0].calls, i);
	}
	stop();
}

Test(grab, server_time_is_that_of_redis)
{
	const int64_t hour = 3600 * 1000;
	uint64_t seq;
	int64_t server;

	rig_start(&rig, false, NULL);
	rig.grabs[0].clock_ms = hour;
	rig_ready(&rig);
	rig_hello(&rig, &app, "alice", false);
	do {
		seq = app_client_ping(&app.client);
		RUN_UNTIL(&rig.loop, app_has(&app, seq));
		server = app_answer(&app, seq)->server_ms;
	} while (server < clock_wall_ms() + hour / 2 && app.count < 100);
	cr_assert(llabs(server - clock_wall_ms() - hour) < 2000);

	/* 0 is one second after receipt, in that time. */
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__WON);
	cr_assert(llabs(rig.grabs[0].last.not_after_ms - server - 1000) < 2000);
	/* This machine's time has passed there long ago. */
	seq = app_client_grab(&app.client, BYTES("other"), BYTES(""), 0,
			      clock_wall_ms() + 500);
	cr_assert_eq(status_of(seq), RAIN__STATUS__BUSY);
	cr_assert(app_answer(&app, seq)->retry_after_ms > 0);
	cr_assert_eq(rig.grabs[0].calls, 1);
	/* But a winner may ask at any time. */
	seq = app_client_grab(&app.client, BYTES("other"), BYTES(""), 1,
			      clock_wall_ms() + 500);
	cr_assert_eq(status_of(seq), RAIN__STATUS__WON);
	stop();
}

Test(grab, a_provider_that_dies_is_replaced_within_the_deadline)
{
	uint64_t seq;

	start(true, NULL);
	rig.grabs[0].mode = FAKE_DIE;
	rig.grabs[1].mode = FAKE_DIE;
	seq = grab(0);
	/* The first to get it dies, and the other answers. */
	RUN_UNTIL(&rig.loop, rig.grabs[0].calls + rig.grabs[1].calls == 1);
	rig.grabs[0].mode = FAKE_ANSWER;
	rig.grabs[1].mode = FAKE_ANSWER;
	cr_assert_eq(status_of(seq), RAIN__STATUS__WON);
	cr_assert_eq(rig.grabs[0].calls + rig.grabs[1].calls, 2);
	/* The second call says that the first may have won. */
	cr_assert_eq(rig.grabs[0].last.attempt + rig.grabs[1].last.attempt, 1);
	stop();
}

Test(grab, the_only_provider_dies_and_the_outcome_is_pending)
{
	uint64_t seq;

	start(false, NULL);
	rig.grabs[0].mode = FAKE_DIE;
	seq = grab(0);
	cr_assert_eq(status_of(seq), RAIN__STATUS__PENDING);
	cr_assert(app_answer(&app, seq)->retry_after_ms > 0);
	/* With nobody left a new grab is surely not executed. */
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__BUSY);
	/* A query never says BUSY for that. */
	seq = app_client_query_result(&app.client, BYTES("quiz"), BYTES(""), 0);
	cr_assert_eq(status_of(seq), RAIN__STATUS__PENDING);
	stop();
}

Test(grab, without_budget_nothing_is_asked_again)
{
	static const char *const settings[] = { "gateway.retry_percent=0",
						"gateway.retry_burst_max=0",
						NULL };

	start(true, settings);
	rig.grabs[0].mode = FAKE_DIE;
	rig.grabs[1].mode = FAKE_DIE;
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__PENDING);
	cr_assert_eq(rig.grabs[0].calls + rig.grabs[1].calls, 1);
	stop();
}

Test(grab, busy_after_a_lost_call_is_pending)
{
	start(true, NULL);
	rig.grabs[0].mode = FAKE_DIE;
	rig.grabs[1].mode = FAKE_DIE;
	(void)grab(0);
	RUN_UNTIL(&rig.loop, rig.grabs[0].calls + rig.grabs[1].calls == 1);
	rig.grabs[0].mode = FAKE_ANSWER;
	rig.grabs[1].mode = FAKE_ANSWER;
	rig.grabs[0].status = RAIN__STATUS__BUSY;
	rig.grabs[1].status = RAIN__STATUS__BUSY;
	cr_assert_eq(status_of(2), RAIN__STATUS__PENDING);
	stop();
}

Test(grab, errors_of_a_provider)
{
	start(false, NULL);
	rig.grabs[0].mode = FAKE_FAIL;
	rig.grabs[0].dubbo_status = DUBBO_STATUS_THREADPOOL_EXHAUSTED;
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__BUSY);
	rig.grabs[0].dubbo_status = DUBBO_STATUS_SERVICE_ERROR;
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__PENDING);
	rig.grabs[0].mode = FAKE_THROW;
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__PENDING);
	rig.grabs[0].mode = FAKE_ODD;
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__PENDING);
	cr_assert_eq(rig.grabs[0].calls, 4); /* none was repeated */
	stop();
}

Test(grab, a_silent_provider_ends_in_one_pending)
{
	uint64_t begin;
	uint64_t seq;

	start(false, NULL);
	rig.grabs[0].mode = FAKE_HOLD;
	begin = clock_mono_ms();
	seq = grab(0);
	cr_assert_eq(status_of(seq), RAIN__STATUS__PENDING);
	cr_assert(clock_mono_ms() - begin >= 900);
	cr_assert(rig.grabs[0].calls <= 3);
	/* The answer that comes too late is nobody's. */
	fake_release(&rig.grabs[0]);
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__WON);
	(void)app_answer(&app, seq);
	stop();
}

/* In one batch with a grab that has more time, each keeps its own deadline. */
Test(grab, a_short_deadline_is_kept)
{
	static const char *const settings[] = { "gateway.try_time=5s",
						"gateway.grace=50ms", NULL };
	uint64_t late;
	uint64_t seq;

	start(false, settings);
	rig.grabs[0].mode = FAKE_HOLD;
	late = app_client_grab(&app.client, BYTES("b"), BYTES(""), 0,
			       app_client_server_ms(&app.client) + 9000);
	seq = app_client_grab(&app.client, BYTES("a"), BYTES(""), 0,
			      app_client_server_ms(&app.client) + 200);
	cr_assert_eq(status_of(seq), RAIN__STATUS__PENDING);
	cr_assert(!app_has(&app, late));
	fake_release(&rig.grabs[0]);
	cr_assert_eq(status_of(late), RAIN__STATUS__WON);
	stop();
}

Test(grab, an_app_that_leaves_takes_its_answer_with_it)
{
	start(false, NULL);
	rig.grabs[0].mode = FAKE_HOLD;
	(void)grab(0);
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	rig_close(&rig, &app);
	fake_release(&rig.grabs[0]);
	rig_hello(&rig, &app, "bob", false);
	cr_assert_eq(status_of(grab(0)), RAIN__STATUS__WON);
	stop();
}

Test(grab, result_and_balance)
{
	uint64_t seq;

	start(false, NULL);
	rig.grabs[0].status = RAIN__STATUS__ALREADY_GRABBED;
	seq = app_client_query_result(&app.client, BYTES("quiz"), BYTES(""),
				      1764430000000);
	cr_assert_eq(status_of(seq), RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(app_answer(&app, seq)->kind, ANSWER_RESULT);
	cr_assert_eq(app_answer(&app, seq)->cents, 1221);
	cr_assert_eq(rig.grabs[0].last.not_after_ms, 1764430000000);
	cr_assert_eq(rig.grabs[0].results, 1);

	seq = app_client_query_balance(&app.client, BYTES(""));
	cr_assert_eq(status_of(seq), RAIN__STATUS__STATUS_UNSPECIFIED);
	cr_assert_eq(app_answer(&app, seq)->cents, 4711);
	cr_assert_str_eq(app_answer(&app, seq)->text, "CNY");
	cr_assert_str_eq(rig.ledger.last_user, "alice");

	rig.ledger.mode = FAKE_THROW;
	seq = app_client_query_balance(&app.client, BYTES(""));
	cr_assert_eq(status_of(seq), RAIN__STATUS__BUSY);
	rig.grabs[0].mode = FAKE_THROW;
	seq = app_client_query_result(&app.client, BYTES("quiz"), BYTES(""), 0);
	cr_assert_eq(status_of(seq), RAIN__STATUS__PENDING);
	stop();
}

enum { CROWD = 10, TAPS = 60 };

static bool all_answered(const struct app *crowd)
{
	for (size_t i = 0; i < CROWD; i++) {
		if (crowd[i].count < 1 + TAPS) {
			return false;
		}
	}
	return true;
}

/* Whatever the services do: one answer to every seq. */
Test(grab, every_request_has_exactly_one_answer)
{
	static const enum fake_mode modes[] = { FAKE_ANSWER, FAKE_HOLD,
						FAKE_FAIL, FAKE_THROW,
						FAKE_ODD };
	static const char *const settings[] = { "gateway.try_time=60ms",
						"gateway.in_flight_max=1000",
						NULL };
	static struct app crowd[CROWD];

	rig_start(&rig, true, settings);
	rig_ready(&rig);
	srand(7);
	for (size_t i = 0; i < CROWD; i++) {
		rig_hello(&rig, &crowd[i], "alice", false);
	}
	for (unsigned tap = 0; tap < TAPS; tap++) {
		for (size_t i = 0; i < CROWD; i++) {
			(void)app_client_grab(&crowd[i].client, BYTES("quiz"),
					      BYTES(""), tap % 3, 0);
		}
		for (size_t i = 0; i < 2; i++) {
			struct fake *f = &rig.grabs[i];

			f->mode = modes[(unsigned)rand() % 5];
			f->dubbo_status = DUBBO_STATUS_SERVER_ERROR;
			if (f->mode == FAKE_ANSWER || f->held_count > 40) {
				fake_release(f);
			}
		}
		(void)uv_run(&rig.loop, UV_RUN_ONCE);
		(void)uv_run(&rig.loop, UV_RUN_ONCE);
	}
	rig.grabs[0].mode = FAKE_DIE;
	rig.grabs[1].mode = FAKE_ANSWER;
	RUN_UNTIL(&rig.loop, all_answered(crowd));
	fake_release(&rig.grabs[0]);
	for (size_t i = 0; i < CROWD; i++) {
		for (uint64_t seq = 2; seq < 2 + TAPS; seq++) {
			cr_assert_eq(app_answer(&crowd[i], seq)->kind,
				     ANSWER_GRAB);
		}
		cr_assert_eq(crowd[i].count, 1 + TAPS);
		rig_close(&rig, &crowd[i]);
	}
	rig_stop(&rig);
}
