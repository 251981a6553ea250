/*
 * The activities that the relay works on: those in rain:activities.
 */
#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"
#include "rain/activity_service.pb-c.h"

#include "track.h"

enum {
	SCAN_AGAIN_MS = 2000, /* after Redis refused */
	LIST_MAX = 1000,      /* activities put back at once */
};

static struct track *add_track(struct relay *relay, struct activity *a)
{
	const struct grab_options *o = relay->env->options;
	struct track *t;
	size_t slot = 0;

	while (slot < relay->slot_max && relay->slots[slot] != NULL) {
		slot++;
	}
	if (slot == relay->slot_max) {
		return NULL;
	}
	t = xcalloc(1, sizeof *t);
	t->relay = relay;
	t->activity = a;
	t->slot = slot;
	t->epoch = ++relay->epoch;
	window_init(&t->claims, (size_t)o->window_max);
	window_init(&t->events, TRACK_EVENTS_MAX);
	/* What was seen before may have been seen of another Redis. */
	t->fence.confirmed_on =
		a->seen.revision > 0 ? 0 : redis_connection(relay->redis);
	activity_pin(a);
	a->track = t;
	relay->slots[slot] = t;
	DL_APPEND(relay->tracks, t);
	relay->count++;
	return t;
}

void track_free(struct track *t)
{
	struct relay *relay = t->relay;

	check(!track_held(t));
	if (t->ours) {
		t->ours = false;
		metric_add(&relay_leases, -1);
	}
	track_count(t);
	fence_forget(t);
	track_lost(t, false);
	roll_drop(t);
	DL_DELETE(relay->tracks, t);
	relay->slots[t->slot] = NULL;
	relay->count--;
	t->activity->track = NULL;
	activity_unpin(t->activity);
	window_close(&t->claims);
	window_close(&t->events);
	free(t);
}

/* ---- The set of activities ---- */

static void listed(struct relay *relay, struct bytes id)
{
	struct activity *a;

	if (!id_valid(id)) {
		return;
	}
	a = directory_get(relay->env->directory, id);
	if (a == NULL) {
		log_error("no room for an activity", log_bytes("activity", id));
		return;
	}
	a->listed = true;
	a->listed_scan = relay->scan;
	if (a->track == NULL && !relay->stopping &&
	    add_track(relay, a) == NULL) {
		log_error("no room for an activity", log_bytes("activity", id));
	}
	if (a->track != NULL) {
		a->track->gone = false;
		if (a->track->lost) {
			a->track->lost_on = redis_connection(relay->redis);
		}
	}
}

static void list_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct relay *relay = ctx;

	relay->listing = false;
	if (outcome == REDIS_DONE && reply->type == REDIS_REPLY_INTEGER) {
		relay->scan_due_ms = 0;
		relay_kick(relay);
	} else if (reply != NULL && reply->type == REDIS_REPLY_ERROR) {
		log_error("can't write rain:activities",
			  log_bytes("error", bytes_make(reply->str,
							(size_t)reply->len)));
		relay->scan_due_ms = uv_now(relay->env->loop) + SCAN_AGAIN_MS;
	}
}

static bool may_list(const struct relay *relay)
{
	return !relay->listing && !relay->stopping && relay->scan > 0;
}

/* They are not in the set: new, and our next look will find them, or the set
 * was lost, and nobody would ever pay. */
static void list(struct relay *relay, struct activity *const *missed, size_t n)
{
	const struct grab_options *o = relay->env->options;
	struct bytes argv[2 + LIST_MAX] = { BYTES("SADD"),
					    BYTES("rain:activities") };

	for (size_t i = 0; i < n; i++) {
		argv[2 + i] = activity_id(missed[i]);
	}
	relay->listing = true;
	redis_command(relay->redis, 2 + n, argv, (uint64_t)o->redis_timeout_ms,
		      list_cb, relay);
}

/* Who looks after an activity takes it out of the set when it is settled and
 * unlinked, nobody before: else it would be neither closed nor paid. One that
 * is gone from Redis may be given up: by a person, who takes it out of a set
 * that this Redis had it in when it was gone already. */
static bool is_missed(const struct track *t)
{
	if (t->lost) {
		return t->lost_on != redis_connection(t->relay->redis);
	}
	return t->state != RAIN__STATE__STATE_UNSPECIFIED &&
	       t->state != RAIN__STATE__SETTLED;
}

/* It is not in the set any more. */
static void unlisted(struct activity *a)
{
	struct track *t = a->track;

	a->listed = false;
	if (t == NULL) {
		return;
	}
	t->gone = !is_missed(t);
	if (t->gone && t->lost) {
		log_warn("lets go of an activity that is gone from Redis",
			 log_str("activity", a->id));
	}
}

/* Those that the scan did not find are not there any more. */
static void unlist(struct relay *relay)
{
	struct directory *d = relay->env->directory;
	struct activity *missed[LIST_MAX];
	size_t n = 0;

	for (struct activity *a = directory_next(d, NULL); a != NULL;
	     a = directory_next(d, a)) {
		if (a->listed && a->listed_scan != relay->scan) {
			unlisted(a);
		}
		if (!a->listed && a->track != NULL && !a->track->gone &&
		    n < LIST_MAX) {
			missed[n++] = a;
		}
	}
	if (n > 0 && may_list(relay)) {
		log_warn("puts an activity back into rain:activities",
			 log_str("activity", missed[0]->id),
			 log_int("and_others", (int64_t)n - 1));
		list(relay, missed, n);
	}
}

static void scan_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct relay *relay = ctx;

	relay->scanning = false;
	if (outcome == REDIS_DONE && reply->type != REDIS_REPLY_ARRAY) {
		log_error("can't read rain:activities",
			  log_bytes("error", bytes_make(reply->str,
							(size_t)reply->len)));
		relay->scan_due_ms = uv_now(relay->env->loop) + SCAN_AGAIN_MS;
	}
	if (outcome == REDIS_DONE && reply->type == REDIS_REPLY_ARRAY) {
		relay->scan++;
		for (size_t i = 0; i < reply->elements; i++) {
			const redisReply *e = reply->element[i];

			if (e->type == REDIS_REPLY_STRING) {
				listed(relay, bytes_make(e->str, e->len));
			}
		}
		unlist(relay);
		relay->env->scanned_ms = uv_now(relay->env->loop);
	}
	relay_kick(relay);
}

void relay_scan(struct relay *relay)
{
	const struct grab_options *o = relay->env->options;
	struct bytes argv[2] = { BYTES("SMEMBERS"), BYTES("rain:activities") };

	if (relay->scanning || !redis_ready(relay->redis) ||
	    uv_now(relay->env->loop) < relay->scan_due_ms) {
		return;
	}
	relay->scanning = true;
	relay->scan_due_ms = uv_now(relay->env->loop) + (uint64_t)o->scan_ms;
	redis_command(relay->redis, 2, argv, (uint64_t)o->redis_timeout_ms,
		      scan_cb, relay);
}

void relay_poke(struct relay *relay, struct activity *a)
{
	struct track *t = a->track;
	uint64_t now = uv_now(relay->env->loop);

	if (t == NULL && !a->listed && may_list(relay)) {
		list(relay, &a, 1);
	}
	if (t == NULL || (!t->ours && !t->free)) {
		return;
	}
	if (t->due_ms > now) {
		uint64_t soon = t->read_ms + TRACK_POKE_MS;

		t->due_ms = soon > now ? soon : now;
		relay_kick(relay);
	}
}

void relay_poke_id(struct relay *relay, struct bytes id)
{
	struct activity *a = directory_find(relay->env->directory, id);

	if (a != NULL && a->track != NULL) {
		a->track->due_ms = uv_now(relay->env->loop);
	} else {
		relay->scan_due_ms = 0;
	}
	relay_kick(relay);
}
