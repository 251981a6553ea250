#include "base/histogram.h"

#include "base/check.h"

/* Values below 32 have a bucket each; above, the position of the highest bit
 * chooses the row and the five bits below it the place in the row. */
static unsigned bucket_of(uint64_t us)
{
	unsigned row;

	if (us < HISTOGRAM_PARTS) {
		return (unsigned)us;
	}
	row = 63U - (unsigned)__builtin_clzll(us) - 5U;
	return (row + 1) * HISTOGRAM_PARTS +
	       (unsigned)((us >> row) - HISTOGRAM_PARTS);
}

/* The largest value of a bucket. */
static uint64_t bucket_end(unsigned bucket)
{
	unsigned row = bucket / HISTOGRAM_PARTS;
	uint64_t part = bucket % HISTOGRAM_PARTS;

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

uint64_t histogram_percentile(const struct histogram *h, double fraction)
{
	double wanted = fraction * (double)h->total;
	uint64_t seen = 0;

	check(fraction >= 0 && fraction <= 1);
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->counts[i];
		if (seen > 0 && (double)seen >= wanted) {
			return bucket_end(i) < h->max ? bucket_end(i) : h->max;
		}
	}
	return h->max;
}
