#include "track.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "lua/scripts.h"

/* Where things are in the rest of a reply of relay.lua. */
enum {
	LEASE_GENERATION,
	LEASE_UNTIL,
	LEASE_CLAIMS_AT,
	LEASE_EVENTS_AT,
};

enum { NUMBER_MAX = 24 };

/* ---- What to do ---- */

enum track_action track_decide(const struct track_view *v)
{
	if (v->rewind && v->due) {
		return TRACK_REWIND;
	}
	if (!v->ours) {
		if (v->wanted && v->free) {
			return TRACK_ACQUIRE;
		}
		return v->due ? TRACK_READ : TRACK_WAIT;
	}
	if (v->wanted && v->lease_left_ms < v->lease_ms / 2) {
		return TRACK_RENEW;
	}
	if (v->progress) {
		return TRACK_ADVANCE;
	}
	return v->due ? TRACK_READ : TRACK_WAIT;
}

bool track_published(const struct track *t)
{
	return t->claims_cursor >= t->claims_length &&
	       t->events_cursor >= t->events_length;
}

bool track_held(const struct track *t)
{
	return t->busy || t->keeper.busy || t->fence.busy || t->rolling ||
	       t->outstanding > 0;
}

void track_count(struct track *t)
{
	int64_t lag = 0;

	if (t->ours && t->claims_length > t->claims_cursor) {
		lag = (int64_t)(t->claims_length - t->claims_cursor);
	}
	metric_add(&relay_unpublished, lag - t->lag);
	t->lag = lag;
}

void track_lost(struct track *t, bool lost)
{
	if (t->lost == lost) {
		return;
	}
	t->lost = lost;
	t->lost_on = 0;
	metric_add(&relay_lost, lost ? 1 : -1);
	if (lost) {
		log_error("activity is gone from Redis: nothing is given out",
			  log_str("activity", t->activity->id));
	}
}

static void set_ours(struct track *t, bool ours)
{
	if (t->ours != ours) {
		t->ours = ours;
		metric_add(&relay_leases, ours ? 1 : -1);
	}
	track_count(t);
}

static uint64_t now_ms(const struct track *t)
{
	return uv_now(t->relay->env->loop);
}

static int64_t redis_now(const struct track *t)
{
	return redis_time_now(&t->relay->env->time);
}

/* Nothing is in flight any more as far as t knows; next is what stands at the
 * cursors. */
static void begin_at_cursors(struct track *t)
{
	t->epoch = ++t->relay->epoch;
	window_reset(&t->claims, t->claims_cursor);
	window_reset(&t->events, t->events_cursor);
	t->blocked = 0;
	t->due_ms = now_ms(t);
}

void track_drop(struct track *t, const char *why)
{
	log_info("relay starts again", log_str("activity", t->activity->id),
		 log_str("why", why));
	metric_add(&relay_dropped, 1);
	begin_at_cursors(t);
}

/* The lease is not ours, or may not be: the next read tells. */
void track_lose(struct track *t, const char *why)
{
	set_ours(t, false);
	t->free = false;
	track_drop(t, why);
}

bool track_number(const struct step_reply *reply, size_t i, uint64_t *out)
{
	int64_t v;

	if (!step_number(reply, i, &v) || v < 0) {
		return false;
	}
	*out = (uint64_t)v;
	return true;
}

/* One step in flight: t->busy keeps t. */
struct call {
	struct track *track;
	enum track_action action;
	uint32_t epoch;
	uint64_t sent_us;
};

static void call_failed(struct track *t, enum redis_outcome outcome,
			struct bytes error)
{
	t->due_ms = now_ms(t) + TRACK_BACKOFF_MS;
	if (outcome != REDIS_UNKNOWN || error.n > 0) {
		log_warn("relay step failed",
			 log_str("activity", t->activity->id),
			 log_bytes("error", error));
	}
	/* Whatever it was, the next read shows how things stand. */
	if (t->ours) {
		track_lose(t, "Redis did not answer");
		t->due_ms = now_ms(t) + TRACK_BACKOFF_MS;
	}
}

/* ---- The lease and the cursors ---- */

static void handle_lease(struct track *t, enum track_action action,
			 const struct step_reply *reply, uint32_t epoch)
{
	uint64_t until = 0;

	if (reply->code != STEP_OK && reply->code != STEP_ALREADY) {
		if (t->ours) {
			track_lose(t, step_code_name(reply->code));
		}
		t->free = false;
		t->due_ms =
			now_ms(t) + (uint64_t)t->relay->env->options->poll_ms;
		return;
	}
	(void)track_number(reply, LEASE_GENERATION, &t->generation);
	(void)track_number(reply, LEASE_UNTIL, &until);
	(void)track_number(reply, LEASE_CLAIMS_AT, &t->claims_cursor);
	(void)track_number(reply, LEASE_EVENTS_AT, &t->events_cursor);
	t->lease_until_ms = (int64_t)until;
	if (action == TRACK_ACQUIRE) {
		/* What we send to Kafka is seen by nobody else: the next
		 * restart of Redis must wait for our word. */
		if (!t->activity->seen.served) {
			t->fence.confirmed_on = 0;
		}
		set_ours(t, true);
		log_info("relays activity",
			 log_str("activity", t->activity->id),
			 log_int("generation", (int64_t)t->generation));
		begin_at_cursors(t);
	} else if (t->epoch != epoch) {
		return;
	}
	track_count(t);
	if (t->relay->stopping) {
		track_want(t);
	}
}

/* The lease is nobody's now, and the cursors are at the beginning: whoever
 * takes it publishes all of it again. */
static void handle_rewind(struct track *t, const struct step_reply *reply)
{
	if (reply->code != STEP_OK) {
		log_warn("cannot publish again",
			 log_str("activity", t->activity->id),
			 log_str("code", step_code_name(reply->code)));
	}
	/* Gone, or not fit to be read: there is nothing to publish. */
	t->rewind = false;
	track_lose(t, "Kafka lost a topic: all is published again");
}

static void call_cb(void *ctx, enum redis_outcome outcome,
		    const struct step_reply *reply, struct bytes error)
{
	struct call *c = ctx;
	struct track *t = c->track;

	check(t->busy);
	t->busy = false;
	if (c->action == TRACK_READ) {
		t->read_ms = now_ms(t);
		t->read_count++;
	}
	if (outcome != REDIS_DONE) {
		call_failed(t, outcome, error);
	} else {
		redis_time_sample(&t->relay->env->time, c->sent_us,
				  clock_mono_us(), reply->time_ms);
		if (c->action == TRACK_READ) {
			track_learn(t, reply, c->epoch);
		} else if (c->action == TRACK_REWIND) {
			handle_rewind(t, reply);
		} else {
			handle_lease(t, c->action, reply, c->epoch);
		}
	}
	free(c);
	relay_kick(t->relay);
}

static struct bytes print(char out[NUMBER_MAX], uint64_t n)
{
	int len = snprintf(out, NUMBER_MAX, "%" PRIu64, n);

	return bytes_make(out, (size_t)len);
}

static void run(struct track *t, enum track_action action,
		const struct redis_script *script, const struct bytes *argv,
		size_t argc)
{
	struct grab_env *env = t->relay->env;
	struct call *c = xmalloc(sizeof *c);

	check(!t->busy);
	t->busy = true;
	c->track = t;
	c->action = action;
	c->epoch = t->epoch;
	c->sent_us = clock_mono_us();
	step_run(t->relay->redis, script, activity_id(t->activity), argc, argv,
		 (uint64_t)env->options->redis_timeout_ms, call_cb, c);
}

/* Whether what is in the outboxes may go on its way. */
static bool may_send(const struct track *t)
{
	const struct relay *relay = t->relay;

	return t->ours && !t->fence.needed && relay->producer != NULL &&
	       relay->topics_ready && !relay->abandoned && !relay->releasing &&
	       (relay->stopping || !fence_must_confirm(t)) &&
	       now_ms(t) >= t->pause_ms;
}

size_t track_room(const struct track *t)
{
	size_t max = (size_t)t->relay->env->options->window_max;
	size_t room = window_room(&t->claims);
	/* Started again, what was sent before may still lie with a Kafka that
	 * is away: that is bounded too. */
	size_t left = t->outstanding < max ? max - t->outstanding : 0;

	if (!may_send(t) || !roll_settled(t)) {
		return 0;
	}
	return room < left ? room : left;
}

static void read_more(struct track *t)
{
	const struct grab_options *o = t->relay->env->options;
	char text[4][NUMBER_MAX];
	struct bytes argv[4] = { BYTES("-1"), BYTES("0"), BYTES("-1"),
				 BYTES("0") };

	if (may_send(t)) {
		size_t claims = track_room(t);
		size_t events = window_room(&t->events);

		if (claims > (size_t)o->read_max) {
			claims = (size_t)o->read_max;
		}
		if (t->outstanding >= (size_t)o->window_max) {
			events = 0;
		}
		t->read_after = t->claims.sent;
		argv[0] = print(text[0], t->claims.sent);
		argv[1] = print(text[1], claims);
		argv[2] = print(text[2], t->events.sent);
		argv[3] = print(text[3], events);
	}
	run(t, TRACK_READ, &lua_relay_read, argv, 4);
}

static void write_lease(struct track *t, enum track_action action)
{
	char text[3][NUMBER_MAX];
	struct bytes argv[5] = {
		[1] = bytes_str(t->relay->owner),
		[2] = print(text[0], t->generation),
	};

	if (action == TRACK_REWIND) {
		argv[0] = BYTES("rewind");
		argv[3] = BYTES("0");
		run(t, action, &lua_relay, argv, 4);
		return;
	}
	if (action == TRACK_ADVANCE) {
		t->advance_ms = now_ms(t) + TRACK_ADVANCE_MS;
		argv[0] = BYTES("advance");
		argv[3] = print(text[1], t->claims.done);
		argv[4] = print(text[2], t->events.done);
		run(t, action, &lua_relay, argv, 5);
		return;
	}
	argv[0] = action == TRACK_ACQUIRE ? BYTES("acquire") : BYTES("renew");
	argv[3] = print(text[1], (uint64_t)t->relay->env->options->lease_ms);
	run(t, action, &lua_relay, argv, 4);
}

void track_step(struct track *t)
{
	struct track_view v = {
		.ours = t->ours,
		.free = t->free,
		.wanted = t->wanted,
		/* At once when nothing is on its way. An advance is a write, for
		 * which Redis stands still until it is on the disk: one for many
		 * deliveries. */
		.progress = t->ours && !t->fence.needed && track_progress(t) &&
			    (t->outstanding == 0 || now_ms(t) >= t->advance_ms),
		.rewind = t->rewind && !t->relay->stopping,
		.due = now_ms(t) >= t->due_ms,
		.lease_ms = t->relay->env->options->lease_ms,
	};
	enum track_action action;

	if (t->busy) {
		return;
	}
	v.lease_left_ms = t->lease_until_ms - redis_now(t);
	action = track_decide(&v);
	switch (action) {
	case TRACK_WAIT:
		return;
	case TRACK_READ:
		read_more(t);
		return;
	default:
		write_lease(t, action);
	}
}

/* ---- Letting go ---- */

void track_release(struct track *t)
{
	char text[NUMBER_MAX];
	struct bytes argv[3] = {
		BYTES("release"),
		bytes_str(t->relay->owner),
		print(text, t->generation),
	};

	check(!t->busy);
	set_ours(t, false);
	t->wanted = false;
	t->free = false;
	run(t, TRACK_RENEW, &lua_relay, argv, 3);
}
