/**
 * A tranche after the first: packets that are added while people grab, with a
 * seed and a commitment of their own.
 *
 * The canonical text has one line name=value, each ended by '\n', for
 *
 *   activity_id tranche total_cents packets algorithm min_cents max_cents
 *
 * in this order; then tiers, if the algorithm is that, as in the text of a plan
 * (plan.h). The commitment is SHA-256 over the 32 bytes of the seed and then
 * this text, in lower-case hex. No entropy is mixed into the seed.
 */
#ifndef PLAN_TRANCHE_H
#define PLAN_TRANCHE_H

#include "plan/plan.h"

enum {
	TRANCHES_MAX = 16, /* of an activity, the first one included */
	TRANCHE_TEXT_MAX = 1536,
};

struct tranche {
	char activity_id[ID_MAX + 1];
	uint32_t number; /* 2 to TRANCHES_MAX */
	struct allocate_rule rule;
};

/** Make tranche number of the activity of what a plan says about money: total,
 * packets, algorithm, min, max and tiers. False and a sentence if that can't
 * be kept. */
must_check bool tranche_make(struct bytes activity_id, uint32_t number,
			     const Rain__Plan *message, struct tranche *out,
			     char why[PLAN_WHY]);

/** Write the canonical text with a NUL; returns its length. */
size_t tranche_text(const struct tranche *t, char out[TRANCHE_TEXT_MAX]);

/** Read the canonical text. False if it is none, or cannot be kept. */
must_check bool tranche_read(struct bytes text, struct tranche *out);

/** Say where two tranches first differ, in words: "" if they are equal. */
void tranche_difference(const struct tranche *there, const struct tranche *here,
			char why[PLAN_WHY]);

/** SHA-256 over seed and canonical text, in hex with a NUL. */
void tranche_commitment(const uint8_t seed[ALLOCATE_SEED],
			const struct tranche *t, char out[PLAN_COMMITMENT]);

#endif
