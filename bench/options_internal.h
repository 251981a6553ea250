/**
 * What options.c (one option after the other) and options_check.c (whether they
 * go together) share.
 */
#ifndef BENCH_OPTIONS_INTERNAL_H
#define BENCH_OPTIONS_INTERNAL_H

#include "bench/options.h"

/* Options as they were given; what was not is not in it. */
struct given {
	const char *activities[ACTIVITIES_MAX];
	size_t activity_count;
	uint64_t pattern; /* --activities */
	bool front;
	bool echo;
	bool in_flight;
	bool duration;
};

/** Fill in what was not given, and say what does not go together: false with a
 * sentence in why. */
must_check bool options_settle(struct options *o, const struct given *g,
			       struct buf *why);

#endif
