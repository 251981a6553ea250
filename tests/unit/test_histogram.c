#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/histogram.h"

static struct histogram h;
static struct histogram other;

/* Every value up to a million lands within 1/1024 of itself. */
Test(histogram, is_right_to_its_width)
{
	for (uint64_t v = 0; v < 1000000; v += 997) {
		uint64_t p;

		memset(&h, 0, sizeof h);
		histogram_add(&h, v);
		histogram_add(&h, UINT64_C(1) << 38);
		p = histogram_percentile(&h, 0.5);
		cr_assert(p >= v && p <= v + v / 1024, "%lu is told as %lu",
			  (unsigned long)v, (unsigned long)p);
	}
}

Test(histogram, percentiles_of_a_ramp)
{
	for (uint64_t v = 1; v <= 1000; v++) {
		histogram_add(&h, v);
	}
	cr_assert_eq(h.max, 1000);
	cr_assert_eq(histogram_percentile(&h, 1), 1000);
	cr_assert_eq(histogram_percentile(&h, 0.5), 500);
	cr_assert_eq(histogram_percentile(&h, 0.99), 990);
	cr_assert_eq(histogram_percentile(&h, 0.999), 999);
	for (uint64_t v = 1; v <= 100; v++) {
		histogram_add(&other, v);
	}
	/* 0.07 * 100 is more than 7, in the last bit. */
	cr_assert_eq(histogram_percentile(&other, 0.07), 7);
}

Test(histogram, the_largest_value_is_counted)
{
	cr_assert_eq(histogram_percentile(&h, 0.5), 0);
	histogram_add(&h, UINT64_MAX);
	cr_assert_eq(h.total, 1);
	cr_assert_eq(h.max, UINT64_MAX);
}

/* 40, 44, 44, 44, 45, 45, 47, 59: mean 46, deviation 5.244. */
Test(histogram, mean_and_deviation)
{
	static const uint64_t v[] = { 40, 44, 44, 44, 45, 45, 47, 59 };

	cr_assert_eq(histogram_mean(&h), 0);
	cr_assert_eq(histogram_deviation(&h), 0);
	for (size_t i = 0; i < 8; i++) {
		histogram_add(i % 2 == 0 ? &h : &other, v[i]);
	}
	histogram_merge(&h, &other);
	cr_assert_eq(h.total, 8);
	cr_assert_eq(h.max, 59);
	cr_assert_eq(histogram_mean(&h), 46);
	cr_assert(fabs(histogram_deviation(&h) - sqrt(27.5)) < 1e-9);
	cr_assert_eq(histogram_percentile(&h, 0.5), 44);
}

/* Buckets follow one another without a gap. */
Test(histogram, buckets_cover_all)
{
	for (unsigned i = 1; i < HISTOGRAM_BUCKETS; i++) {
		memset(&h, 0, sizeof h);
		h.max = 0;
		histogram_add(&h, histogram_bucket_end(i - 1) + 1);
		cr_assert_eq(h.counts[i], 1, "bucket %u", i);
		i += i / 64; /* and not all of them */
	}
}
