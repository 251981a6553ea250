#include <criterion/criterion.h>

#include "base/histogram.h"

/* Every value up to a million lands within 1/32 of itself. */
Test(histogram, is_right_to_its_width)
{
	for (uint64_t v = 0; v < 1000000; v += 37) {
		struct histogram h = { 0 };
		uint64_t p;

		histogram_add(&h, v);
		histogram_add(&h, UINT64_C(1) << 38);
		p = histogram_percentile(&h, 0.5);
		cr_assert(p >= v && p <= v + v / 32, "%lu is told as %lu",
			  (unsigned long)v, (unsigned long)p);
	}
}

Test(histogram, percentiles_of_a_ramp)
{
	struct histogram h = { 0 };

	for (uint64_t v = 1; v <= 1000; v++) {
		histogram_add(&h, v);
	}
	cr_assert_eq(h.max, 1000);
	cr_assert_eq(histogram_percentile(&h, 1), 1000);
	cr_assert(histogram_percentile(&h, 0.5) >= 500);
	cr_assert(histogram_percentile(&h, 0.5) <= 516);
	cr_assert(histogram_percentile(&h, 0.99) >= 990);
}

Test(histogram, the_largest_value_is_counted)
{
	struct histogram h = { 0 };

	cr_assert_eq(histogram_percentile(&h, 0.5), 0);
	histogram_add(&h, UINT64_MAX);
	cr_assert_eq(h.total, 1);
	cr_assert_eq(h.max, UINT64_MAX);
}
