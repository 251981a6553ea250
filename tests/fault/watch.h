/**
 * What may not grow: the memory and open files of each process at the ends of
 * rounds, and the complaints in their logs.
 */
#ifndef TESTS_FAULT_WATCH_H
#define TESTS_FAULT_WATCH_H

#include "fault/world.h"

struct watch_sample {
	uint64_t rss_kib;
	uint64_t files;
};

/* Of the incarnation of a process that lives now. */
struct watch_process {
	unsigned starts;           /* which incarnation it is */
	unsigned rounds;           /* ends of rounds that it has seen */
	struct watch_sample first; /* at the first end of a round */
	struct watch_sample last;
	uint64_t errors; /* lines of its log at level error, ever */
};

struct watch {
	struct watch_process processes[PROCESS_COUNT];
};

/** At the end of a round: all is healed and nobody taps. Growth beyond the
 * bounds and complaints in logs are violations. */
void watch_round(struct watch *t, struct world *w);

/** Look for complaints of sanitizers and failed checks in the logs once more,
 * when all processes have ended. */
void watch_logs(struct watch *t, struct world *w);

/** A line per process. */
void watch_print(const struct watch *t, FILE *out);

#endif
