/* Peers that are slow, half closed, or send a byte at a time. */
#include <sys/socket.h>

#include "base/clock.h"
#include "gateway/gateway_metrics.h"
#include "lib/gateway_rig.h"

static struct rig rig;
static struct app app;
static struct app other;

TestSuite(peers, .timeout = 60);

static void start(const char *const *settings)
{
	rig_start(&rig, false, settings);
	rig_ready(&rig);
}

static int fd_of(struct app *a)
{
	uv_os_fd_t fd = -1;

	cr_assert_eq(uv_fileno(&a->client.stream.uv.handle, &fd), 0);
	return fd;
}

static void half_close(struct app *a)
{
	RUN_UNTIL(&rig.loop, a->client.stream.queued == 0);
	cr_assert_eq(shutdown(fd_of(a), SHUT_WR), 0);
}

/* It asked, and it still reads: it gets its answer, and then the end. */
Test(peers, who_only_stopped_sending_is_answered)
{
	uint64_t seq;
	uint64_t ping;

	start(NULL);
	rig.grabs[0].mode = FAKE_HOLD;
	rig_hello(&rig, &app, "alice", false);
	seq = app_grab(&app, "quiz");
	ping = app_client_ping(&app.client);
	half_close(&app);
	RUN_UNTIL(&rig.loop, app_has(&app, ping));
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	cr_assert(!app.closed);
	fake_release(&rig.grabs[0]);
	RUN_UNTIL(&rig.loop, app.closed);
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	RUN_UNTIL(&rig.loop,
		  atomic_load(&gateway_metrics.connections.value) == 0);
	rig_stop(&rig);
}

/* Nothing in flight, but answers that have not left yet. */
Test(peers, who_asked_and_stopped_sending_at_once)
{
	uint64_t last = 0;

	start(NULL);
	rig_hello(&rig, &app, "alice", false);
	for (unsigned i = 0; i < 50; i++) {
		last = app_client_ping(&app.client);
	}
	half_close(&app);
	RUN_UNTIL(&rig.loop, app.closed);
	cr_assert(app_has(&app, last));
	cr_assert_eq(app.count, 51);
	rig_stop(&rig);
}

/* A drain waits for the answers of half closed ones, too. */
Test(peers, who_stopped_sending_before_a_drain)
{
	uint64_t seq;

	start(NULL);
	rig.grabs[0].mode = FAKE_HOLD;
	rig_hello(&rig, &app, "alice", false);
	rig_hello(&rig, &other, "bob", false);
	seq = app_grab(&app, "quiz");
	half_close(&app);
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	rig_drain(&rig);
	RUN_UNTIL(&rig.loop, other.closed); /* which had nothing to wait for */
	cr_assert(!app.closed && !rig.drained);
	fake_release(&rig.grabs[0]);
	RUN_UNTIL(&rig.loop, app.closed);
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	rig_stop(&rig);
}

/* A byte now and then is no Hello, however long it goes on. */
Test(peers, a_hello_that_never_ends)
{
	static const char *const settings[] = { "gateway.hello_time=300ms",
						NULL };
	static const uint8_t byte = 0;
	uint64_t begin;
	unsigned sent = 0;

	start(settings);
	rig_connect(&rig, &app);
	begin = clock_mono_ms();
	/* A length of 16,000, then a byte at a time. */
	stream_send(&app.client.stream, bytes_make("\0\0\x3e\x80", 4));
	while (!app.closed) {
		uint64_t next = clock_mono_ms() + 20;

		stream_send(&app.client.stream, bytes_make(&byte, 1));
		sent++;
		RUN_UNTIL(&rig.loop, app.closed || clock_mono_ms() >= next);
	}
	cr_assert_gt(sent, 5);
	cr_assert_geq(clock_mono_ms() - begin, 290);
	cr_assert_eq(rig_refused(REFUSAL_HELLO_TIME), 1);
	rig_stop(&rig);
}

/* F59: what all who do not read have waiting is bounded, and whoever reads
 * does not suffer. */
Test(peers, all_slow_readers_together)
{
	enum { SLOW = 8 };
	static const char *const settings[] = {
		"gateway.write_queue_max=64MiB",
		"gateway.write_queue_total_max=1MiB", "limit.connection_rate=0",
		"gateway.dead_time=1h", NULL
	};
	static struct app slow[SLOW];
	int small = 4096;

	start(settings);
	rig_hello(&rig, &app, "reader", false);
	for (size_t i = 0; i < SLOW; i++) {
		char user[16];

		(void)snprintf(user, sizeof(user), "u%zu", i);
		rig_hello(&rig, &slow[i], user, false);
		(void)setsockopt(fd_of(&slow[i]), SOL_SOCKET, SO_RCVBUF, &small,
				 sizeof(small));
		stream_pause(&slow[i].client.stream);
	}
	for (unsigned turn = 0;
	     turn < 5000 && rig_refused(REFUSAL_WRITE_QUEUE_TOTAL) == 0;
	     turn++) {
		size_t i = turn % SLOW;

		for (unsigned n = 0; n < 500 && !slow[i].closed; n++) {
			(void)app_grab(&slow[i], "not an id");
		}
		RUN_UNTIL(&rig.loop,
			  slow[i].closed ||
				  slow[i].client.stream.queued < 20000 ||
				  rig_refused(REFUSAL_WRITE_QUEUE_TOTAL) > 0);
		if (turn % 20 == 0) {
			uint64_t seq = app_client_ping(&app.client);

			RUN_UNTIL(&rig.loop, app_has(&app, seq));
			app.count = 0;
		}
	}
	cr_assert_geq(rig_refused(REFUSAL_WRITE_QUEUE_TOTAL), 1);
	cr_assert_eq(rig_refused(REFUSAL_WRITE_QUEUE), 0);
	/* A bit above: what one turn of the loop adds. */
	RUN_UNTIL(&rig.loop, atomic_load(&gateway_metrics.write_queue.value) <
				     2 * 1024 * 1024);
	(void)app_client_ping(&app.client);
	RUN_UNTIL(&rig.loop, app.count > 0);
	cr_assert(!app.closed);
	for (size_t i = 0; i < SLOW; i++) {
		rig_close(&rig, &slow[i]);
	}
	rig_close(&rig, &app);
	rig_stop(&rig);
}

static int64_t waiting(void)
{
	return atomic_load(&gateway_metrics.write_queue.value);
}

/* F59, F60: a peer that reads nothing confirms nothing beyond what its window
 * holds, and is gone after gateway.dead_time. */
Test(peers, one_that_never_reads_again)
{
	static const char *const settings[] = { "gateway.write_queue_max=64MiB",
						"limit.connection_rate=0",
						"gateway.dead_time=500ms",
						NULL };
	/* More than answers to one turn of the loop, which leave with it. */
	enum { STUCK = 1 << 20 };
	int small = 4096;

	start(settings);
	rig_hello(&rig, &app, "alice", false);
	(void)setsockopt(fd_of(&app), SOL_SOCKET, SO_RCVBUF, &small,
			 sizeof(small));
	stream_pause(&app.client.stream);
	for (unsigned turn = 0; turn < 5000 && waiting() < STUCK; turn++) {
		for (unsigned n = 0; n < 500; n++) {
			(void)app_grab(&app, "not an id");
		}
		RUN_UNTIL(&rig.loop, app.client.stream.queued < 20000 ||
					     waiting() >= STUCK);
	}
	RUN_UNTIL(&rig.loop, rig_refused(REFUSAL_DEAD) == 1);
	RUN_UNTIL(&rig.loop,
		  atomic_load(&gateway_metrics.connections.value) == 0);
	rig_close(&rig, &app);
	rig_stop(&rig);
}
