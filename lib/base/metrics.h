/**
 * Metrics in the Prometheus text format 0.0.4. A metric is a static object
 * that its module registers once; updates are relaxed atomics, safe from any
 * thread. Labels are few and fixed: never a user or an activity id.
 *
 *   static struct metric grabs_won = METRIC_COUNTER(
 *       "rain_grabs_total", "Grabs by outcome", "outcome=\"won\"");
 *   metrics_register(&grabs_won);
 *   metric_add(&grabs_won, 1);
 *
 * Metrics of one family (same name) share kind and help; the page shows them
 * together, in whatever order they were registered. The last bucket of a
 * histogram is +Inf.
 */
#ifndef BASE_METRICS_H
#define BASE_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/buf.h"

enum metric_kind {
	METRIC_KIND_COUNTER,
	METRIC_KIND_GAUGE,
	METRIC_KIND_HISTOGRAM
};

enum { METRIC_BUCKETS = 16 };

struct metric {
	enum metric_kind kind;
	const char *name; /* with its unit: rain_grab_seconds */
	const char *help;
	const char *labels;    /* "a=\"b\",c=\"d\"", or "" */
	_Atomic int64_t value; /* counter, gauge */
	_Atomic uint64_t
		buckets[METRIC_BUCKETS]; /* histogram, not cumulative */
	_Atomic uint64_t sum;            /* histogram, in samples */
	double scale;   /* histogram: what one unit of a sample is worth */
	uint64_t first; /* histogram: bound of bucket 0, doubling on */
	struct metric *next;
};

#define METRIC_COUNTER(n, h, l)                                        \
	{                                                              \
		.kind = METRIC_KIND_COUNTER, .name = (n), .help = (h), \
		.labels = (l)                                          \
	}
#define METRIC_GAUGE(n, h, l)                                        \
	{                                                            \
		.kind = METRIC_KIND_GAUGE, .name = (n), .help = (h), \
		.labels = (l)                                        \
	}
/** Samples in microseconds, shown in seconds: buckets 0.5 ms, doubling. */
#define METRIC_SECONDS(n, h, l)                                          \
	{                                                                \
		.kind = METRIC_KIND_HISTOGRAM, .name = (n), .help = (h), \
		.labels = (l), .scale = 1e-6, .first = 500               \
	}
/** Samples that count things: buckets 1, doubling. */
#define METRIC_COUNTS(n, h, l)                                           \
	{                                                                \
		.kind = METRIC_KIND_HISTOGRAM, .name = (n), .help = (h), \
		.labels = (l), .scale = 1, .first = 1                    \
	}

/** Registering twice is a mistake of ours. m lives for ever. */
void metrics_register(struct metric *m);

/** Counter (n >= 0) or gauge. */
void metric_add(struct metric *m, int64_t n);
/** Gauge. */
void metric_set(struct metric *m, int64_t v);
/** Histogram; sample in units of scale: microseconds for METRIC_SECONDS. */
void metric_observe(struct metric *m, uint64_t sample);

/** Append the whole page, with the process_* metrics of this process. */
void metrics_render(struct buf *out);

#endif
