/* Beginning, end and housekeeping of a team. */
#include "bench/team.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	TICK_MS = 10,
	STAND_MS = 60 * 1000,
	PATIENCE_US = 15 * 1000 * 1000, /* for the last answers */
};

void bench_stop(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)fputs("rainbench: ", stderr);
	(void)vfprintf(stderr, fmt, args);
	(void)fputs("\n", stderr);
	va_end(args);
	_exit(1); /* other threads are at work */
}

static uint64_t cpu_us(void)
{
	struct timespec ts;

	check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) == 0);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* What the thread itself uses, of the time that is measured. */
static void watch_cpu(struct team *t, uint64_t now)
{
	bool inside = now >= t->bench->count_from_us && !team_over(t, now);

	if (inside && !t->counting) {
		t->cpu_from_us = cpu_us();
	}
	if (inside || t->counting) {
		t->cpu_us = cpu_us() - t->cpu_from_us;
	}
	t->counting = inside;
}

static void leave(struct team *t)
{
	t->leaving = true;
	t->held = atomic_load(&t->pulse.up);
	team_give_up(t);
	uv_close((uv_handle_t *)&t->tick, NULL);
	uv_close((uv_handle_t *)&t->wake, NULL);
	if (t->due_fd >= 0) {
		uv_close((uv_handle_t *)&t->due, NULL);
	}
	for (uint64_t i = 0; i < t->count; i++) {
		struct connection *c = &t->connections[i];

		if (c->state == CONNECTION_UP ||
		    c->state == CONNECTION_GREETING) {
			app_client_close(&c->client);
		}
	}
}

/* All that comes later, whose time has come. */
static void turn_wheel(struct team *t)
{
	struct later l;

	while (wheel_next(&t->wheel, uv_now(&t->loop), &l)) {
		if (l.connect) {
			connection_again(l.connection);
		} else {
			team_tap_again(t, &l);
		}
	}
}

/* The connections of a closed loop begin one after the other. */
static void begin_more(struct team *t, uint64_t now)
{
	const struct options *o = t->bench->options;
	uint64_t began = atomic_load(&t->bench->began_us);

	if (o->rate > 0 || o->idle) {
		return;
	}
	while (t->begun < t->count &&
	       now >= began + schedule_begin_us(o->ramp_ms * 1000, t->begun,
						t->count)) {
		connection_go_on(&t->connections[t->begun++]);
	}
}

static void look_for_end(struct team *t, uint64_t now)
{
	uint64_t ends = atomic_load(&t->bench->ends_us);

	/* What was due leaves, however late this thread is. */
	if (team_over(t, now) && t->due_fd >= 0 && !t->due_done) {
		team_due(t);
		return;
	}
	if (!team_over(t, now)) {
		if (t->bench->options->idle || !team_tapped_out(t)) {
			return;
		}
		ends = t->sent_us > t->last_us ? t->sent_us : t->last_us;
	}
	if ((t->open == 0 && t->unsure == 0) || now > ends + PATIENCE_US) {
		leave(t);
	}
}

/* Who is always told to come later would never begin. */
static void look_for_beginning(const struct team *t)
{
	if (!t->standing && uv_now(&t->loop) - t->up_ms > STAND_MS) {
		bench_stop("%" PRIu64 " of %" PRIu64 " connections are up, and "
			   "no other came up for a minute: %s",
			   atomic_load(&t->pulse.up), t->count,
			   t->refusal[0] != '\0' ? t->refusal
						 : "no answer to Hello");
	}
}

static void housekeep(struct team *t)
{
	uint64_t now = clock_mono_us();

	if (t->leaving) {
		return;
	}
	turn_wheel(t);
	team_connect(t);
	team_ping(t);
	if (atomic_load(&t->bench->began_us) == 0) {
		look_for_beginning(t);
		return;
	}
	watch_cpu(t, now);
	begin_more(t, now);
	if (t->due_fd >= 0 && t->due_next == 0) {
		team_due(t);
	}
	team_pulse(t);
	look_for_end(t, now);
}

static void tick_cb(uv_timer_t *timer)
{
	housekeep(timer->data);
}

static void wake_cb(uv_async_t *async)
{
	housekeep(async->data);
}

static void due_cb(uv_poll_t *poll, int status, int events)
{
	struct team *t = poll->data;

	(void)status;
	(void)events;
	if (!t->leaving) {
		team_due(t);
	}
}

/* The loop's own timers know whole milliseconds: too coarse for when a tap is
 * due. */
static void watch_schedule(struct team *t)
{
	const struct options *o = t->bench->options;

	t->due_fd = -1;
	if (o->rate == 0) {
		return;
	}
	t->schedule = (struct schedule){ .rate = (double)o->rate,
					 .ramp_us = (double)o->ramp_ms * 1000,
					 .stride = o->threads,
					 .offset = t->index };
	t->due_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (t->due_fd < 0 || uv_poll_init(&t->loop, &t->due, t->due_fd) != 0) {
		bench_stop("the system has no timer for the schedule");
	}
	t->due.data = t;
	check(uv_poll_start(&t->due, UV_READABLE, due_cb) == 0);
}

static void run(void *arg)
{
	struct team *t = arg;

	(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	team_connect(t);
	(void)uv_run(&t->loop, UV_RUN_DEFAULT);
	stream_hub_free(t->hub);
	(void)uv_run(&t->loop, UV_RUN_DEFAULT);
	check(uv_loop_close(&t->loop) == 0);
	atomic_fetch_add(&t->bench->ended, 1);
	t->bench->news(t->bench);
}

/* Its share of the connections and users: those whose number modulo the number
 * of threads is its own. */
static void share(struct team *t)
{
	const struct options *o = t->bench->options;
	uint64_t users = (o->users - t->index + o->threads - 1) / o->threads;

	t->count = (o->conns - t->index + o->threads - 1) / o->threads;
	t->connections = xcalloc(t->count, sizeof t->connections[0]);
	t->steps = 1;
	t->walk = (struct walk){ .users = users,
				 .activities = o->activity_count,
				 .taps = o->taps };
	for (uint64_t i = 0; i < t->count; i++) {
		struct connection *c = &t->connections[i];

		c->team = t;
		c->client.ctx = c;
		c->number = i * o->threads + t->index;
		c->target = c->number % o->target_count;
		c->user = c->number % o->users;
		c->walk = (struct walk){ .users = 1,
					 .activities = o->activity_count,
					 .taps = o->taps };
	}
}

void team_start(struct team *t, struct bench *b, unsigned index)
{
	t->bench = b;
	t->index = index;
	t->tally = tally_new(b->options->activity_count);
	share(t);
	check(uv_loop_init(&t->loop) == 0);
	t->hub = stream_hub_new(&t->loop);
	t->up_ms = uv_now(&t->loop);
	t->wheel.at = t->up_ms / WHEEL_SLOT_MS;
	check(uv_timer_init(&t->loop, &t->tick) == 0);
	t->tick.data = t;
	check(uv_timer_start(&t->tick, tick_cb, TICK_MS, TICK_MS) == 0);
	check(uv_async_init(&t->loop, &t->wake, wake_cb) == 0);
	t->wake.data = t;
	watch_schedule(t);
	check(uv_thread_create(&t->thread, run, t) == 0);
}

void team_wake(struct team *t)
{
	(void)uv_async_send(&t->wake);
}

void team_join(struct team *t)
{
	check(uv_thread_join(&t->thread) == 0);
}

void team_free(struct team *t)
{
	if (t->due_fd >= 0) {
		(void)close(t->due_fd);
	}
	for (uint64_t i = 0; i < t->count; i++) {
		taps_free(&t->connections[i].taps);
	}
	wheel_clear(&t->wheel);
	free(t->connections);
	tally_free(t->tally);
}
