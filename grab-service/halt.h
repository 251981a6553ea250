/**
 * Stops an activity when something is found that must not be. The script looks
 * again before it believes it.
 */
#ifndef GRAB_HALT_H
#define GRAB_HALT_H

#include "env.h"

/** The counts do not hold. */
void halt_counts(struct grab_env *env, struct activity *a);
/** The element at the place of claim seq is not a claim with that seq. */
void halt_element(struct grab_env *env, struct activity *a, uint64_t seq);
/** The user, who has a claim, is not among the users. */
void halt_user(struct grab_env *env, struct activity *a, struct bytes user);
/** Taken on trust; reason is for people. */
void halt_evidence(struct grab_env *env, struct activity *a,
		   const char *reason);

/** Register the metrics; once per process, again is harmless. */
void halt_metrics(void);

#endif
