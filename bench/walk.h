/**
 * Who taps next, and where: all users of a walk tap the first activity, one
 * after the other, then all the next one, and when every activity had its turn
 * they begin again, until each has tapped `taps` times in each. So a walk of
 * one user goes from activity to activity, and may win each time.
 */
#ifndef BENCH_WALK_H
#define BENCH_WALK_H

#include <stdbool.h>
#include <stdint.h>

struct walk {
	uint64_t users;      /* at least 1 */
	uint64_t activities; /* at least 1 */
	uint64_t taps;       /* of a user in an activity; 0: without end */
	uint64_t at;         /* the next step */
};

struct step {
	uint64_t user; /* from 0 */
	uint64_t activity;
};

/** The next step; false when the walk is over. */
bool walk_next(struct walk *w, struct step *step);

/** Whether there is one, without taking it. */
bool walk_over(const struct walk *w);

#endif
