/* Taps out: when, over which connection, of whom. */
#include <inttypes.h>
#include <sys/timerfd.h>

#include "base/clock.h"
#include "bench/team.h"

enum {
	AGAIN_MS = 500,     /* until who finds no connection looks again */
	AT_ONCE_MAX = 2000, /* taps of one turn, so that answers are read */
	REST_US = 50,       /* between two looks at the schedule */
};

bool team_over(const struct team *t, uint64_t now_us)
{
	return now_us >= atomic_load(&t->bench->ends_us);
}

bool team_tapped_out(const struct team *t)
{
	/* Who was refused and may tap again has not tapped enough. */
	if (t->wheel.taps > 0) {
		return false;
	}
	return t->bench->options->scope == SCOPE_USER ? t->done == t->count
						      : walk_over(&t->walk);
}

static bool has_room(struct connection *c)
{
	return c->state == CONNECTION_UP && !c->client.stream.closing &&
	       taps_room(&c->taps, c->client.last_seq + 1);
}

/* Users have eight digits, more when there are so many. */
static struct bytes name_of(const struct options *o, uint64_t user,
			    char out[24])
{
	uint64_t number = o->first_user + user;
	size_t at = 24;

	do {
		out[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0 || at > 16);
	out[--at] = '-';
	out[--at] = 'u';
	return bytes_make(out + at, 24 - at);
}

/* tap says all but its seq. */
static void send_tap(struct connection *c, struct tap *tap)
{
	struct team *t = c->team;
	const struct options *o = t->bench->options;
	char room[24];
	struct bytes user = { NULL, 0 };
	int64_t not_after = 0;

	if (o->scope != SCOPE_USER) {
		user = name_of(o, tap->user, room);
	}
	if (o->not_after_ms > 0 && o->scope != SCOPE_ECHO) {
		not_after = app_client_server_ms(&c->client) +
			    (int64_t)o->not_after_ms;
	}
	tap->seq = app_client_grab(
		&c->client, bytes_str(o->activities[tap->activity]), user,
		tap->unsure || o->uncached ? 1 : 0, not_after);
	taps_put(&c->taps, tap);
	t->open++;
	t->sent_us = tap->due_us;
	t->tally->sent++;
}

/* The next tap of this connection, due then; false if there is none. */
static bool tap_next(struct connection *c, uint64_t due_us)
{
	struct team *t = c->team;
	const struct options *o = t->bench->options;
	struct tap tap = { .due_us = due_us };
	struct step step;

	if (o->scope == SCOPE_USER) {
		if (c->done || c->moving || !walk_next(&c->walk, &step)) {
			return false;
		}
		tap.user = (uint32_t)c->user;
		c->steps = t->steps;
	} else {
		if (!walk_next(&t->walk, &step)) {
			return false;
		}
		tap.user = (uint32_t)(step.user * o->threads + t->index);
	}
	tap.activity = (uint32_t)step.activity;
	send_tap(c, &tap);
	return true;
}

/* The next in turn that has room and, if it is one user, something to tap. */
static struct connection *pick(struct team *t)
{
	bool one_user = t->bench->options->scope == SCOPE_USER;

	for (uint64_t i = 0; i < t->count; i++) {
		struct connection *c = &t->connections[t->turn];

		t->turn = t->turn + 1 == t->count ? 0 : t->turn + 1;
		if (one_user && (c->done || c->moving || walk_over(&c->walk))) {
			continue;
		}
		if (has_room(c)) {
			return c;
		}
	}
	return NULL;
}

/* ---- In step ---- */

/* Whether c may tap in this step. One that has its answer waits for those that
 * have none, and those that come back as their next user. */
static bool may_step(struct connection *c)
{
	struct team *t = c->team;

	if (c->steps < t->steps) {
		return true;
	}
	if (!c->arrived && c->taps.open == 0 && c->waiting == 0 && !c->done &&
	    !c->moving && !walk_over(&c->walk)) {
		c->arrived = true;
		t->arrived++;
		team_step(t);
	}
	return false;
}

void team_step(struct team *t)
{
	if (t->arrived == 0 || t->arrived + t->done < t->count) {
		return;
	}
	t->arrived = 0;
	t->steps++;
	for (uint64_t i = 0; i < t->count; i++) {
		t->connections[i].arrived = false;
	}
	for (uint64_t i = 0; i < t->count; i++) {
		connection_go_on(&t->connections[i]);
	}
}

void connection_go_on(struct connection *c)
{
	struct team *t = c->team;
	const struct options *o = t->bench->options;
	uint64_t began = atomic_load(&t->bench->began_us);
	uint64_t now;

	if (o->rate > 0 || began == 0 || o->idle ||
	    (uint64_t)(c - t->connections) >= t->begun ||
	    (o->in_step && !may_step(c))) {
		return;
	}
	now = clock_mono_us();
	while (c->taps.open < o->in_flight && !team_over(t, now) &&
	       has_room(c) && tap_next(c, now)) {
	}
}

/* ---- Open loop ---- */

static void arm(struct team *t, uint64_t at_us)
{
	struct itimerspec when = {
		.it_value = { .tv_sec = (time_t)(at_us / 1000000),
			      .tv_nsec = (long)(at_us % 1000000) * 1000 }
	};

	check(timerfd_settime(t->due_fd, TFD_TIMER_ABSTIME, &when, NULL) == 0);
}

static void disarm(struct team *t)
{
	struct itimerspec never = { 0 };

	check(timerfd_settime(t->due_fd, 0, &never, NULL) == 0);
}

static void tap_on_time(struct team *t, uint64_t due_us, uint64_t now)
{
	struct connection *c = pick(t);

	if (c == NULL) {
		t->tally->unsent++;
		return;
	}
	(void)tap_next(c, due_us);
	if (due_us >= t->bench->count_from_us) {
		histogram_add(&t->tally->late, now - due_us);
	}
}

void team_due(struct team *t)
{
	uint64_t began = atomic_load(&t->bench->began_us);
	uint64_t ends = atomic_load(&t->bench->ends_us);
	uint64_t now = clock_mono_us();
	uint64_t due = began + schedule_due_us(&t->schedule, t->due_next);

	for (int n = 0;
	     n < AT_ONCE_MAX && due <= now && due < ends && !team_tapped_out(t);
	     n++) {
		tap_on_time(t, due, now);
		due = began + schedule_due_us(&t->schedule, ++t->due_next);
	}
	if (due >= ends || team_tapped_out(t)) {
		t->due_done = true;
		disarm(t);
		return;
	}
	/* Several at once rather than a turn of the loop for each. */
	now += REST_US;
	arm(t, due > now ? due : now);
}

/* ---- Again ---- */

void team_tap_again(struct team *t, struct later *l)
{
	struct connection *c = l->connection;
	uint64_t now = clock_mono_us();
	struct tap tap = { .due_us = now,
			   .user = l->user,
			   .activity = l->activity,
			   .unsure = l->unsure };

	if (c == NULL) {
		c = pick(t);
	} else {
		c->waiting--;
	}
	if (!l->unsure && team_over(t, now)) {
		return;
	}
	if (c != NULL && has_room(c)) {
		t->tally->again++;
		send_tap(c, &tap);
	} else if (l->unsure) {
		if (l->connection != NULL) {
			l->connection->waiting++;
		}
		wheel_add(&t->wheel, AGAIN_MS, l);
	}
}
