/**
 * Checking a list that somebody else has made, element by element in the order
 * in which the packets will be taken: each is a packet within the bounds of the
 * plan, no two have the same id, and together they hold the plan's total.
 *
 * No id is kept, only a hash of each. Where two hashes are equal, the older
 * element is needed again:
 *
 *   adopt_next() -> ADOPT_LOOK: read element adopt_like() again
 *                -> adopt_look() -> ADOPT_WRONG, or
 *                   ADOPT_GOOD: adopt_next() with the same element once more
 */
#ifndef GRAB_ADOPT_H
#define GRAB_ADOPT_H

#include "list_digest.h"
#include "plan/allocate.h"

enum { ADOPT_WHY = 256 };

enum adopt_result {
	ADOPT_GOOD,
	ADOPT_WRONG,
	ADOPT_LOOK,
};

struct adopt;

/** For a list of this plan. mask: which bits of the hashes count; all of them
 * but in tests, where ids with equal hashes are needed. Costs up to 24 bytes a
 * packet. */
struct adopt *adopt_new(const struct allocate_rule *rule, uint64_t mask);
/** NULL is fine. */
void adopt_free(struct adopt *a);

/** The next element, at most rule->count of them. ADOPT_WRONG: why is a
 * sentence that names the packet by its place, which begins at 1. */
must_check enum adopt_result adopt_next(struct adopt *a, struct bytes element,
					char why[ADOPT_WHY]);

/** After ADOPT_LOOK: the place of the packet whose id may be the same. */
uint64_t adopt_like(const struct adopt *a);
/** What lies at that place, empty if nothing does. Never ADOPT_LOOK. */
must_check enum adopt_result adopt_look(struct adopt *a, struct bytes element,
					char why[ADOPT_WHY]);

/** After rule->count elements: whether they hold the plan's total, else why is
 * a sentence. Writes the digest of the list. */
must_check bool adopt_whole(struct adopt *a, char digest[LIST_DIGEST_TEXT],
			    char why[ADOPT_WHY]);

#endif
