/**
 * Durations counted in buckets of bounded relative width: every power of two
 * is cut into 1,024 equal parts, so a percentile is right to 0.1 %, and below
 * 2 ms to the microsecond.
 *
 * The idea is that of HdrHistogram (with three significant digits); 64-bit
 * microseconds, no allocation, 256 KiB each.
 */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_PARTS = 1024, HISTOGRAM_BUCKETS = 32 * HISTOGRAM_PARTS };

struct histogram {
	uint64_t counts[HISTOGRAM_BUCKETS];
	uint64_t total; /* samples */
	uint64_t max;   /* the largest sample, exactly */
};

/** Count one sample, in microseconds; above 2^41 it counts as that. */
void histogram_add(struct histogram *h, uint64_t us);

/** Count all samples of other, too. */
void histogram_merge(struct histogram *h, const struct histogram *other);

/** The value that `fraction` (0 to 1) of the samples do not exceed: the upper
 * end of its bucket, never above max; 0 without samples. */
uint64_t histogram_percentile(const struct histogram *h, double fraction);

/** The mean and the standard deviation of the samples, each taken for the
 * upper end of its bucket; 0 without samples. */
double histogram_mean(const struct histogram *h);
double histogram_deviation(const struct histogram *h);

/** The largest value that counts in this bucket. */
uint64_t histogram_bucket_end(unsigned bucket);

#endif
