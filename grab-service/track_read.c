/*
 * What a read of the outboxes tells about an activity.
 */
#include "base/log.h"
#include "rain/activity_service.pb-c.h"

#include "halt.h"
#include "track.h"

/* Where things are in the rest of a reply of relay_read.lua. */
enum {
	READ_OWNER,
	READ_LEASE_UNTIL,
	READ_GENERATION,
	READ_CLAIMS_AT,
	READ_EVENTS_AT,
	READ_CLAIMS_LENGTH,
	READ_EVENTS_LENGTH,
	READ_CLAIMS,
	READ_EVENTS,
	READ_COUNT,
};

enum {
	SETTLED_IDLE = 10,    /* idle times between reads of a settled one */
	LEASE_MAX_MS = 60000, /* none is longer */
	QUIET_MAX = 4,        /* reads that found nothing and count */
};

static uint64_t now_ms(const struct track *t)
{
	return uv_now(t->relay->env->loop);
}

static const redisReply *list_at(const struct step_reply *reply, size_t i)
{
	const redisReply *r = reply->rest[i];

	return r->type == REDIS_REPLY_ARRAY ? r : NULL;
}

/* When to read again, now that everything known is up to date. */
static uint64_t next_read(const struct track *t, bool more)
{
	const struct grab_options *o = t->relay->env->options;
	bool live = t->state == RAIN__STATE__OPEN ||
		    t->state == RAIN__STATE__STATE_PAUSED ||
		    !track_published(t);
	uint64_t idle = (uint64_t)o->idle_ms;

	/* It is only kept: what still happens to it, happens here. */
	if (t->state == RAIN__STATE__SETTLED && track_published(t)) {
		return now_ms(t) + idle * SETTLED_IDLE;
	}
	if (t->blocked != 0) {
		return now_ms(t) + idle;
	}
	if (more && t->ours) {
		return now_ms(t);
	}
	if (!t->ours && !t->free) {
		int64_t left = t->lease_until_ms -
			       redis_time_now(&t->relay->env->time);

		/* Who takes over does so soon after the lease lapsed. */
		if (left < (int64_t)idle) {
			idle = left > o->poll_ms ? (uint64_t)left
						 : (uint64_t)o->poll_ms;
		}
		return now_ms(t) + idle;
	}
	/* What is won here need not be read: the longer nobody else has won
	 * anything, the less often it is looked for. */
	return now_ms(t) +
	       (live ? (uint64_t)o->poll_ms * (1 + t->quiet) : idle);
}

/* As relay.lua sees it. */
static bool is_over(int64_t now, uint64_t until)
{
	return now >= (int64_t)until || until - (uint64_t)now > LEASE_MAX_MS;
}

static void learn_lease(struct track *t, const struct step_reply *reply)
{
	struct bytes owner = step_text(reply, READ_OWNER);
	bool named = bytes_eq(owner, bytes_str(t->relay->owner));
	uint64_t generation = 0;
	uint64_t until = 0;

	(void)track_number(reply, READ_GENERATION, &generation);
	(void)track_number(reply, READ_LEASE_UNTIL, &until);
	t->lease_until_ms = (int64_t)until;
	t->free = owner.n == 0 || named || is_over(reply->time_ms, until);
	if (t->ours && (!named || generation != t->generation)) {
		track_lose(t, "the lease went to another");
		t->free = owner.n == 0 || is_over(reply->time_ms, until);
	}
}

static bool learn(struct track *t, const struct step_reply *reply)
{
	if (reply->rest_count < READ_COUNT ||
	    list_at(reply, READ_CLAIMS) == NULL ||
	    list_at(reply, READ_EVENTS) == NULL) {
		return false;
	}
	learn_lease(t, reply);
	if (!track_number(reply, READ_CLAIMS_AT, &t->claims_cursor) ||
	    !track_number(reply, READ_EVENTS_AT, &t->events_cursor) ||
	    !track_number(reply, READ_CLAIMS_LENGTH, &t->claims_length) ||
	    !track_number(reply, READ_EVENTS_LENGTH, &t->events_length)) {
		return false;
	}
	track_count(t);
	return true;
}

void track_want(struct track *t)
{
	const struct relay *relay = t->relay;

	t->wanted = !track_published(t) || t->fence.needed ||
		    t->state == RAIN__STATE__OPEN || keeper_wants(t);
	if (relay->stopping) {
		t->wanted = !track_published(t) && !t->fence.needed;
	}
}

static void handle_read(struct track *t, const struct step_reply *reply,
			uint32_t epoch)
{
	struct activity *a = t->activity;
	const redisReply *claims;
	bool more = false;

	if (!learn(t, reply)) {
		log_error("relay can't read", log_str("activity", a->id));
		t->due_ms =
			now_ms(t) + (uint64_t)t->relay->env->options->idle_ms;
		return;
	}
	if (reply->code == STEP_INCARNATION) {
		if (!t->fence.needed && t->ours) {
			track_lose(t, "Redis was restarted");
		}
		fence_needed(t->relay->env, a);
	} else {
		fence_over(t);
		activity_saw(a, reply->state, reply->revision);
		if (t->events_length > a->seen.events) {
			a->seen.events = t->events_length;
		}
	}
	if (reply->code == STEP_COUNTS) {
		halt_counts(t->relay->env, a);
	}
	claims = list_at(reply, READ_CLAIMS);
	if (claims->elements + list_at(reply, READ_EVENTS)->elements > 0 ||
	    !t->ours) {
		t->quiet = 0;
	} else if (t->quiet < QUIET_MAX) {
		t->quiet++;
	}
	t->blocked = 0;
	if (t->ours) {
		track_sent(t); /* since this was read */
	}
	if (t->ours && t->epoch == epoch) {
		publish_events(t, list_at(reply, READ_EVENTS));
		/* A tranche may have been announced since it was asked. */
		if (roll_settled(t)) {
			publish_claims(t, claims);
		}
		more = claims->elements ==
			       (size_t)t->relay->env->options->read_max &&
		       window_room(&t->claims) > 0;
	}
	track_want(t);
	t->due_ms = next_read(t, more);
}

void track_learn(struct track *t, const struct step_reply *reply,
		 uint32_t epoch)
{
	t->revision = reply->revision;
	t->state = reply->state;
	track_lost(t, reply->code == STEP_NO_META &&
			      t->activity->seen.revision > 0);
	switch (reply->code) {
	case STEP_OK:
	case STEP_COUNTS:
	case STEP_INCARNATION:
		handle_read(t, reply, epoch);
		return;
	case STEP_UNLINKED:
		keeper_forget(t);
		break;
	case STEP_NO_META:
		/* Listed before it is created, or lost with its Redis. */
		if (!t->rolling) {
			roll_drop(t);
		}
		break;
	case STEP_TYPE:
		halt_counts(t->relay->env, t->activity);
		break;
	default:
		log_error("relay refused", log_str("activity", t->activity->id),
			  log_str("code", step_code_name(reply->code)));
	}
	if (t->ours) {
		track_lose(t, step_code_name(reply->code));
	}
	t->due_ms = now_ms(t) + (uint64_t)t->relay->env->options->idle_ms;
}
