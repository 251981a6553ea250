/**
 * A round: activities are made, apps tap, an operator works and faults fall;
 * then all is healed, every outcome is asked for, the activities end, and
 * everything must agree.
 */
#ifndef TESTS_FAULT_ROUNDS_H
#define TESTS_FAULT_ROUNDS_H

#include <jansson.h>

#include "fault/faults.h"
#include "fault/watch.h"

/* How many activities there were, and of which kinds. */
struct rounds_made {
	size_t all, live, adopted, topped_up;
	size_t drawn; /* live ones that people tap for */
};

struct rounds {
	struct world *world;
	struct faults faults;
	struct watch watch;
	struct child tappers;
	uint64_t seed;
	uint64_t rate; /* taps per second */
	size_t played; /* rounds so far */
	struct rounds_made made;
	json_t *tapped;  /* numbers of the tappers' summaries, added up */
	json_t *checked; /* the same of the checkers' */
};

/** seed also chooses who taps; rate is taps a second. */
void rounds_init(struct rounds *r, struct world *w, uint64_t seed,
		 uint64_t rate);

/** Play the next round. False after a violation: nothing is sure any more. */
must_check bool rounds_play(struct rounds *r, const struct round *round);

/** End what still runs of a round. */
void rounds_close(struct rounds *r);

#endif
