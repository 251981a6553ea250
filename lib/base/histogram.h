/**
 * Durations counted in buckets of bounded relative width: every power of two
 * is cut into 32 equal parts, so a percentile is right to about 3 %.
 *
 * The idea is that of HdrHistogram; 64-bit microseconds, no allocation.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_PARTS = 32, HISTOGRAM_BUCKETS = 40 * HISTOGRAM_PARTS };

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
	uint64_t total; /* samples */
	uint64_t max;   /* the largest sample, exactly */
};

/** Count one sample, in microseconds; above 2^39 it counts as that. */
void histogram_add(struct histogram *h, uint64_t us);

/** The value that `fraction` (0 to 1) of the samples do not exceed: the upper
 * end of its bucket, never above max; 0 without samples. */
uint64_t histogram_percentile(const struct histogram *h, double fraction);

#endif
