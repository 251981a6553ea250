/**
 * What a loop can tell without asking: the last word about each activity, and
 * which users have been told it. edge_rule.h has the argument why that is
 * enough.
 *
 * Loops share one number, which grows whenever a loop learns that an activity
 * has moved: a loop that sees it grow asks about its activities again. So who
 * has an answer of a later revision from one loop is not told what was before
 * by another.
 */
#ifndef GATEWAY_EDGE_H
#define GATEWAY_EDGE_H

#include "base/bytes.h"
#include "gateway/options.h"
#include "rain/grab_service.pb-c.h"

struct edge;

/** Of one loop of o's. The caller frees it. */
struct edge *edge_new(const struct gateway_options *o);
void edge_free(struct edge *e);

/** Whether a first tap of user may be answered here; *reply then borrows from
 * e until the next call. Ids are valid ones, here and below. */
bool edge_answer(struct edge *e, struct bytes activity, struct bytes user,
		 uint64_t now_ms, Rain__GrabReply *reply);

/** A grab of user goes to the service: until that has answered, nothing is
 * known of the user. */
void edge_asks(struct edge *e, struct bytes activity, struct bytes user,
	       uint64_t now_ms);

/** How often activities have moved, of all loops; noted when a call leaves. */
uint64_t edge_moves(void);

/* An answer of the service, and the call that brought it. */
struct edge_news {
	struct bytes activity;
	struct bytes user;
	const Rain__GrabResponse *response;
	/* As the user is told it; NULL: only what has moved is learnt. */
	const Rain__GrabReply *told;
	uint64_t asked_ms; /* when the call left */
	uint64_t now_ms;
	/* edge_moves() when it left; moves on with what the call itself
	 * brings, so that the rest of its answers counts. */
	uint64_t *moves;
};

/** Learn from an answer, before anybody is told it. */
void edge_learn(struct edge *e, const struct edge_news *n);

#endif
