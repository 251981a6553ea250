#include <inttypes.h>
#include <math.h>

#include "bench/report.h"

/* Lines between two halvings of what is left above: HdrHistogram's default. */
enum { TICKS = 5 };
/* Sums of fractions are wrong in the last bits. */
#define ROUNDING (1 - 1e-12)

/* The next fraction that gets a line. */
static double next_fraction(double fraction)
{
	double halvings = floor(log2(1 / (1 - fraction)));

	return fraction + 1 / (TICKS * pow(2, halvings + 1));
}

void report_hgrm(const struct histogram *h, FILE *out)
{
	double fraction = 0;
	uint64_t seen = 0;

	(void)fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile",
		      "TotalCount", "1/(1-Percentile)");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS && seen < h->total; i++) {
		uint64_t end = histogram_bucket_end(i);
		double ms = (double)(end < h->max ? end : h->max) / 1e3;

		if (h->counts[i] == 0) {
			continue;
		}
		seen += h->counts[i];
		while (seen < h->total &&
		       (double)seen >= fraction * (double)h->total * ROUNDING) {
			(void)fprintf(out,
				      "%12.3f %2.12f %10" PRIu64 " %14.2f\n",
				      ms, fraction, seen, 1 / (1 - fraction));
			fraction = next_fraction(fraction);
		}
	}
	if (h->total > 0) {
		(void)fprintf(out, "%12.3f %2.12f %10" PRIu64 " %14s\n",
			      (double)h->max / 1e3, 1.0, h->total, "inf");
	}
	(void)fprintf(out,
		      "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n"
		      "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n"
		      "#[Buckets = %12d, SubBuckets     = %12d]\n",
		      histogram_mean(h) / 1e3, histogram_deviation(h) / 1e3,
		      (double)h->max / 1e3, h->total,
		      HISTOGRAM_BUCKETS / HISTOGRAM_PARTS, 2 * HISTOGRAM_PARTS);
}
