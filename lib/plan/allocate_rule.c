#include "plan/allocate.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const names[ALLOCATE_ADOPTED + 1] = {
	[ALLOCATE_DOUBLE_MEAN] = "double_mean",
	[ALLOCATE_LINE_CUT] = "line_cut",
	[ALLOCATE_EQUAL] = "equal",
	[ALLOCATE_TIERS] = "tiers",
	[ALLOCATE_UNIFORM] = "uniform",
	[ALLOCATE_NORMAL] = "normal",
	[ALLOCATE_ADOPTED] = "adopted",
};

const char *allocate_name(enum allocate_algorithm algorithm)
{
	check((unsigned)algorithm <= ALLOCATE_ADOPTED);
	return names[algorithm];
}

bool allocate_by_name(struct bytes name, enum allocate_algorithm *out)
{
	for (int i = 0; i <= ALLOCATE_ADOPTED; i++) {
		if (bytes_eq(name, bytes_str(names[i]))) {
			*out = (enum allocate_algorithm)i;
			return true;
		}
	}
	return false;
}

/* The bounds of one packet against each other and against the total. */
static void check_bounds(const struct allocate_rule *rule,
			 char why[ALLOCATE_WHY])
{
	int64_t total = rule->total_cents;
	int64_t count = (int64_t)rule->count;

	if (rule->min_cents < 1) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a minimum of %s: a packet has at least 0.01",
			       amount_text(rule->min_cents).text);
	} else if (rule->max_cents != 0 && rule->max_cents < rule->min_cents) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a maximum of %s is below the minimum of %s "
			       "(0 means no maximum)",
			       amount_text(rule->max_cents).text,
			       amount_text(rule->min_cents).text);
	} else if (rule->max_cents > AMOUNT_MAX_CENTS) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a maximum of %s: up to %s is allowed (0 means "
			       "no maximum)",
			       amount_text(rule->max_cents).text,
			       amount_text(AMOUNT_MAX_CENTS).text);
	} else if (rule->min_cents > total / count) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "%" PRId64 " packets of at least %s need more "
			       "than the total of %s",
			       count, amount_text(rule->min_cents).text,
			       amount_text(total).text);
	} else if (rule->max_cents != 0 &&
		   rule->max_cents < total / count + (total % count != 0)) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "%" PRId64 " packets of at most %s hold less "
			       "than the total of %s",
			       count, amount_text(rule->max_cents).text,
			       amount_text(total).text);
	}
}

static bool tier_fits(const struct allocate_rule *rule,
		      const struct allocate_tier *t, char why[ALLOCATE_WHY])
{
	if (t->count < 1 || t->count > ALLOCATE_COUNT_MAX) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a tier of %" PRIu64
			       " packets: 1 to %d are allowed",
			       t->count, ALLOCATE_COUNT_MAX);
	} else if (t->amount_cents < rule->min_cents ||
		   t->amount_cents > AMOUNT_MAX_CENTS ||
		   (rule->max_cents != 0 &&
		    t->amount_cents > rule->max_cents)) {
		(void)snprintf(
			why, ALLOCATE_WHY, "a tier of %s: %s to %s are allowed",
			amount_text(t->amount_cents).text,
			amount_text(rule->min_cents).text,
			amount_text(rule->max_cents != 0 ? rule->max_cents
							 : AMOUNT_MAX_CENTS)
				.text);
	}
	return why[0] == '\0';
}

/* Each tier, and that together they are the plan. */
static void check_tiers(const struct allocate_rule *rule,
			char why[ALLOCATE_WHY])
{
	int64_t cents = 0;
	uint64_t count = 0;

	if (rule->tier_count < 1 || rule->tier_count > ALLOCATE_TIERS_MAX) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "%zu tiers: 1 to %d are allowed",
			       rule->tier_count, ALLOCATE_TIERS_MAX);
		return;
	}
	for (size_t i = 0; i < rule->tier_count; i++) {
		const struct allocate_tier *t = &rule->tiers[i];

		if (!tier_fits(rule, t, why)) {
			return;
		}
		count += t->count;
		if (t->amount_cents >
		    (AMOUNT_MAX_CENTS - cents) / (int64_t)t->count) {
			(void)snprintf(why, ALLOCATE_WHY,
				       "the tiers hold more than %s",
				       amount_text(AMOUNT_MAX_CENTS).text);
			return;
		}
		cents += t->amount_cents * (int64_t)t->count;
	}
	if (count != rule->count || cents != rule->total_cents) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "the tiers have %" PRIu64
			       " packets with %s, the plan has %" PRIu64
			       " with %s",
			       count, amount_text(cents).text, rule->count,
			       amount_text(rule->total_cents).text);
	}
}

bool allocate_possible(const struct allocate_rule *rule, char why[ALLOCATE_WHY])
{
	why[0] = '\0';
	if (rule->count < 1 || rule->count > ALLOCATE_COUNT_MAX) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "%" PRIu64 " packets: 1 to %d are allowed",
			       rule->count, ALLOCATE_COUNT_MAX);
	} else if (rule->total_cents < 1 ||
		   rule->total_cents > AMOUNT_MAX_CENTS) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "a total of %s: 0.01 to %s are allowed",
			       amount_text(rule->total_cents).text,
			       amount_text(AMOUNT_MAX_CENTS).text);
	} else {
		check_bounds(rule, why);
	}
	if (why[0] == '\0' && rule->live &&
	    rule->algorithm != ALLOCATE_DOUBLE_MEAN) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "mode live with the algorithm %s: only "
			       "double_mean can be drawn while people grab",
			       allocate_name(rule->algorithm));
	}
	if (why[0] == '\0' && rule->algorithm == ALLOCATE_TIERS) {
		check_tiers(rule, why);
	} else if (why[0] == '\0' && rule->tier_count > 0) {
		(void)snprintf(why, ALLOCATE_WHY,
			       "tiers are for the algorithm tiers, not for %s",
			       allocate_name(rule->algorithm));
	}
	return why[0] == '\0';
}
