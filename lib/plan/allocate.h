/**
 * Allocation: how a total is split into packets. A pure function of a seed and
 * a rule, in integers, so that anyone can recompute every packet.
 * docs/fairness.md describes each algorithm to the byte, with test vectors.
 *
 * An algorithm draws from the numbers of the seed (numbers.h), in order, and
 * after it the same numbers shuffle: for i = count - 1, ..., 1 share i and
 * share below(i + 1) change places. The shares in this order are packets
 * 1, 2, ... of the plan, so no place is better than another.
 *
 * A live rule has no list: lua/grab.lua draws each share as it is grabbed, from
 * the draw of its place, and there is nothing to shuffle. What it draws is what
 * allocate() says.
 */
#ifndef PLAN_ALLOCATE_H
#define PLAN_ALLOCATE_H

#include "base/amount.h"
#include "plan/numbers.h"

enum {
	ALLOCATE_SEED = NUMBERS_SEED,
	ALLOCATE_COUNT_MAX = 10000000,
	ALLOCATE_TIERS_MAX = 32,
	ALLOCATE_WHY = 256,
};

enum allocate_algorithm {
	ALLOCATE_DOUBLE_MEAN, /* each up to twice the mean of what is left */
	ALLOCATE_LINE_CUT,    /* count - 1 cuts anywhere on a line */
	ALLOCATE_EQUAL,       /* all the same, or a cent more */
	ALLOCATE_TIERS,       /* so many of each amount */
	ALLOCATE_UNIFORM,     /* anything of what is left: most for a few */
	ALLOCATE_NORMAL,      /* most near the mean */
	ALLOCATE_ALGORITHMS,  /* so many of them split */
	/* No split: somebody else has made the packets. */
	ALLOCATE_ADOPTED = ALLOCATE_ALGORITHMS
};

struct allocate_tier {
	int64_t amount_cents; /* of each packet */
	uint64_t count;       /* at least 1 */
};

struct allocate_rule {
	int64_t total_cents; /* 1 to AMOUNT_MAX_CENTS */
	uint64_t count;      /* 1 to ALLOCATE_COUNT_MAX */
	int64_t min_cents;   /* at least 1 */
	int64_t max_cents;   /* min to AMOUNT_MAX_CENTS, or 0: no bound */
	enum allocate_algorithm algorithm;
	bool live;         /* double_mean only */
	size_t tier_count; /* 0 unless the algorithm is tiers */
	struct allocate_tier tiers[ALLOCATE_TIERS_MAX];
};

/** All names, for people: "double_mean, line_cut, …". */
#define ALLOCATE_NAMES \
	"double_mean, line_cut, equal, tiers, uniform, normal or adopted"

/** The name of an algorithm, static. */
const char *allocate_name(enum allocate_algorithm algorithm);

/** False if there is no algorithm of that name. */
must_check bool allocate_by_name(struct bytes name,
				 enum allocate_algorithm *out);

/** Whether the rule can be kept; else why is a sentence with the numbers. */
must_check bool allocate_possible(const struct allocate_rule *rule,
				  char why[ALLOCATE_WHY]);

/** Write rule->count amounts whose sum is the total; the rule is possible, and
 * its algorithm not adopted: that has no amounts that could be computed.
 * Needs no memory beside them. Takes up to 0.05 s for a million, three times as
 * long where it sorts (line_cut): not for a loop's thread. */
void allocate(const uint8_t seed[ALLOCATE_SEED],
	      const struct allocate_rule *rule, int64_t *amounts);

/** line_cut.c: shares before the shuffle. */
void allocate_line_cut(struct numbers *n, const struct allocate_rule *rule,
		       int64_t max, int64_t *amounts);

#endif
