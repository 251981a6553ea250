#include "gateway/throttle.h"

#include "gateway/loop.h"

enum { NS_PER_MS = 1000000, WAIT_MAX_MS = 3600 * 1000 };

static int64_t now_ns(const struct session *s)
{
	return (int64_t)uv_now(&s->loop->uv) * NS_PER_MS;
}

/* The time until a bucket has a token. Where many share it, that token will
 * be another's: they wait at least as long as for anything. */
static bool hit_after(struct session *s, int64_t wait_ns, bool shared,
		      struct throttle_hit *hit)
{
	int64_t ms = (wait_ns + NS_PER_MS - 1) / NS_PER_MS;

	if (ms > WAIT_MAX_MS) {
		ms = WAIT_MAX_MS;
	}
	if (shared && ms < s->loop->options->retry_after_ms) {
		ms = s->loop->options->retry_after_ms;
	}
	hit->retry_ms = loop_wait(s->loop, (uint32_t)ms);
	return false;
}

static bool table_full(struct session *s, struct throttle_hit *hit)
{
	hit->why = REFUSAL_LIMIT_TABLE;
	hit->message = "this gateway knows too many others for the moment";
	return hit_after(s, 0, true, hit);
}

bool throttle_message(struct session *s, struct throttle_hit *hit)
{
	const struct limit_rates *rates = &s->loop->rates;
	int64_t now = now_ns(s);
	int64_t wait = bucket_take(
		&s->messages, s->front ? rates->front : rates->connection, now);

	if (wait > 0) {
		hit->why = REFUSAL_CONNECTION_RATE;
		hit->message = "too many messages of this connection";
		return hit_after(s, wait, false, hit);
	}
	if (s->front) {
		return true; /* it is many users at one address */
	}
	wait = bucket_take(&s->address->taken, rates->address, now);
	if (wait > 0) {
		hit->why = REFUSAL_ADDRESS_RATE;
		hit->message = "too many messages from this address";
		return hit_after(s, wait, true, hit);
	}
	return true;
}

bool throttle_flood(struct session *s)
{
	const struct limit_rates *rates = &s->loop->rates;

	/* To refuse is cheap, and not free: as many refusals as messages. */
	return bucket_take(&s->refusals,
			   s->front ? rates->front : rates->connection,
			   now_ns(s)) > 0;
}

bool throttle_hello(struct session *s, struct throttle_hit *hit)
{
	const struct limit_rates *rates = &s->loop->rates;
	int64_t now = now_ns(s);
	int64_t wait;

	/* Whoever renews a token is known: one user's Hellos, over however many
	 * connections, shall leave some of all Hellos for the others. */
	if (s->state == SESSION_SERVING &&
	    !throttle_user(s, session_user(s), hit)) {
		return false;
	}
	wait = bucket_take(&s->address->hellos, rates->address_hello, now);
	if (wait > 0) {
		hit->why = REFUSAL_ADDRESS_HELLO_RATE;
		hit->message = "too many Hellos from this address";
	} else {
		wait = limits_take_hello(s->loop->limits, rates->hello, now);
		hit->why = REFUSAL_HELLO_RATE;
		hit->message = "too many Hellos; say it again later, or "
			       "connect to another gateway";
	}
	if (wait == 0) {
		return true;
	}
	(void)hit_after(s, wait, true, hit);
	hit->retry_ms += loop_spread(s->loop);
	return false;
}

bool throttle_user(struct session *s, struct bytes user,
		   struct throttle_hit *hit)
{
	const struct rate rate = s->loop->rates.user;
	int64_t now = now_ns(s);
	int64_t wait;

	if (rate.gap_ns == 0) {
		return true;
	}
	wait = s->user_limit != NULL
		       ? bucket_take(&s->user_limit->taken, rate, now)
		       : limits_take(s->loop->limits, LIMIT_USER, user, rate,
				     now);
	if (wait == 0) {
		return true;
	}
	if (wait < 0) {
		return table_full(s, hit);
	}
	hit->why = REFUSAL_USER_RATE;
	hit->message = "too many requests of this user";
	return hit_after(s, wait, false, hit);
}

bool throttle_activity(struct session *s, struct bytes activity,
		       struct throttle_hit *hit)
{
	const struct rate rate = s->loop->rates.activity;
	struct limits *l = s->loop->limits;
	int64_t now = now_ns(s);
	int64_t wait;

	if (rate.gap_ns == 0) {
		return true;
	}
	if (s->activity == NULL || !limits_names(s->activity, activity)) {
		limits_unpin(l, LIMIT_ACTIVITY, s->activity, now);
		s->activity = limits_pin(l, LIMIT_ACTIVITY, activity, now);
	}
	if (s->activity == NULL) {
		return table_full(s, hit);
	}
	wait = bucket_take(&s->activity->taken, rate, now);
	if (wait == 0) {
		return true;
	}
	hit->why = REFUSAL_ACTIVITY_RATE;
	hit->message = "too many grabs in this activity";
	return hit_after(s, wait, true, hit);
}

void throttle_release(struct session *s)
{
	struct limits *l = s->loop->limits;
	int64_t now = now_ns(s);

	limits_unpin(l, LIMIT_ADDRESS, s->address, now);
	limits_unpin(l, LIMIT_USER, s->user_limit, now);
	limits_unpin(l, LIMIT_ACTIVITY, s->activity, now);
}
