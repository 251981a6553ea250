/* A million random rules per algorithm, and for mode live, always the same
 * ones: what is possible is split to the cent and within its bounds, and what
 * is refused has no split. That is decided here once more, with numbers that
 * cannot overflow; so is every share that is drawn live. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <inttypes.h>
#include <stdio.h>

#include "lib/random_rule.h"
#include "lib/ways.h"

enum { RULES = 1000000, CAUSES_MAX = 80 };

__extension__ typedef __int128 wide;

/* As many shares of this amount as tiers say. */
static bool tier_kept(const struct allocate_rule *rule, const int64_t *shares,
		      int64_t amount)
{
	uint64_t there = 0, wanted = 0;

	for (uint64_t i = 0; i < rule->count; i++) {
		there += shares[i] == amount;
	}
	for (size_t t = 0; t < rule->tier_count; t++) {
		wanted += rule->tiers[t].amount_cents == amount
				  ? rule->tiers[t].count
				  : 0;
	}
	return there == wanted;
}

static bool kept(const struct allocate_rule *rule, const int64_t *shares)
{
	int64_t share = rule->total_cents / (int64_t)rule->count;
	wide sum = 0;
	bool ok = true;

	for (uint64_t i = 0; i < rule->count; i++) {
		ok = ok && shares[i] >= rule->min_cents &&
		     (rule->max_cents == 0 || shares[i] <= rule->max_cents) &&
		     (rule->algorithm != ALLOCATE_EQUAL || shares[i] == share ||
		      shares[i] == share + 1) &&
		     (rule->algorithm != ALLOCATE_TIERS ||
		      tier_kept(rule, shares, shares[i]));
		sum += shares[i];
	}
	return ok && sum == rule->total_cents;
}

static wide larger(wide a, wide b)
{
	return a > b ? a : b;
}

static wide smaller(wide a, wide b)
{
	return a < b ? a : b;
}

/* floor(draw * n / 2^96): all of it is 150 bits, so the half of 48 bits that
 * counts less comes first. */
static wide scaled(const uint8_t draw[NUMBERS_DRAW], wide n)
{
	wide high = 0, low = 0;

	for (int i = 0; i < NUMBERS_DRAW / 2; i++) {
		high = high * 256 + draw[i];
		low = low * 256 + draw[i + NUMBERS_DRAW / 2];
	}
	return (high * n + (low * n >> 48)) >> 48;
}

/* Each share is what docs/fairness.md says of its place. */
static bool drawn(const struct allocate_rule *rule,
		  const uint8_t seed[ALLOCATE_SEED], const int64_t *shares)
{
	static uint8_t draws[RANDOM_RULE_PACKETS][NUMBERS_DRAW];
	const wide min = rule->min_cents;
	const wide max =
		rule->max_cents != 0 ? rule->max_cents : rule->total_cents;
	wide rest = rule->total_cents;

	numbers_draws(seed, 0, rule->count, draws[0]);
	for (uint64_t i = 0; i < rule->count; i++) {
		wide left = (wide)(rule->count - i);
		wide lo = larger(min, rest - (left - 1) * max);
		wide hi = smaller(max, rest - (left - 1) * min);
		wide mean = rest / left;
		wide d = larger(0, smaller(mean - lo, hi - mean));
		wide share = d > 0 ? mean - d + scaled(draws[i], 2 * d + 1)
				   : larger(lo, mean);

		if (shares[i] != share) {
			return false;
		}
		rest -= shares[i];
	}
	return true;
}

/* Split it between two guards; every share is written, and nothing else. */
static bool splits(uint64_t *dice, const struct allocate_rule *rule)
{
	static const int64_t guard = -77;
	static int64_t memory[RANDOM_RULE_PACKETS + 2];
	uint8_t seed[ALLOCATE_SEED] = { 0 };
	uint64_t words[ALLOCATE_SEED / sizeof(uint64_t)];
	int64_t *shares = memory + 1;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		words[i] = random_rule_roll(dice);
	}
	memcpy(seed, words, sizeof(words));
	shares[-1] = guard;
	for (uint64_t i = 0; i <= rule->count; i++) {
		shares[i] = guard;
	}
	allocate(seed, rule, shares);
	return shares[-1] == guard && shares[rule->count] == guard &&
	       kept(rule, shares) && (!rule->live || drawn(rule, seed, shares));
}

#define THE_RULE                                                             \
	"%s, rule %d: %" PRId64 " in %" PRIu64 " of %" PRId64 " to %" PRId64 \
	", %zu tiers%s"
#define THE_RULE_OF(i, rule)                                      \
	allocate_name((rule).algorithm), (i), (rule).total_cents, \
		(rule).count, (rule).min_cents, (rule).max_cents, \
		(rule).tier_count, (rule).live ? ", live" : ""

ParameterizedTestParameters(allocate_many, a_split_is_exact)
{
	return cr_make_param_array(struct way, ways, WAYS);
}

ParameterizedTest(struct way *way, allocate_many, a_split_is_exact)
{
	uint64_t dice = 20260101;

	for (int i = 0; i < RULES; i++) {
		struct allocate_rule rule =
			random_rule_possible(&dice, way->algorithm);
		char why[ALLOCATE_WHY];

		rule.live = way->live;
		/* An assertion that holds takes its time too. */
		if (!allocate_possible(&rule, why)) {
			cr_assert_fail("%s; " THE_RULE, why,
				       THE_RULE_OF(i, rule));
		}
		if (!splits(&dice, &rule)) {
			cr_assert_fail(THE_RULE, THE_RULE_OF(i, rule));
		}
	}
}

/* A reason for which a rule has no split, and the numbers in question. */
struct cause {
	bool holds;
	char numbers[3][40];
};

static void put(char out[40], wide n)
{
	(void)snprintf(out, 40, "%" PRId64, (int64_t)n);
}

static void put_money(char out[40], wide cents)
{
	uint64_t size = (uint64_t)(cents < 0 ? -cents : cents);

	(void)snprintf(out, 40, "%s%" PRIu64 ".%02d", cents < 0 ? "-" : "",
		       size / 100, (int)(size % 100));
}

static struct cause of_money(bool holds, wide a, wide b)
{
	struct cause c = { .holds = holds };

	if (holds) {
		put_money(c.numbers[0], a);
		put_money(c.numbers[1], b);
	}
	return c;
}

static struct cause of_count(bool holds, wide n, wide a, wide b)
{
	struct cause c = of_money(holds, a, b);

	if (holds) {
		put(c.numbers[2], n);
	}
	return c;
}

static struct cause of_tier(uint64_t count)
{
	struct cause c = { .holds = count < 1 || count > ALLOCATE_COUNT_MAX };

	if (c.holds) {
		put(c.numbers[0], (wide)count);
	}
	return c;
}

static size_t tier_causes(const struct allocate_rule *rule, wide max,
			  struct cause *c)
{
	const wide least = rule->min_cents;
	size_t n = 0;
	wide count = 0, sum = 0;

	if (rule->tier_count < 1 || rule->tier_count > ALLOCATE_TIERS_MAX) {
		c[0] = (struct cause){ .holds = true };
		put(c[0].numbers[0], (wide)rule->tier_count);
		return 1;
	}
	for (size_t i = 0; i < rule->tier_count; i++) {
		const struct allocate_tier *t = &rule->tiers[i];

		c[n++] = of_tier(t->count);
		c[n++] = of_money(t->amount_cents < least ||
					  t->amount_cents > max,
				  t->amount_cents, least);
		count += t->count;
		sum += (wide)t->amount_cents * (wide)t->count;
	}
	c[n++] = of_money(sum > AMOUNT_MAX_CENTS, AMOUNT_MAX_CENTS,
			  AMOUNT_MAX_CENTS);
	c[n++] = of_count(sum <= AMOUNT_MAX_CENTS && sum != rule->total_cents,
			  count, sum, rule->total_cents);
	c[n] = (struct cause){ .holds = count != (wide)rule->count };
	put(c[n].numbers[0], count);
	put(c[n++].numbers[1], (wide)rule->count);
	return n;
}

/* All there are; returns how many. */
static size_t causes_of(const struct allocate_rule *rule,
			struct cause c[CAUSES_MAX])
{
	const wide count = rule->count, total = rule->total_cents;
	const wide min = rule->min_cents, max = rule->max_cents;
	bool tiers = rule->algorithm == ALLOCATE_TIERS;
	size_t n = 0;

	c[n] = (struct cause){ .holds = count < 1 ||
					count > ALLOCATE_COUNT_MAX };
	(void)snprintf(c[n++].numbers[0], 40, "%" PRIu64, rule->count);
	c[n++] = of_money(total < 1 || total > AMOUNT_MAX_CENTS, total,
			  AMOUNT_MAX_CENTS);
	c[n++] = of_money(min < 1, min, 1);
	c[n++] = of_money(max != 0 && max < min, max, min);
	c[n++] = of_money(max > AMOUNT_MAX_CENTS, max, AMOUNT_MAX_CENTS);
	c[n++] = of_count(count * min > total, count, min, total);
	c[n++] = of_count(max != 0 && count * max < total, count, max, total);
	c[n] = (struct cause){
		.holds = rule->live && rule->algorithm != ALLOCATE_DOUBLE_MEAN
	};
	(void)snprintf(c[n].numbers[0], 40, "mode live");
	(void)snprintf(c[n++].numbers[1], 40, "%s",
		       allocate_name(rule->algorithm));
	if (tiers) {
		return n + tier_causes(rule, max != 0 ? max : AMOUNT_MAX_CENTS,
				       c + n);
	}
	c[n] = (struct cause){ .holds = rule->tier_count > 0 };
	(void)snprintf(c[n++].numbers[0], 40, "%s",
		       allocate_name(rule->algorithm));
	return n;
}

/* Whether a cause holds; and whether why tells the numbers of one that does. */
static bool has_cause(const struct allocate_rule *rule, const char *why,
		      bool *told)
{
	struct cause c[CAUSES_MAX];
	size_t n = causes_of(rule, c);
	bool any = false;

	*told = false;
	for (size_t i = 0; i < n; i++) {
		any = any || c[i].holds;
		*told = *told ||
			(c[i].holds && strstr(why, c[i].numbers[0]) != NULL &&
			 strstr(why, c[i].numbers[1]) != NULL &&
			 strstr(why, c[i].numbers[2]) != NULL);
	}
	return any;
}

ParameterizedTestParameters(allocate_many, what_has_no_split_is_refused)
{
	return cr_make_param_array(struct way, ways, WAYS);
}

ParameterizedTest(struct way *way, allocate_many, what_has_no_split_is_refused)
{
	uint64_t dice = 20260102;
	int refused = 0;

	for (int i = 0; i < RULES; i++) {
		struct allocate_rule rule =
			random_rule_any(&dice, way->algorithm);
		char why[ALLOCATE_WHY];
		bool told, ok;

		rule.live = way->live;
		if (rule.live && random_rule_roll(&dice) % 16 == 0) {
			rule.algorithm =
				ways[random_rule_roll(&dice) % WAYS].algorithm;
		}
		ok = allocate_possible(&rule, why);
		if (ok == has_cause(&rule, why, &told) || (!ok && !told) ||
		    (ok && why[0] != '\0')) {
			cr_assert_fail("'%s' is wrong of " THE_RULE, why,
				       THE_RULE_OF(i, rule));
		}
		refused += !ok;
	}
	/* Neither answer is rare. */
	cr_assert(refused > RULES / 5 && refused < RULES / 5 * 4, "%d",
		  refused);
}
