/* No place in the list is better than another: statistics over many pots of
 * 100.00 in 10 packets, always the same ones. The same shares in the order in
 * which they are drawn fail them: see what the shuffle is for.
 *
 * Places are judged by the mean of what they get, by the chance to have the
 * best packet (of several best ones each counts as its part), and by where the
 * first and the last share that was drawn come to lie. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdlib.h>

#include "plan/allocate.h"

enum { PLACES = 10, IN_ORDER = 40000 };

/* What chi-square with 9 degrees of freedom exceeds once in 10,000 times. */
static const double chi_square_rare = 33.72;

/* How many pots are drawn: at least 40,000, and so many that four standard
 * errors of a place's mean are below 1 %. That is 400^2 times the square of a
 * packet's deviation, which as a part of the mean is 0.65 of double_mean, 0.9
 * of line_cut, 0.32 of normal and 0.69 of the tiers below. uniform's is 2.0:
 * with 40,000 pots its means would be off by 1 % in one of three cases, however
 * fair it is. */
struct pots {
	int count;
	struct allocate_rule rule;
};

#define RULE(name, total)                                                     \
	{                                                                     \
		.algorithm = (name), .total_cents = (total), .count = PLACES, \
		.min_cents = 1                                                \
	}

static struct pots all[] = {
	{ 80000, RULE(ALLOCATE_DOUBLE_MEAN, 10000) },
	{ 160000, RULE(ALLOCATE_LINE_CUT, 10000) },
	{ 650000, RULE(ALLOCATE_UNIFORM, 10000) },
	{ 40000, RULE(ALLOCATE_NORMAL, 10000) },
	/* Three have a cent more. */
	{ 40000, RULE(ALLOCATE_EQUAL, 10003) },
	{ 80000,
	  { .algorithm = ALLOCATE_TIERS,
	    .total_cents = 10000,
	    .count = PLACES,
	    .min_cents = 1,
	    .tier_count = 3,
	    .tiers = { { 3000, 1 }, { 1000, 4 }, { 600, 5 } } } },
};

enum { ALL = sizeof(all) / sizeof(all[0]) };

static void seed_of(int pot, uint8_t seed[ALLOCATE_SEED])
{
	memset(seed, 0, ALLOCATE_SEED);
	for (int i = 0; i < 4; i++) {
		seed[i] = (uint8_t)(pot >> (8 * i));
	}
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* One share of what is left, as docs/fairness.md has it. */
static int64_t draw(struct numbers *n, enum allocate_algorithm algorithm,
		    int64_t rest, int64_t left)
{
	int64_t mean = rest / left;
	int64_t hi = rest - (left - 1);
	int64_t d = mean - 1 < hi - mean ? mean - 1 : hi - mean;
	int64_t share = mean - d;

	if (left == 1) {
		return rest;
	}
	if (algorithm == ALLOCATE_UNIFORM) {
		return 1 + (int64_t)numbers_below(n, (uint64_t)hi);
	}
	if (algorithm == ALLOCATE_DOUBLE_MEAN) {
		hi = hi < 2 * mean - 1 ? hi : 2 * mean - 1;
		return 1 + (int64_t)numbers_below(n, (uint64_t)hi);
	}
	for (int j = 0; j < 4; j++) {
		share += (int64_t)numbers_below(n,
						(uint64_t)(2 * d + j) / 4 + 1);
	}
	return share;
}

static void cut(struct numbers *n, int64_t total, int64_t shares[PLACES])
{
	int64_t cuts[PLACES + 1] = { 0 };

	for (int i = 1; i < PLACES; i++) {
		cuts[i] = (int64_t)numbers_below(n, (uint64_t)(total - PLACES) +
							    1);
	}
	cuts[PLACES] = total - PLACES;
	qsort(cuts, PLACES + 1, sizeof(cuts[0]), ascending);
	for (int i = 0; i < PLACES; i++) {
		shares[i] = cuts[i + 1] - cuts[i] + 1;
	}
}

/* The shares of a pot before the shuffle. */
static void in_order(const uint8_t seed[ALLOCATE_SEED],
		     const struct allocate_rule *rule, int64_t shares[PLACES])
{
	static const int64_t prizes[PLACES] = { 3000, 1000, 1000, 1000, 1000,
						600,  600,  600,  600,  600 };
	int64_t rest = rule->total_cents;
	struct numbers n;

	numbers_init(&n, seed);
	if (rule->algorithm == ALLOCATE_LINE_CUT) {
		cut(&n, rest, shares);
	} else {
		for (int i = 0; i < PLACES; i++) {
			shares[i] = rule->algorithm == ALLOCATE_TIERS
					    ? prizes[i]
				    : rule->algorithm == ALLOCATE_EQUAL
					    ? 1000 + (i < 3)
					    : draw(&n, rule->algorithm, rest,
						   PLACES - i);
			rest -= shares[i];
		}
	}
	numbers_close(&n);
}

/* What each place had. */
struct places {
	double pots;
	double sum[PLACES];
	double best[PLACES];
};

/* One counts, divided among the places that have this amount. */
static void divide(const int64_t shares[PLACES], int64_t amount,
		   double counts[PLACES])
{
	int ties = 0;

	for (int i = 0; i < PLACES; i++) {
		ties += shares[i] == amount;
	}
	for (int i = 0; i < PLACES; i++) {
		counts[i] += shares[i] == amount ? 1.0 / ties : 0;
	}
}

static void add(struct places *p, const int64_t shares[PLACES])
{
	int64_t best = 0;

	for (int i = 0; i < PLACES; i++) {
		p->sum[i] += (double)shares[i];
		best = shares[i] > best ? shares[i] : best;
	}
	divide(shares, best, p->best);
	p->pots++;
}

static double chi_square(const double counts[PLACES], double pots)
{
	double expected = pots / PLACES;
	double chi = 0;

	for (int i = 0; i < PLACES; i++) {
		chi += (counts[i] - expected) * (counts[i] - expected) /
		       expected;
	}
	return chi;
}

/* How far from its part of all the place is that is farthest. */
static double farthest(const double counts[PLACES], double part)
{
	double most = 0;

	for (int i = 0; i < PLACES; i++) {
		most = fmax(most, fabs(counts[i] / part - 1));
	}
	return most;
}

ParameterizedTestParameters(allocate_fair, every_place_is_as_good)
{
	return cr_make_param_array(struct pots, all, ALL);
}

ParameterizedTest(struct pots *pots, allocate_fair, every_place_is_as_good)
{
	const struct allocate_rule *rule = &pots->rule;
	const char *name = allocate_name(rule->algorithm);
	struct places p = { 0 };
	uint8_t seed[ALLOCATE_SEED];
	int64_t shares[PLACES];
	double mean_off, best_off;

	for (int i = 0; i < pots->count; i++) {
		seed_of(i, seed);
		allocate(seed, rule, shares);
		add(&p, shares);
	}
	mean_off = farthest(p.sum, p.pots * (double)rule->total_cents / PLACES);
	cr_expect(mean_off < 0.01, "%s: a mean is off by %.2f %%", name,
		  100 * mean_off);
	/* Half a point of ten. */
	best_off = farthest(p.best, p.pots / PLACES);
	cr_expect(best_off < 0.05, "%s: a chance is %.2f times its part off",
		  name, best_off);
	cr_expect(chi_square(p.best, p.pots) < chi_square_rare, "%s: %.1f",
		  name, chi_square(p.best, p.pots));
}

ParameterizedTestParameters(allocate_fair, a_share_may_come_anywhere)
{
	return cr_make_param_array(struct pots, all, ALL);
}

ParameterizedTest(struct pots *pots, allocate_fair, a_share_may_come_anywhere)
{
	const struct allocate_rule *rule = &pots->rule;
	const char *name = allocate_name(rule->algorithm);
	double first[PLACES] = { 0 }, last[PLACES] = { 0 };
	struct places unshuffled = { 0 };
	bool same = true;

	for (int i = 0; i < IN_ORDER; i++) {
		uint8_t seed[ALLOCATE_SEED];
		int64_t drawn[PLACES], shares[PLACES];

		seed_of(i, seed);
		in_order(seed, rule, drawn);
		allocate(seed, rule, shares);
		add(&unshuffled, drawn);
		divide(shares, drawn[0], first);
		divide(shares, drawn[PLACES - 1], last);
		qsort(drawn, PLACES, sizeof(drawn[0]), ascending);
		qsort(shares, PLACES, sizeof(shares[0]), ascending);
		same = same && memcmp(drawn, shares, sizeof(drawn)) == 0;
	}
	cr_assert(same, "%s: these are other shares", name);
	cr_expect(chi_square(first, IN_ORDER) < chi_square_rare, "%s: %.1f",
		  name, chi_square(first, IN_ORDER));
	cr_expect(chi_square(last, IN_ORDER) < chi_square_rare, "%s: %.1f",
		  name, chi_square(last, IN_ORDER));
	/* Without a shuffle it would not pass; but cuts favour no place. */
	if (rule->algorithm != ALLOCATE_LINE_CUT) {
		cr_expect(chi_square(unshuffled.best, IN_ORDER) >
				  10 * chi_square_rare,
			  "%s: %.1f", name,
			  chi_square(unshuffled.best, IN_ORDER));
	}
}

/* The first place of uniform would have half of everything. */
Test(allocate_fair, uniform_in_order_is_not_fair_at_all)
{
	const struct allocate_rule rule = RULE(ALLOCATE_UNIFORM, 10000);
	struct places p = { 0 };
	uint8_t seed[ALLOCATE_SEED];
	int64_t shares[PLACES];

	for (int i = 0; i < IN_ORDER; i++) {
		seed_of(i, seed);
		in_order(seed, &rule, shares);
		add(&p, shares);
	}
	cr_expect(fabs(p.sum[0] / p.pots - 4996) < 60, "%f", p.sum[0] / p.pots);
	cr_expect(p.sum[PLACES - 1] / p.pots < 25, "%f",
		  p.sum[PLACES - 1] / p.pots);
}
