/**
 * Allocation: how a total is split into packets. A pure function of a seed and
 * a rule, in integers, so that anyone can recompute every packet.
 *
 * double_mean, byte for byte:
 *
 *   numbers  ChaCha20 (RFC 8439) with the seed as key, nonce and counter 0;
 *            its keystream is read as little-endian 64-bit numbers, in order.
 *   below(n) n is 1: 0, and no number is read. Else read x until
 *            x >= 2^64 mod n; the result is x mod n.
 *   shares   rest = total; for left = count, count - 1, ..., 1:
 *              mean = rest / left, rounded down
 *              lo = max(min, rest - (left - 1) * max)
 *              hi = min(max, rest - (left - 1) * min, 2 * mean - min)
 *              hi = max(hi, lo)
 *              share = lo + below(hi - lo + 1); rest = rest - share
 *            lo and hi keep what is left splittable; the last share is the
 *            rest. max 0 stands for total.
 *   shuffle  for i = count - 1, ..., 1: swap share i and share below(i + 1).
 *
 * The shares in this order are packets 1, 2, ... of the plan.
 */
#ifndef GRAB_ALLOCATE_H
#define GRAB_ALLOCATE_H

#include "base/amount.h"

enum { ALLOCATE_SEED = 32, ALLOCATE_COUNT_MAX = 10000000, ALLOCATE_WHY = 256 };

struct allocate_rule {
	int64_t total_cents; /* 1 to AMOUNT_MAX_CENTS */
	uint64_t count;      /* 1 to ALLOCATE_COUNT_MAX */
	int64_t min_cents;   /* at least 1 */
	int64_t max_cents;   /* at least min, or 0: no bound */
};

/** Whether the rule can be kept; else why is a sentence with the numbers. */
must_check bool allocate_possible(const struct allocate_rule *rule,
				  char why[ALLOCATE_WHY]);

/** Write rule->count amounts whose sum is the total; the rule is possible.
 * Takes about 0.1 s for a million: not for a loop's thread. */
void allocate(const uint8_t seed[ALLOCATE_SEED],
	      const struct allocate_rule *rule, int64_t *amounts);

#endif
