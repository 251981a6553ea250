/**
 * Random rules of allocation out of a dice of one's own, so that a test sees
 * the same ones every time.
 */
#ifndef TESTS_LIB_RANDOM_RULE_H
#define TESTS_LIB_RANDOM_RULE_H

#include "plan/allocate.h"

enum { RANDOM_RULE_PACKETS = 300 }; /* at most; 8 on average */

/** The next number of a dice, which may begin with any. */
uint64_t random_rule_roll(uint64_t *dice);

/** A rule that has a split, most of them hardly another one: a total of
 * exactly count * min or max, or a cent beside it, one packet, a cent each. */
struct allocate_rule random_rule_possible(uint64_t *dice,
					  enum allocate_algorithm algorithm);

/** Any rule: about half of them have a split, others nearly. */
struct allocate_rule random_rule_any(uint64_t *dice,
				     enum allocate_algorithm algorithm);

#endif
