#include "plan/allocate.h"

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What one share of rest may be, so that left - 1 shares within bounds remain
 * possible. */
struct range {
	int64_t lo;
	int64_t hi;
};

static struct range range_of(int64_t rest, int64_t left, int64_t min,
			     int64_t max)
{
	int64_t others = left - 1;
	struct range r = { .lo = min };

	/* Divided rather than multiplied: others * max may not fit. */
	if (others == 0) {
		r.lo = rest;
	} else if (max <= rest / others && rest - others * max > min) {
		r.lo = rest - others * max;
	}
	r.hi = smaller(max, rest - others * min);
	return r;
}

static int64_t draw(struct numbers *n, struct range r)
{
	return r.lo + (int64_t)numbers_below(n, (uint64_t)(r.hi - r.lo) + 1);
}

static int64_t double_mean(struct numbers *n, struct range r, int64_t mean,
			   int64_t min)
{
	r.hi = smaller(r.hi, 2 * mean - min);
	if (r.hi < r.lo) {
		r.hi = r.lo;
	}
	return draw(n, r);
}

/* How far from the mean a share may be, below as above. */
static int64_t half_of(struct range r, int64_t mean)
{
	return smaller(mean - r.lo, r.hi - mean);
}

/* Where that is nothing. */
static int64_t nearest(struct range r, int64_t mean)
{
	return r.lo > mean ? r.lo : mean;
}

/* As far below the mean as above it: four uniform parts of that range. */
static int64_t normal(struct numbers *n, struct range r, int64_t mean)
{
	int64_t half = half_of(r, mean);
	int64_t share;

	if (half <= 0) {
		return nearest(r, mean);
	}
	share = mean - half;
	for (int64_t j = 0; j < 4; j++) {
		share += (int64_t)numbers_below(
			n, (uint64_t)((2 * half + j) / 4) + 1);
	}
	return share;
}

/* One share after the other; the last is what was left. */
static void in_turn(struct numbers *n, const struct allocate_rule *rule,
		    int64_t max, int64_t *amounts)
{
	int64_t min = rule->min_cents;
	int64_t rest = rule->total_cents;

	for (uint64_t i = 0; i < rule->count; i++) {
		int64_t left = (int64_t)(rule->count - i);
		struct range r = range_of(rest, left, min, max);

		switch (rule->algorithm) {
		case ALLOCATE_UNIFORM:
			amounts[i] = draw(n, r);
			break;
		case ALLOCATE_NORMAL:
			amounts[i] = normal(n, r, rest / left);
			break;
		default:
			amounts[i] = double_mean(n, r, rest / left, min);
			break;
		}
		rest -= amounts[i];
	}
}

/* As far below the mean as above it, so that no place has a better one: what a
 * list gets from the shuffle. */
static int64_t live_share(const uint8_t place[NUMBERS_DRAW], struct range r,
			  int64_t mean)
{
	int64_t half = half_of(r, mean);

	if (half <= 0) {
		return nearest(r, mean);
	}
	return mean - half +
	       (int64_t)numbers_scaled(place, 2 * (uint64_t)half + 1);
}

/* What lua/live.lua does, place after place. */
static void live(struct numbers *n, const struct allocate_rule *rule,
		 int64_t max, int64_t *amounts)
{
	int64_t rest = rule->total_cents;

	for (uint64_t i = 0; i < rule->count; i++) {
		int64_t left = (int64_t)(rule->count - i);

		amounts[i] =
			live_share(numbers_draw(n),
				   range_of(rest, left, rule->min_cents, max),
				   rest / left);
		rest -= amounts[i];
	}
}

static void equal(const struct allocate_rule *rule, int64_t *amounts)
{
	int64_t share = rule->total_cents / (int64_t)rule->count;
	uint64_t more = (uint64_t)rule->total_cents % rule->count;

	for (uint64_t i = 0; i < rule->count; i++) {
		amounts[i] = share + (i < more);
	}
}

static void tiers(const struct allocate_rule *rule, int64_t *amounts)
{
	for (size_t t = 0; t < rule->tier_count; t++) {
		for (uint64_t i = 0; i < rule->tiers[t].count; i++) {
			*amounts++ = rule->tiers[t].amount_cents;
		}
	}
}

static void shuffle(struct numbers *n, uint64_t count, int64_t *amounts)
{
	for (uint64_t i = count - 1; i > 0; i--) {
		uint64_t j = numbers_below(n, i + 1);
		int64_t kept = amounts[i];

		amounts[i] = amounts[j];
		amounts[j] = kept;
	}
}

/* Nobody gets anything of a split that is not exact. */
static void prove(const struct allocate_rule *rule, int64_t max,
		  const int64_t *amounts)
{
	int64_t rest = rule->total_cents;

	for (uint64_t i = 0; i < rule->count; i++) {
		check(amounts[i] >= rule->min_cents && amounts[i] <= max &&
		      amounts[i] <= rest);
		rest -= amounts[i];
	}
	check(rest == 0);
}

/* All at once, for a list. */
static void split(struct numbers *n, const struct allocate_rule *rule,
		  int64_t max, int64_t *amounts)
{
	switch (rule->algorithm) {
	case ALLOCATE_LINE_CUT:
		allocate_line_cut(n, rule, max, amounts);
		break;
	case ALLOCATE_EQUAL:
		equal(rule, amounts);
		break;
	case ALLOCATE_TIERS:
		tiers(rule, amounts);
		break;
	default:
		in_turn(n, rule, max, amounts);
		break;
	}
	shuffle(n, rule->count, amounts);
}

void allocate(const uint8_t seed[ALLOCATE_SEED],
	      const struct allocate_rule *rule, int64_t *amounts)
{
	int64_t max =
		rule->max_cents != 0 ? rule->max_cents : rule->total_cents;
	char why[ALLOCATE_WHY];
	struct numbers n;

	check(rule->algorithm != ALLOCATE_ADOPTED);
	check(allocate_possible(rule, why));
	numbers_init(&n, seed);
	if (rule->live) {
		live(&n, rule, max, amounts);
	} else {
		split(&n, rule, max, amounts);
	}
	numbers_close(&n);
	prove(rule, max, amounts);
}
