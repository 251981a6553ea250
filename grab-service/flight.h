/**
 * One script call of a lane, from the asks that it takes to their answers.
 */
#ifndef GRAB_FLIGHT_H
#define GRAB_FLIGHT_H

#include <stddef.h>
#include <stdint.h>

#include "lane.h"

/* Owned by itself until the reply has come. */
struct flight {
	struct flight *prev, *next; /* in lane->flights, oldest first */
	struct grab_env *env;
	struct activity *activity; /* pinned */
	enum lane_kind kind;
	uint64_t sent_us; /* monotonic */
	uint64_t connection;
	size_t count;
	struct ask *asks[]; /* NULL: answered at its deadline */
};

/** Take the first n asks of the lane's queue to Redis. */
void flight_launch(struct grab_env *env, struct activity *a,
		   enum lane_kind kind, size_t n);

/** Tell the asks in flight whose time has passed that nobody knows: their
 * callers are about to stop waiting. What comes back finds them gone. */
void flight_answer_late(struct grab_env *env, struct lane *lane);

/** Register the metrics; once per process. */
void flight_metrics(void);

#endif
