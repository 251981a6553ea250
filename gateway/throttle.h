/**
 * Whether a session may go on as fast as it does: the buckets of its
 * connection, its address, its user and the activity, in this order.
 */
#ifndef GATEWAY_THROTTLE_H
#define GATEWAY_THROTTLE_H

#include "gateway/session.h"

/* Why it may not, and when it may. */
struct throttle_hit {
	enum refusal why;
	uint32_t retry_ms;
	const char *message; /* static */
};

/** A message of any kind came. False: *hit says why it is not looked at. */
bool throttle_message(struct session *s, struct throttle_hit *hit);

/** After throttle_message() has refused: whether that has gone on for so long
 * that the connection is to end. */
bool throttle_flood(struct session *s);

/** A Hello, before its token is looked at; a later one, which renews, counts as
 * a request of its user too. */
bool throttle_hello(struct session *s, struct throttle_hit *hit);

/** A request on behalf of user. */
bool throttle_user(struct session *s, struct bytes user,
		   struct throttle_hit *hit);

/** A request that would reach the services about activity. */
bool throttle_activity(struct session *s, struct bytes activity,
		       struct throttle_hit *hit);

/** Give back what s has pinned. */
void throttle_release(struct session *s);

#endif
