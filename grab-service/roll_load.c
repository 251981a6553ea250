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
	struct roll *roll;
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

/* From now on claims are held against it. */
static void made(struct track *t, struct roll *r)
{
	check(t->activity->roll == NULL);
	t->activity->roll = r;
	t->activity->roll_awaited = false;
	t->unproven = false;
	t->foreign = false;
	finish(t, 0);
}

static void make(uv_work_t *work)
{
	struct loading *l = work->data;

	l->roll = roll_new(l->view.mixed, &l->view.plan.rule, l->view.id_base);
}

static void made_cb(uv_work_t *work, int status)
{
	struct loading *l = work->data;

	check(status == 0); /* nobody cancels it */
	made(l->track, l->roll);
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
};

static void adopted_cb(void *ctx, enum roll_read_end end, struct roll *r,
		       const char *why)
{
	struct adopting *a = ctx;
	struct track *t = a->track;

	if (end == ROLL_READ) {
		made(t, r);
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

	*a = (struct adopting){ t, view->plan.rule.count };
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
	t->adopted = plan_is_adopted(&view->plan);
	if (t->adopted && view->state == RAIN__STATE__LOADED) {
		finish(t, AGAIN_MS); /* nothing was opened yet */
		return;
	}
	if (!has_room(t, view->plan.rule.count)) {
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
	t->relay->roll_packets += view->plan.rule.count;
	if (t->adopted) {
		read_adopted(t, view);
		return;
	}
	l = xcalloc(1, sizeof *l);
	l->track = t;
	l->view = *view;
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

void roll_step(struct track *t)
{
	if (t->rolling || t->revision == 0) {
		return;
	}
	if (!needed(t)) {
		roll_drop(t);
		return;
	}
	if (t->activity->roll != NULL || now_ms(t) < t->roll_due_ms) {
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
	return t->activity->roll != NULL || t->unproven;
}
