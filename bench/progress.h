/**
 * How it goes, once a second on standard error: a line that is written over on
 * a terminal, else a line each time.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include "bench/team.h"

struct progress {
	const struct options *options;
	bool terminal;
	bool shown;       /* there is a line to be ended */
	uint64_t answers; /* at the last look */
	uint64_t then_us; /* when that was */
};

/** Begin; nothing is shown with --quiet. */
void progress_init(struct progress *p, const struct options *o);

/** The first tap leaves now. */
void progress_began(struct progress *p);

/** Show how it goes. */
void progress_show(struct progress *p, const struct bench *b,
		   struct team *teams);

/** Leave the terminal as it was. */
void progress_end(struct progress *p);

#endif
