/* What a plan would do: figures, buckets, odds by place and times, against
 * values computed by hand or by another program. */
#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "console/forecast.h"

/* Floating point that went another way differs in the last digits. */
static void near(double got, double wanted)
{
	cr_assert(fabs(got - wanted) <= 1e-12 * (fabs(wanted) + 1),
		  "%.17g, not %.17g", got, wanted);
}

Test(forecast, equal_amounts_differ_by_nothing)
{
	static const int64_t ones[] = { 1, 1, 1, 1 };
	static const int64_t most[] = { AMOUNT_MAX_CENTS, AMOUNT_MAX_CENTS,
					AMOUNT_MAX_CENTS };
	double f[FORECAST_FIGURES];

	forecast_figures(ones, 4, f);
	cr_assert_eq(f[FORECAST_GINI], 0);
	cr_assert_eq(f[FORECAST_DEVIATION], 0);
	cr_assert_eq(f[FORECAST_VARIATION], 0);
	cr_assert_eq(f[FORECAST_MEAN], 1);
	forecast_figures(most, 3, f);
	cr_assert_eq(f[FORECAST_GINI], 0);
	cr_assert_eq(f[FORECAST_DEVIATION], 0);
	cr_assert_eq(f[FORECAST_LARGEST], 9007199254740991.0);
}

Test(forecast, figures_of_a_ramp)
{
	static const int64_t v[] = { 1, 2, 3, 4 };
	double f[FORECAST_FIGURES];

	forecast_figures(v, 4, f);
	near(f[FORECAST_SMALLEST], 1);
	near(f[FORECAST_LARGEST], 4);
	near(f[FORECAST_MEDIAN], 2.5);
	near(f[FORECAST_MEAN], 2.5);
	near(f[FORECAST_DEVIATION], 1.118033988749895);
	near(f[FORECAST_VARIATION], 0.4472135954999579);
	near(f[FORECAST_GINI], 0.25);
	forecast_figures(v, 3, f);
	near(f[FORECAST_MEDIAN], 2);
}

Test(forecast, figures_when_one_has_nearly_all)
{
	static const int64_t v[] = { 1, 1, 1, 97 };
	static const int64_t alone[] = { 8888 };
	double f[FORECAST_FIGURES];

	forecast_figures(v, 4, f);
	near(f[FORECAST_MEDIAN], 1);
	near(f[FORECAST_MEAN], 25);
	near(f[FORECAST_DEVIATION], 41.569219381653056);
	near(f[FORECAST_GINI], 0.72);
	forecast_figures(alone, 1, f);
	near(f[FORECAST_MEDIAN], 8888);
	near(f[FORECAST_GINI], 0);
}

static void expect_bucket(const struct forecast_histogram *h, size_t i,
			  int64_t from, int64_t to, uint64_t packets)
{
	const struct forecast_bucket *b = &h->buckets[i];

	cr_assert(i < h->count && b->from_cents == from && b->to_cents == to &&
			  b->packets == packets,
		  "bucket %zu of %zu: %ld to %ld: %lu", i, h->count,
		  (long)b->from_cents, (long)b->to_cents,
		  (unsigned long)b->packets);
}

Test(forecast, few_amounts_have_a_bucket_each)
{
	static const int64_t v[] = { 5, 5, 5, 700, 90000 };
	struct forecast_histogram h;

	forecast_histogram(v, 5, &h);
	cr_assert_eq(h.scale, FORECAST_VALUES);
	cr_assert_eq(h.count, 3);
	expect_bucket(&h, 0, 5, 5, 3);
	expect_bucket(&h, 1, 700, 700, 1);
	expect_bucket(&h, 2, 90000, 90000, 1);
}

Test(forecast, an_even_spread_has_buckets_of_one_width)
{
	struct forecast_histogram h;
	int64_t v[100];

	for (int i = 0; i < 100; i++) {
		v[i] = i + 1;
	}
	forecast_histogram(v, 100, &h);
	cr_assert_eq(h.scale, FORECAST_LINEAR);
	cr_assert_eq(h.count, 11);
	expect_bucket(&h, 0, 1, 9, 9); /* no packet has nothing */
	expect_bucket(&h, 1, 10, 19, 10);
	expect_bucket(&h, 9, 90, 99, 10);
	expect_bucket(&h, 10, 100, 109, 1);
	for (int i = 0; i < 100; i++) {
		v[i] += 1000000000;
	}
	forecast_histogram(v, 100, &h);
	cr_assert_eq(h.count, 11);
	expect_bucket(&h, 0, 1000000000, 1000000009, 9);
	expect_bucket(&h, 10, 1000000100, 1000000109, 1);
}

Test(forecast, a_long_tail_has_wider_and_wider_buckets)
{
	struct forecast_histogram h;
	int64_t v[100];

	/* Of 1 to 13, 60, and one of 10,000: linear, 99 in one bucket. */
	for (int i = 0; i < 99; i++) {
		v[i] = i < 13 ? i + 1 : 60;
	}
	v[99] = 10000;
	forecast_histogram(v, 100, &h);
	cr_assert_eq(h.scale, FORECAST_LOG);
	cr_assert_eq(h.count, 13);
	expect_bucket(&h, 0, 1, 1, 1);
	expect_bucket(&h, 1, 2, 4, 3);
	expect_bucket(&h, 2, 5, 9, 5);
	expect_bucket(&h, 3, 10, 19, 4);
	expect_bucket(&h, 4, 20, 49, 0);
	expect_bucket(&h, 5, 50, 99, 86);
	expect_bucket(&h, 12, 10000, 19999, 1);
	/* The widest that there can be: by decades. */
	v[99] = AMOUNT_MAX_CENTS;
	forecast_histogram(v, 100, &h);
	cr_assert_eq(h.scale, FORECAST_LOG);
	cr_assert_eq(h.count, 16);
	expect_bucket(&h, 0, 1, 9, 9);
	expect_bucket(&h, 1, 10, 99, 90);
	expect_bucket(&h, 15, INT64_C(1000000000000000), AMOUNT_MAX_CENTS, 1);
}

Test(forecast, round_numbers)
{
	static const int64_t expected[] = { 1, 2, 5, 10, 20, 50, 100, 200 };
	int64_t x = 0;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		x = forecast_rounder(x);
		cr_assert_eq(x, expected[i]);
	}
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

Test(forecast, a_draw_is_sorted_in_place)
{
	enum { N = 5000 };
	static int64_t v[N], expected[N];
	struct forecast f;
	uint64_t x = 1;

	for (int i = 0; i < N; i++) {
		x = x * 6364136223846793005U + 1442695040888963407U;
		/* Of every size, and some more than once. */
		v[i] = 1 + (int64_t)(x >> 11) % (INT64_C(1) << (i % 53));
		expected[i] = v[i];
	}
	qsort(expected, N, sizeof(expected[0]), by_size);
	forecast_init(&f, N);
	forecast_add(&f, v);
	cr_assert_arr_eq(v, expected, sizeof(v));
}

Test(forecast, draws_add_up)
{
	int64_t first[] = { 4, 2, 3, 1 };
	int64_t second[] = { 1, 1, 1, 7 };
	struct forecast f;

	forecast_init(&f, 4);
	forecast_add(&f, first);
	forecast_add(&f, second);
	cr_assert_eq(f.draws, 2);
	near(f.first[FORECAST_LARGEST], 4);
	near(f.lowest[FORECAST_LARGEST], 4);
	near(f.highest[FORECAST_LARGEST], 7);
	near(forecast_mean(&f, FORECAST_LARGEST), 5.5);
	near(forecast_mean(&f, FORECAST_MEDIAN), 1.75);
	/* Of the second alone 0.45. */
	near(forecast_mean(&f, FORECAST_GINI), 0.35);
	near(f.highest[FORECAST_GINI], 0.45);
	/* The first draw's. */
	cr_assert_eq(f.histogram.count, 4);
	/* Places 1 and 4 of 4. */
	cr_assert_eq(f.parts, 4);
	near(forecast_best(&f, 0), 0.5);
	near(forecast_best(&f, 1), 0);
	near(forecast_best(&f, 3), 0.5);
	/* sqrt(1/4 * 3/4 / 2) */
	near(forecast_best_error(&f), 0.30618621784789724);
}

Test(forecast, the_best_by_tenths_of_the_places)
{
	int64_t v[20];
	struct forecast f;

	forecast_init(&f, 20);
	for (int i = 0; i < 20; i++) {
		v[i] = 1;
	}
	v[0] = v[18] = v[19] = 9; /* equally good */
	v[5] = 8;
	forecast_add(&f, v);
	cr_assert_eq(f.parts, 10);
	near(forecast_best(&f, 0), 1.0 / 3);
	near(forecast_best(&f, 2), 0);
	near(forecast_best(&f, 9), 2.0 / 3);
	near(forecast_best_error(&f), 0.3);
}

/* Of 15 places the tenths have 2, 1, 2, 1, ...: each counts as if it had 1.5. */
Test(forecast, parts_of_different_size)
{
	int64_t v[15], w[15];
	struct forecast f;

	forecast_init(&f, 15);
	for (int i = 0; i < 15; i++) {
		v[i] = w[i] = 1;
	}
	v[1] = 2;
	w[2] = 2;
	forecast_add(&f, v);
	forecast_add(&f, w);
	near(forecast_best(&f, 0), 0.5 * 1.5 / 2);
	near(forecast_best(&f, 1), 0.5 * 1.5);
	near(forecast_best(&f, 2), 0);
	/* sqrt(1/15 * 14/15 / 2) * 1.5 */
	near(forecast_best_error(&f), 0.26457513110645908);
}

Test(forecast, when_it_is_sold_out)
{
	double s;

	cr_assert(forecast_sold_out(1, 1, 1, &s));
	near(s, 1);
	/* The first at once in half a second, the other needs a whole one. */
	cr_assert(forecast_sold_out(2, 2, 2, &s));
	near(s, 1.5);
	cr_assert(forecast_sold_out(1, 1000000, 10, &s));
	near(s, 0.1);
	cr_assert(forecast_sold_out(20000, 60000, 60000, &s));
	cr_assert(fabs(s - 0.405460941451) < 1e-9, "%.12f", s);
	cr_assert(forecast_sold_out(20000, 60000, 6000, &s));
	cr_assert(fabs(s - 4.05460941451) < 1e-9);
}

/* Of four packets in 8 s one is free at 0, 2, 4 and 6 s. */
Test(forecast, when_the_last_is_free)
{
	near(forecast_last_free(4, 100, 8), 6);
	near(forecast_last_free(4, 4, 8), 6);
	near(forecast_last_free(4, 3, 8), 4);
	near(forecast_last_free(4, 1, 8), 0);
	near(forecast_last_free(1, 5, 8), 0);
	near(forecast_last_free(4, 100, 0), 0);
}

Test(forecast, fewer_people_than_packets)
{
	double s;

	cr_assert_not(forecast_sold_out(3, 2, 4, &s));
	near(s, 0.75);
	near(forecast_win(3, 2), 1);
	near(forecast_win(2, 2), 1);
	near(forecast_win(1, 3), 1.0 / 3);
}
