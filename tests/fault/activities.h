/**
 * The activities of a round, and the operator who leads them through their
 * states with rainctl.
 */
#ifndef TESTS_FAULT_ACTIVITIES_H
#define TESTS_FAULT_ACTIVITIES_H

#include "fault/world.h"

enum round_activity {
	ACTIVITY_SOLD,  /* sells out in mid rain; paused and resumed before */
	ACTIVITY_LEFT,  /* never does; closed while people tap */
	ACTIVITY_LATE,  /* opened while people tap; closes at its end_ms */
	ACTIVITY_NEVER, /* loaded, never opened, cancelled */
	ROUND_ACTIVITIES,
};

enum { ACTIVITY_NAME_BYTES = 32, ROUND_TOPUPS = 2 };

struct activities {
	char names[ROUND_ACTIVITIES][ACTIVITY_NAME_BYTES];
	uint64_t packets[ROUND_ACTIVITIES];
	size_t round;
	uint64_t users;
	uint64_t end_s; /* of the late one, from when it is made */
	/* Whose packets somebody else makes; ROUND_ACTIVITIES: nobody's. */
	enum round_activity adopted;
	uint64_t foreign_seed;
	bool live[ROUND_ACTIVITIES]; /* no list: drawn while people grab */
	uint64_t
		more[ROUND_TOPUPS]; /* packets added to the sold one, 0: none */
};

/** Names and sizes such that some sell out and some do not. The seed decides
 * what is topped up, what adopts its packets, and what is live. */
void activities_plan(struct activities *a, uint64_t seed, size_t round,
		     uint64_t rate, uint64_t length_ms);

/** Write its plan, live or split by an algorithm that differs from round to
 * round, and create it, now and then with entropy or a release over time; tried
 * again for ms. False: a violation. */
must_check bool activities_create(struct world *w, const struct activities *a,
				  enum round_activity which, uint64_t ms);

/** Whether it is to be done in this round: "topup 1" and "topup 2" are not in
 * each. */
bool activities_has(const struct activities *a, const char *verb);

/** One try of rainctl activity VERB, or relay rewind; whether it succeeded. */
must_check bool activities_step(struct world *w, const struct activities *a,
				enum round_activity which, const char *verb);

/** Each verb (NULL ends them), tried again for ms. False: a violation. */
must_check bool activities_steps(struct world *w, const struct activities *a,
				 enum round_activity which,
				 const char *const *verbs, uint64_t ms);

/** Close what is open, wait until all are settled and their books exact.
 * Nothing may be halted. False: a violation. */
must_check bool activities_end(struct world *w, const struct activities *a,
			       uint64_t ms);

#endif
