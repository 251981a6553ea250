/* Mode live has no shuffle: what each place gets, over 40,000 pots that are
 * always the same ones. The figures are those of docs/fairness.md, to their
 * last digit; beside them stand what theory says, and what another program
 * found with real numbers instead of cents, over 400,000 pots. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>

#include "plan/allocate.h"

enum { POTS = 40000, PLACES = 10, MANY = 100 };

/* What each place got. */
struct places {
	double mean[MANY];      /* in cents */
	double deviation[MANY]; /* likewise */
	double best[MANY];      /* percent of the pots; ties are divided */
};

static void add_best(const int64_t *shares, uint64_t count, double *best)
{
	int64_t most = 0;
	int ties = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (shares[i] > most) {
			most = shares[i];
			ties = 0;
		}
		ties += shares[i] == most;
	}
	for (uint64_t i = 0; i < count; i++) {
		best[i] += shares[i] == most ? 100.0 / ties / POTS : 0;
	}
}

static struct places drawn(int64_t total, uint64_t count, int64_t max)
{
	const struct allocate_rule rule = { .total_cents = total,
					    .count = count,
					    .min_cents = 1,
					    .max_cents = max,
					    .live = true };
	struct places p = { 0 };
	double squares[MANY] = { 0 };

	for (uint32_t pot = 0; pot < POTS; pot++) {
		uint8_t seed[ALLOCATE_SEED] = { 0 };
		int64_t shares[MANY];

		for (int i = 0; i < 4; i++) {
			seed[i] = (uint8_t)(pot >> (8 * i));
		}
		allocate(seed, &rule, shares);
		for (uint64_t i = 0; i < count; i++) {
			double x = (double)shares[i];

			p.mean[i] += x / POTS;
			squares[i] += x * x / POTS;
		}
		add_best(shares, count, p.best);
	}
	for (uint64_t i = 0; i < count; i++) {
		p.deviation[i] =
			sqrt(fmax(0, squares[i] - p.mean[i] * p.mean[i]));
	}
	return p;
}

/* As it is printed: with so many digits behind the point. */
static void is_printed(double got, double page, int digits, const char *what,
		       size_t i)
{
	cr_expect(fabs(got - page) <= 0.5 * pow(10, -digits) + 1e-9,
		  "%s %zu: %.4f, and %.*f on the page", what, i + 1, got,
		  digits, page);
}

static const struct {
	double mean;
	double deviation;
	double best;
	double best_elsewhere;
} page[PLACES] = {
	{ 10.02, 5.75, 9.9, 10.0 },  { 9.97, 5.79, 9.2, 9.4 },
	{ 9.99, 5.89, 9.3, 9.05 },   { 9.98, 5.97, 9.0, 8.9 },
	{ 10.01, 6.07, 8.9, 8.9 },   { 9.97, 6.17, 8.9, 9.1 },
	{ 10.01, 6.44, 9.8, 9.7 },   { 10.02, 6.82, 10.7, 10.7 },
	{ 10.07, 7.73, 12.5, 12.1 }, { 9.95, 7.61, 12.0, 12.1 },
};

/* The square of a share has the mean 4/3 of that of M, the mean of what is left
 * (the last one's, M is its share); and after it, with j packets left, that of
 * M is 1 + 1 / (3 j^2) of what it was. */
Test(allocate_places, live_no_mean_is_better_but_the_last_vary_more)
{
	const struct places p = drawn(10000, PLACES, 0);
	double square = 1000.0 * 1000.0;
	double chi = 0;

	for (size_t i = 0; i < PLACES; i++) {
		double j = (double)(PLACES - 1 - i);
		double share = j > 0 ? square * 4 / 3 : square;
		double expected = sqrt(share - 1000.0 * 1000.0);

		is_printed(p.mean[i] / 100, page[i].mean, 2, "mean", i);
		is_printed(p.deviation[i] / 100, page[i].deviation, 2,
			   "deviation", i);
		is_printed(p.best[i], page[i].best, 1, "best", i);
		cr_expect(fabs(p.mean[i] / 1000 - 1) < 0.01, "%zu: %f", i,
			  p.mean[i]);
		cr_expect(fabs(p.deviation[i] / expected - 1) < 0.01,
			  "%zu: %f, not %f", i, p.deviation[i], expected);
		cr_expect(fabs(p.best[i] - page[i].best_elsewhere) < 0.5,
			  "%zu: %f", i, p.best[i]);
		square *= 1 + (j > 0 ? 1 / (3 * j * j) : 0);
		chi += (p.best[i] - 10) * (p.best[i] - 10) / 10 / 100 * POTS;
	}
	/* Nothing that chance would do: 33.7 once in 10,000 times. */
	cr_expect(chi > 10 * 33.7, "%f", chi);
}

/* However many there are, each of the last two is the best of all as often. */
Test(allocate_places, live_the_last_two_of_many_are_often_the_best)
{
	const struct places p = drawn(100000, MANY, 0);
	double last_ten = 0;

	for (size_t i = MANY - 10; i < MANY; i++) {
		last_ten += p.best[i];
	}
	is_printed(last_ten, 43, 0, "best from", MANY - 10);
	is_printed(p.best[0], 0.7, 1, "best", 0);
	is_printed(p.best[49], 0.5, 1, "best", 49);
	is_printed(p.best[MANY - 2], 8.2, 1, "best", MANY - 2);
	is_printed(p.best[MANY - 1], 8.2, 1, "best", MANY - 1);
	is_printed(p.deviation[0] / 100, 5.75, 2, "deviation", 0);
	is_printed(p.deviation[MANY - 1] / 100, 8.06, 2, "deviation", MANY - 1);
	/* sqrt(sinh(x) / x - 1) of x = pi / sqrt(3): of endlessly many. */
	cr_expect(fabs(p.deviation[MANY - 1] / 803.7 - 1) < 0.01, "%f",
		  p.deviation[MANY - 1]);
}

/* A maximum cuts as much below the mean as above it: the spread is less, and no
 * place has a better mean. */
Test(allocate_places, live_a_maximum_is_good_for_no_place)
{
	static const struct {
		int64_t max;
		double first, last; /* their deviations */
	} pages[] = { { 1200, 1.15, 1.53 }, { 2000, 5.75, 5.46 } };

	for (size_t m = 0; m < sizeof(pages) / sizeof(pages[0]); m++) {
		const struct places p = drawn(10000, PLACES, pages[m].max);

		for (size_t i = 0; i < PLACES; i++) {
			cr_expect(fabs(p.mean[i] / 1000 - 1) < 0.01, "%zu: %f",
				  i, p.mean[i]);
		}
		is_printed(p.deviation[0] / 100, pages[m].first, 2, "deviation",
			   0);
		is_printed(p.deviation[PLACES - 1] / 100, pages[m].last, 2,
			   "deviation", PLACES - 1);
	}
}

/* A mean is rounded down for whoever draws, and what that leaves goes to those
 * behind. The bounds are the page's. */
Test(allocate_places, live_odd_cents_are_for_late_places)
{
	static const int64_t totals[] = { 10, 11, 15, 19, 25, 31, 109, 1009 };

	for (size_t t = 0; t < sizeof(totals) / sizeof(totals[0]); t++) {
		const struct places p = drawn(totals[t], PLACES, 0);
		double part = (double)totals[t] / PLACES;
		double more = 0;

		for (int i = 0; i < PLACES; i++) {
			double chance = 4 * p.deviation[i] / sqrt(POTS) + 1e-9;

			cr_expect(p.mean[i] > part - 1 - chance,
				  "%" PRId64 ", %d: %f", totals[t], i,
				  p.mean[i]);
			cr_expect(p.mean[i] < part + more + chance,
				  "%" PRId64 ", %d: %f", totals[t], i,
				  p.mean[i]);
			more += i < PLACES - 1 ? 1.0 / (PLACES - 1 - i) : 0;
		}
		/* The one cent that is more than a cent each. */
		if (totals[t] == 11) {
			cr_expect(fabs(p.mean[PLACES - 1] - 2) < 1e-6);
		}
		if (totals[t] == 15) {
			is_printed(p.mean[0], 1.00, 2, "mean", 0);
			is_printed(p.mean[PLACES - 1], 2.48, 2, "mean",
				   PLACES - 1);
		}
	}
}
