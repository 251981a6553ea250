#include "base/histogram.h"

#include <math.h>

#include "base/check.h"

enum { PARTS_BITS = 10 };

_Static_assert(1 << PARTS_BITS == HISTOGRAM_PARTS, "a row is so long");

/* Values below HISTOGRAM_PARTS have a bucket each; above, the position of the
 * highest bit chooses the row and the bits below it the place in the row. */
static unsigned bucket_of(uint64_t us)
{
	unsigned row;

	if (us < HISTOGRAM_PARTS) {
		return (unsigned)us;
	}
	row = 63U - (unsigned)__builtin_clzll(us) - PARTS_BITS;
	return (row + 1) * HISTOGRAM_PARTS +
	       (unsigned)((us >> row) - HISTOGRAM_PARTS);
}

uint64_t histogram_bucket_end(unsigned bucket)
{
	unsigned row = bucket / HISTOGRAM_PARTS;
	uint64_t part = bucket % HISTOGRAM_PARTS;

	check(bucket < HISTOGRAM_BUCKETS);
	if (row == 0) {
		return part;
	}
	return ((HISTOGRAM_PARTS + part + 1) << (row - 1)) - 1;
}

void histogram_add(struct histogram *h, uint64_t us)
{
	unsigned bucket = bucket_of(us);

	if (bucket >= HISTOGRAM_BUCKETS) {
		bucket = HISTOGRAM_BUCKETS - 1;
	}
	h->counts[bucket]++;
	h->total++;
	if (us > h->max) {
		h->max = us;
	}
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		h->counts[i] += other->counts[i];
	}
	h->total += other->total;
	if (other->max > h->max) {
		h->max = other->max;
	}
}

uint64_t histogram_percentile(const struct histogram *h, double fraction)
{
	/* 0.07 of 100 is 7, and not more by an error of the last bit. */
	double wanted = fraction * (double)h->total * (1 - 1e-12);
	uint64_t seen = 0;

	check(fraction >= 0 && fraction <= 1);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->counts[i];
		if (seen > 0 && (double)seen >= wanted) {
			uint64_t end = histogram_bucket_end(i);

			return end < h->max ? end : h->max;
		}
	}
	return h->max;
}

/* The mean of (value - from)^power. */
static double moment(const struct histogram *h, double from, int power)
{
	double sum = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && h->total > 0; i++) {
		double off = (double)histogram_bucket_end(i) - from;

		sum += (double)h->counts[i] * (power == 2 ? off * off : off);
	}
	return h->total > 0 ? sum / (double)h->total : 0;
}

double histogram_mean(const struct histogram *h)
{
	return moment(h, 0, 1);
}

double histogram_deviation(const struct histogram *h)
{
	return sqrt(moment(h, histogram_mean(h), 2));
}
