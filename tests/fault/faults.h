/**
 * The faults of a round, done to a world when their time comes, and undone.
 */
#ifndef TESTS_FAULT_FAULTS_H
#define TESTS_FAULT_FAULTS_H

#include "fault/schedule.h"
#include "fault/world.h"

struct faults {
	struct world *world;
	const struct round *round;
	size_t next;            /* index of the next fault */
	uint64_t began_ms;      /* loop time */
	uv_timer_t timer;       /* until the next fault */
	bool running;           /* between faults_start() and faults_heal() */
	struct child redis_cli; /* runs one command */
	uint64_t done[FAULT_COUNT][LINK_COUNT]; /* so far, by kind and target */
	uint64_t missed; /* whose target was away already */
};

/** The struct stays in place until the loop has turned after faults_close(). */
void faults_init(struct faults *f, struct world *w);

/** Begin a round of rain. */
void faults_start(struct faults *f, const struct round *round);

/** End it: every link passes, every process is there. False, and a violation
 * says which, if one does not come back. */
must_check bool faults_heal(struct faults *f);

/** Let go of the timer. */
void faults_close(struct faults *f);

/** How many so far, of every kind. */
uint64_t faults_done(const struct faults *f);

/** How many of each kind, on which targets. */
void faults_print(const struct faults *f, FILE *out);

#endif
