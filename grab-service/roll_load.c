/*
 * Making the roll of an activity: read the plan from Redis, hold it against
 * its commitment, recompute the amounts on a thread of libuv's pool; or, if the
 * list was adopted, read it again.
 */
#include "roll.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "rain/activity_service.pb-c.h"

#include "activity_view.h"
#include "halt.h"
#include "roll_read.h"
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

/* All that is announced is in the roll: from now on claims are held against
 * it. */
static void complete(struct track *t, uint64_t revision)
{
	roll_as_of(t->activity->roll, revision);
	t->activity->roll_awaited = false;
	t->unproven = false;
	t->foreign = false;
	finish(t, revision >= t->revision ? 0 : AGAIN_MS);
}

/* more are the tranches after the first `known`. */
static void made(struct track *t, struct roll *more, size_t known,
		 uint64_t revision)
{
	check(roll_tranches(t->activity->roll) == known);
	if (known == 0) {
		t->activity->roll = more;
	} else {
		roll_append(t->activity->roll, more);
	}
	complete(t, revision);
}

static void made_cb(uv_work_t *work, int status)
{
	struct loading *l = work->data;

	check(status == 0); /* nobody cancels it */
	made(l->track, l->roll, l->known, l->view.revision);
	free(l);
}

/* Whoever reads the packets of this plan can't say what they must be: nothing
 * more is given out, and what was is published as it stands. */
static void unproven(struct track *t, const char *why)
{
	if (!t->unproven && !t->foreign) {
		log_error("claims are not held against the plan",
			  log_str("activity", t->activity->id),
			  log_str("why", why));
	}
	t->unproven = true;
	t->activity->roll_awaited = false;
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

/* Some element of an adopted list is not what it was, and nobody can say which:
 * no claim is told or published until it is put back, or until a person closes
 * the activity with what there is. */
static void foreign(struct track *t, const char *why)
{
	bool wait = t->state == RAIN__STATE__OPEN ||
		    t->state == RAIN__STATE__STATE_PAUSED ||
		    t->state == RAIN__STATE__HALTED;

	unproven(t, why);
	t->foreign = true;
	t->unproven = !wait;
	t->activity->roll_awaited = wait;
}

static void give_back(struct track *t, uint64_t packets)
{
	check(t->relay->roll_packets >= packets);
	t->relay->roll_packets -= packets;
}

struct adopting {
	struct track *track; /* track->rolling keeps it */
	uint64_t packets;
	uint64_t revision;
};

static void adopted_cb(void *ctx, enum roll_read_end end, struct roll *r,
		       const char *why)
{
	struct adopting *a = ctx;
	struct track *t = a->track;

	if (end == ROLL_READ) {
		made(t, r, 0, a->revision);
	} else {
		give_back(t, a->packets);
		if (end == ROLL_FOREIGN) {
			foreign(t, why);
		} else {
			finish(t, AGAIN_MS);
		}
	}
	free(a);
}

static void read_adopted(struct track *t, const struct activity_view *view)
{
	struct adopting *a = xmalloc(sizeof *a);

	*a = (struct adopting){ t, view->plan.rule.count, view->revision };
	t->activity->roll_awaited = !t->unproven;
	roll_read(t->relay->redis, view,
		  (uint64_t)t->relay->env->options->redis_timeout_ms,
		  &t->relay->abandoned, adopted_cb, a);
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
	t->adopted = plan_is_adopted(&view->plan);
	if (t->adopted && view->state == RAIN__STATE__LOADED) {
		finish(t, AGAIN_MS); /* nothing was opened yet */
		return;
	}
	if (!has_room(t, missing(view, known))) {
		if (!t->unproven) {
			log_warn("no room for the plan: its claims are "
				 "published as they are",
				 log_str("activity", t->activity->id));
		}
		t->unproven = true;
		t->activity->roll_awaited = false;
		finish(t, UNPROVEN_MS);
		return;
	}
	t->relay->roll_packets += missing(view, known);
	if (t->adopted) {
		read_adopted(t, view);
		return;
	}
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
		/* What a seed makes may be made before it is needed. */
		return !t->adopted;
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
		give_back(t, roll_packets(r));
		t->activity->roll = NULL;
		roll_free(r);
	}
	t->activity->roll_awaited = false;
	t->unproven = false;
	t->foreign = false;
	/* LOADED, the same plan is there until it is cancelled. */
	t->adopted = t->adopted && t->state == RAIN__STATE__LOADED;
}

bool roll_settled(const struct track *t)
{
	return roll_is_current(t) || t->unproven;
}
