/**
 * What the amounts of a live activity are drawn from: the step has no
 * randomness of its own, so every call brings the draws of the places that its
 * users may take (lib/plan/numbers.h). The step itself tells the seed when a
 * call has none, or has those of other places or another commitment: nothing
 * was done then, and the same users ask again.
 */
#ifndef GRAB_DRAWS_H
#define GRAB_DRAWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/id.h"
#include "plan/plan.h"

struct step_reply;

/* Of an activity, all zeros at first. */
struct draws {
	bool live; /* a step has told */
	uint8_t seed[ALLOCATE_SEED];
	char commitment[PLAN_COMMITMENT]; /* of that seed */
	uint64_t claims;                  /* there were at the last reply */
};

/** Read a reply with the code DRAWS. False if it tells no seed, or not that of
 * the commitment: then d is as it was. */
must_check bool draws_learn(struct draws *d, const struct step_reply *reply);

/** The argument of a call, in memory that is the caller's (free()); empty if
 * the activity is not live, as far as is known. users are those of all calls in
 * flight, this one included; tries is how often its first one has asked. */
struct bytes draws_argument(const struct draws *d, size_t users, unsigned tries,
			    char **memory);

#endif
