/*
 * Making the roll of an activity: read the plan from Redis, hold it against
 * its commitment, recompute the amounts on a thread of libuv's pool.
 */
#include "roll.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "rain/activity_service.pb-c.h"

#include "activity_view.h"
#include "halt.h"
#include "track.h"

enum {
	AGAIN_MS = 200,     /* after Redis did not answer */
	UNPROVEN_MS = 5000, /* between two looks at a plan that can't be */
};

struct loading {
	struct track *track; /* track->rolling keeps it */
	uv_work_t work;
	struct activity_view view;
	size_t known;      /* tranches in the roll that there is */
	struct roll *roll; /* of the others */
};

static uint64_t now_ms(const struct track *t)
{
	return uv_now(t->relay->env->loop);
}

static void finish(struct track *t, uint64_t again_ms)
{
	t->rolling = false;
	t->roll_due_ms = now_ms(t) + again_ms;
	t->due_ms = now_ms(t);
	relay_kick(t->relay);
}

static void make(uv_work_t *work)
{
	struct loading *l = work->data;
	const struct activity_view *v = &l->view;

	if (l->known == 0) {
		l->roll = roll_new(v->mixed, &v->plan.rule, v->id_base);
	}
	for (size_t i = l->known > 0 ? l->known - 1 : 0; i < v->topup_count;
	     i++) {
		const struct view_topup *t = &v->topups[i];
		struct roll *next =
			roll_new(t->seed, &t->tranche.rule, t->id_base);

		if (l->roll != NULL) {
			roll_append(l->roll, next);
		} else {
			l->roll = next;
		}
	}
}

/* All that is announced is in the roll. */
static void complete(struct track *t, uint64_t revision)
{
	roll_as_of(t->activity->roll, revision);
	t->unproven = false;
	finish(t, revision >= t->revision ? 0 : AGAIN_MS);
}

static void made_cb(uv_work_t *work, int status)
{
	struct loading *l = work->data;
	struct track *t = l->track;

	check(status == 0); /* nobody cancels it */
	check(roll_tranches(t->activity->roll) == l->known);
	if (l->known == 0) {
		t->activity->roll = l->roll;
	} else {
		roll_append(t->activity->roll, l->roll);
	}
	complete(t, l->view.revision);
	free(l);
}

/* Whoever reads the packets of this plan can't say what they must be: nothing
 * more is given out, and what was is published as it stands. */
static void unproven(struct track *t, const char *why)
{
	if (!t->unproven) {
		log_error("claims are not held against the plan",
			  log_str("activity", t->activity->id),
			  log_str("why", why));
	}
	t->unproven = true;
	if (t->state == RAIN__STATE__OPEN ||
	    t->state == RAIN__STATE__STATE_PAUSED) {
		halt_evidence(t->relay->env, t->activity, why);
	}
	finish(t, UNPROVEN_MS);
}

/* Packets of the tranches that the roll does not have. */
static uint64_t missing(const struct activity_view *v, size_t known)
{
	uint64_t sum = known == 0 ? v->plan.rule.count : 0;

	for (size_t i = known > 0 ? known - 1 : 0; i < v->topup_count; i++) {
		sum += v->topups[i].tranche.rule.count;
	}
	return sum;
}

static bool has_room(const struct track *t, uint64_t count)
{
	const struct relay *relay = t->relay;

	return relay->roll_packets + count <=
	       (uint64_t)relay->env->options->plan_packets;
}

static void view_read_cb(void *ctx, const struct activity_view *view,
			 const char *why)
{
	struct track *t = ctx;
	size_t known = roll_tranches(t->activity->roll);
	struct loading *l;
	int rv;

	(void)why;
	if (view == NULL || !view->known) {
		finish(t, AGAIN_MS);
		return;
	}
	if (view->problem[0] != '\0') {
		unproven(t, view->problem);
		return;
	}
	if (!view_is_committed(view)) {
		unproven(t, "seed and plan in Redis are not those of the "
			    "commitment");
		return;
	}
	if (known == 1 + view->topup_count) {
		complete(t, view->revision);
		return;
	}
	if (known > 1 + view->topup_count) {
		unproven(t, "a tranche that was announced is gone");
		return;
	}
	if (!has_room(t, missing(view, known))) {
		if (!t->unproven) {
			log_warn("no room for the plan: its claims are "
				 "published as they are",
				 log_str("activity", t->activity->id));
		}
		t->unproven = true;
		finish(t, UNPROVEN_MS);
		return;
	}
	t->relay->roll_packets += missing(view, known);
	l = xcalloc(1, sizeof *l);
	l->track = t;
	l->view = *view;
	l->known = known;
	l->work.data = l;
	rv = uv_queue_work(t->relay->env->loop, &l->work, make, made_cb);
	check(rv == 0); /* the work is there */
}

static bool needed(const struct track *t)
{
	switch (t->state) {
	case RAIN__STATE__LOADED:
	case RAIN__STATE__OPEN:
	case RAIN__STATE__STATE_PAUSED:
	case RAIN__STATE__HALTED:
	case RAIN__STATE__CLOSED:
		return true;
	default:
		return t->claims_length > t->claims_cursor;
	}
}

static bool roll_is_current(const struct track *t)
{
	return t->activity->roll != NULL &&
	       roll_revision(t->activity->roll) >= t->revision;
}

void roll_step(struct track *t)
{
	if (t->rolling || t->revision == 0) {
		return;
	}
	if (!needed(t)) {
		roll_drop(t);
		return;
	}
	if (roll_is_current(t) || now_ms(t) < t->roll_due_ms) {
		return;
	}
	t->rolling = true;
	view_read(t->relay->redis, activity_id(t->activity),
		  (uint64_t)t->relay->env->options->redis_timeout_ms,
		  view_read_cb, t);
}

void roll_drop(struct track *t)
{
	struct roll *r = t->activity->roll;

	check(!t->rolling);
	if (r != NULL) {
		check(t->relay->roll_packets >= roll_packets(r));
		t->relay->roll_packets -= roll_packets(r);
		t->activity->roll = NULL;
		roll_free(r);
	}
	t->unproven = false;
}

bool roll_settled(const struct track *t)
{
	return roll_is_current(t) || t->unproven;
}
