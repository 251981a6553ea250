/**
 * What rainbench tells: text for people, JSON for scripts, a file for plots.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench/options.h"
#include "bench/tally.h"
#include "bench/watch.h"

struct report {
	const struct options *options;
	const struct tally *tally; /* of all threads */
	uint64_t window_us;        /* how long was measured */
	uint64_t held;             /* connections that were up at the end */
	uint64_t refused;          /* --idle: that never came up */
	char refusal[200];   /* why the first connection or tap was refused */
	uint64_t unresolved; /* users who may have a packet and do not know */
	uint64_t front_max;  /* requests in flight that the gateway takes of a
				connection; 0: not known */
	const struct watch *watch;
	double cpu[THREADS_MAX]; /* of each thread, processors (0 to 1) */
};

enum { REPORT_WARNINGS_MAX = 12 };

/* What makes a result doubtful, a sentence each. */
struct warnings {
	char text[REPORT_WARNINGS_MAX][240];
	size_t count;
};

/** What there is to say against the result. */
void report_warnings(const struct report *r, struct warnings *w);

/** Events a second of the window; 0 without a window. */
double report_per_second(const struct report *r, uint64_t events);

/** A percentile in ms; false if there are too few samples to know it: one in
 * 10,000 is not known of 1,000. */
bool report_percentile(const struct histogram *h, double fraction, double *ms);

/** The name of a status, "?" if it has none. */
const char *report_status(int status);

/** All of it as one JSON object. */
void report_json(const struct report *r, FILE *out);

/** For people. */
void report_text(const struct report *r, FILE *out);

/** The percentiles of h in HdrHistogram's text format, in ms. */
void report_hgrm(const struct histogram *h, FILE *out);

/** 1234567 as "1,234,567"; returns out. */
const char *report_number(uint64_t n, char out[32]);

#endif
