/* Everything has a bound, silence ends, and stopping loses no answer. */
#include <sys/socket.h>

#include "base/clock.h"
#include "gateway/gateway_metrics.h"
#include "lib/gateway_rig.h"

static struct rig rig;
static struct app app;
static struct app other;

TestSuite(bounds, .timeout = 60);

static void start(const char *const *settings)
{
	rig_start(&rig, false, settings);
	rig_ready(&rig);
}

Test(bounds, requests_of_a_connection)
{
	static const char *const settings[] = { "gateway.in_flight_max=2",
						NULL };
	uint64_t seq[3];

	start(settings);
	rig.grabs[0].mode = FAKE_HOLD;
	rig_hello(&rig, &app, "alice", false);
	for (size_t i = 0; i < 3; i++) {
		seq[i] = app_grab(&app, "quiz");
	}
	RUN_UNTIL(&rig.loop, app_has(&app, seq[2]));
	cr_assert_eq(app_answer(&app, seq[2])->code, RAIN__STATUS__BUSY);
	cr_assert(app_answer(&app, seq[2])->retry_after_ms > 0);
	seq[2] = app_client_query_result(&app.client, BYTES("quiz"), BYTES(""),
					 0);
	RUN_UNTIL(&rig.loop, app_has(&app, seq[2]));
	cr_assert_eq(app_answer(&app, seq[2])->code, RAIN__STATUS__PENDING);
	cr_assert_eq(rig_refused(REFUSAL_IN_FLIGHT), 2);
	RUN_UNTIL(&rig.loop, rig.grabs[0].grabs == 2);
	fake_release(&rig.grabs[0]);
	RUN_UNTIL(&rig.loop, app_has(&app, seq[0]) && app_has(&app, seq[1]));
	cr_assert_eq(app_answer(&app, seq[0])->code, RAIN__STATUS__WON);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

Test(bounds, requests_in_all)
{
	static const char *const settings[] = { "gateway.in_flight_total_max=1",
						NULL };
	uint64_t seq;

	start(settings);
	rig.grabs[0].mode = FAKE_HOLD;
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	(void)app_grab(&app, "quiz");
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	seq = app_grab(&other, "quiz");
	RUN_UNTIL(&rig.loop, app_has(&other, seq));
	cr_assert_eq(app_answer(&other, seq)->code, RAIN__STATUS__BUSY);
	cr_assert_eq(rig_refused(REFUSAL_IN_FLIGHT_TOTAL), 1);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

/* A ledger that hangs while winners look at their balance takes no grabs. */
Test(bounds, questions_that_the_ledger_does_not_answer)
{
	static const char *const settings[] = { "gateway.in_flight_total_max=8",
						"gateway.loops=1", NULL };
	uint64_t seq[8];
	uint64_t won;

	start(settings);
	rig.ledger.mode = FAKE_HOLD;
	rig_hello(&rig, &app, "alice", false);
	for (size_t i = 0; i < 8; i++) {
		seq[i] = app_client_query_balance(&app.client, BYTES(""));
	}
	won = app_grab(&app, "quiz");
	RUN_UNTIL(&rig.loop, app_has(&app, won));
	cr_assert_eq(app_answer(&app, won)->code, RAIN__STATUS__WON);
	cr_assert_eq(app_answer(&app, seq[7])->code, RAIN__STATUS__BUSY);
	cr_assert_eq(rig_refused(REFUSAL_LEDGER), 4);
	fake_release(&rig.ledger);
	RUN_UNTIL(&rig.loop, app_has(&app, seq[0]));
	cr_assert_eq(app_answer(&app, seq[0])->code,
		     RAIN__STATUS__STATUS_UNSPECIFIED);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

/* Or whoever asks, leaves and comes again would be bounded by nothing. */
Test(bounds, requests_of_apps_that_have_gone)
{
	static const char *const settings[] = { "gateway.in_flight_total_max=1",
						"limit.user_rate=0",
						"limit.connection_rate=0",
						NULL };
	const struct linger reset = { .l_onoff = 1 };
	uv_os_fd_t fd;
	uint64_t seq;

	start(settings);
	rig.grabs[0].mode = FAKE_HOLD;
	rig_hello(&rig, &app, "alice", false);
	(void)app_grab(&app, "quiz");
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	/* With a reset: a close alone says only that it sends no more. */
	cr_assert_eq(uv_fileno(&app.client.stream.uv.handle, &fd), 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	rig_close(&rig, &app);
	RUN_UNTIL(&rig.loop,
		  atomic_load(&gateway_metrics.connections.value) == 0);
	rig_hello(&rig, &other, "bob", false);
	seq = app_grab(&other, "quiz");
	RUN_UNTIL(&rig.loop, app_has(&other, seq));
	cr_assert_eq(app_answer(&other, seq)->code, RAIN__STATUS__BUSY);
	fake_release(&rig.grabs[0]);
	do {
		seq = app_grab(&other, "quiz");
		RUN_UNTIL(&rig.loop, app_has(&other, seq));
	} while (app_answer(&other, seq)->code == RAIN__STATUS__BUSY);
	cr_assert_eq(app_answer(&other, seq)->code, RAIN__STATUS__WON);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

Test(bounds, connections)
{
	static const char *const settings[] = { "gateway.connections_max=1",
						NULL };

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_connect(&rig, &other);
	RUN_UNTIL(&rig.loop, other.closed);
	cr_assert_eq(app_last(&other)->code, RAIN__ERROR_CODE__UNAVAILABLE);
	cr_assert_eq(rig_refused(REFUSAL_CONNECTIONS), 1);
	rig_close(&rig, &app);
	/* Its place is free again, once the loop has noticed. */
	RUN_UNTIL(&rig.loop,
		  atomic_load(&gateway_metrics.connections.value) == 0);
	rig_hello(&rig, &other, "bob", false);
	rig_close(&rig, &other);
	rig_stop(&rig);
}

Test(bounds, a_frame)
{
	static const char *const settings[] = { "gateway.frame_max=512", NULL };
	uint8_t big[1024] = { 0, 0, 2, 1 };

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	stream_send(&app.client.stream, bytes_make(big, sizeof(big)));
	RUN_UNTIL(&rig.loop, app.closed);
	cr_assert_eq(app_last(&app)->code, RAIN__ERROR_CODE__BAD_FRAME);
	rig_stop(&rig);
}

Test(bounds, a_slow_reader)
{
	static const char *const settings[] = { "gateway.write_queue_max=4KiB",
						"limit.connection_rate=0",
						NULL };
	int small = 4096;
	uv_os_fd_t fd;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	cr_assert_eq(uv_fileno(&app.client.stream.uv.handle, &fd), 0);
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	stream_pause(&app.client.stream);
	/* It asks and never reads the errors that it gets. */
	for (unsigned turn = 0; turn < 3000 && !app.closed; turn++) {
		for (unsigned i = 0; i < 100; i++) {
			(void)app_grab(&app, "not an id");
		}
		RUN_UNTIL(&rig.loop,
			  app.closed || app.client.stream.queued < 20000 ||
				  rig_refused(REFUSAL_WRITE_QUEUE) > 0);
		if (rig_refused(REFUSAL_WRITE_QUEUE) > 0) {
			break;
		}
	}
	cr_assert_eq(rig_refused(REFUSAL_WRITE_QUEUE), 1);
	/* The others never noticed. */
	rig_hello(&rig, &other, "bob", false);
	rig_close(&rig, &other);
	rig_close(&rig, &app);
	rig_stop(&rig);
}

Test(bounds, the_time_to_say_hello)
{
	static const char *const settings[] = { "gateway.hello_time=100ms",
						NULL };
	uint64_t begin;

	start(settings);
	begin = clock_mono_ms();
	rig_connect(&rig, &app);
	/* Bytes that are no frame yet do not help. */
	stream_send(&app.client.stream, bytes_make("\0\0\1", 3));
	RUN_UNTIL(&rig.loop, app.closed);
	cr_assert_eq(app_last(&app)->code, RAIN__ERROR_CODE__TIMED_OUT);
	cr_assert(clock_mono_ms() - begin >= 90);
	cr_assert_eq(rig_refused(REFUSAL_HELLO_TIME), 1);
	rig_stop(&rig);
}

Test(bounds, silence)
{
	static const char *const settings[] = { "gateway.idle_time=300ms",
						NULL };
	uint64_t spoke;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	spoke = clock_mono_ms();
	/* One of the two goes on speaking. */
	while (!app.closed) {
		uint64_t seq = app_client_ping(&other.client);

		RUN_UNTIL(&rig.loop, app_has(&other, seq) || other.closed);
		cr_assert(!other.closed);
		other.count = 0;
		RUN_UNTIL(&rig.loop,
			  app.closed || clock_mono_ms() > spoke + 100);
		spoke = clock_mono_ms();
	}
	cr_assert_eq(app_last(&app)->code, RAIN__ERROR_CODE__TIMED_OUT);
	RUN_UNTIL(&rig.loop, other.closed);
	cr_assert_eq(app_last(&other)->code, RAIN__ERROR_CODE__TIMED_OUT);
	cr_assert(clock_mono_ms() - spoke >= 150);
	cr_assert_eq(rig_refused(REFUSAL_IDLE), 2);
	rig_stop(&rig);
}

Test(bounds, a_drain_answers_what_is_in_flight)
{
	static struct app greeting;
	uint64_t seq;

	start(NULL);
	rig.grabs[0].mode = FAKE_HOLD;
	rig_connect(&rig, &greeting);
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	seq = app_grab(&app, "quiz");
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);

	rig_drain(&rig);
	/* Those that wait for nothing go at once. */
	RUN_UNTIL(&rig.loop, other.closed && greeting.closed);
	cr_assert_eq(app_last(&other)->code, RAIN__ERROR_CODE__UNAVAILABLE);
	cr_assert_eq(app_last(&other)->seq, 0);
	cr_assert(!app.closed && !rig.drained);
	/* What comes now is refused, not dropped. */
	(void)app_grab(&app, "quiz");
	RUN_UNTIL(&rig.loop, app_has(&app, seq + 1));
	cr_assert_eq(app_answer(&app, seq + 1)->code,
		     RAIN__ERROR_CODE__UNAVAILABLE);
	fake_release(&rig.grabs[0]);
	RUN_UNTIL(&rig.loop, app.closed);
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	cr_assert_eq(app_last(&app)->code, RAIN__ERROR_CODE__UNAVAILABLE);
	rig_stop(&rig);
}

Test(bounds, loops_share_the_connections)
{
	static const char *const settings[] = { "gateway.loops=3", NULL };
	static struct app apps[9];

	start(settings);
	for (size_t i = 0; i < 9; i++) {
		char user[8];

		(void)snprintf(user, sizeof(user), "u%zu", i);
		rig_hello(&rig, &apps[i], user, false);
	}
	for (size_t i = 0; i < 9; i++) {
		(void)app_grab(&apps[i], "quiz");
	}
	for (size_t i = 0; i < 9; i++) {
		RUN_UNTIL(&rig.loop, apps[i].count == 2);
		cr_assert_eq(app_last(&apps[i])->code, RAIN__STATUS__WON);
	}
	for (size_t i = 0; i < 9; i++) {
		rig_close(&rig, &apps[i]);
	}
	rig_stop(&rig);
}

Test(bounds, a_plain_user_id_only_where_it_is_trusted)
{
	static const char *const settings[] = {
		"gateway.trust_plain_users=true", "gateway.keys=", NULL
	};

	start(settings);
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, BYTES("alice"));
	RUN_UNTIL(&rig.loop, app.count == 1);
	cr_assert_eq(app_last(&app)->kind, ANSWER_HELLO);
	cr_assert_str_eq(app_last(&app)->text, "alice");
	rig_close(&rig, &app);
	rig_stop(&rig);
}
