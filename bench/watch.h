/**
 * What other processes use of the processors while it is measured: those that
 * were named, and all the rest, which should be nothing.
 */
#ifndef BENCH_WATCH_H
#define BENCH_WATCH_H

#include "bench/options.h"

struct watch_sample {
	uint64_t at_us;
	uint64_t busy_us; /* of all processors, in user space and system */
	uint64_t own_us;  /* of this process */
	uint64_t cpu_us[WATCH_MAX];
	bool gone[WATCH_MAX]; /* there is no such process any more */
};

/* What was used between two samples. */
struct watch {
	struct watch_sample from;
	struct watch_sample to;
};

/** Look now. */
void watch_look(const struct options *o, struct watch_sample *s);

/** CPU seconds of the process with this index; false if it has ended. */
bool watch_cpu_seconds(const struct watch *w, size_t index, double *seconds);

/** Processors used by whom nobody named and that are not we: 0.2 is a fifth of
 * one. False if the time was too short to know, the system counts in 10 ms. */
bool watch_others(const struct options *o, const struct watch *w,
		  double *processors);

#endif
