/**
 * The plan of an activity: what an operator decided, validated; the canonical
 * text that says whether two plans are equal; and the commitment.
 *
 * The canonical text has one line name=value, each ended by '\n', for
 *
 *   activity_id title sponsor currency total_cents packets algorithm
 *   min_cents max_cents start_ms end_ms ack keep_days
 *
 * in this order; numbers are decimal without superfluous zeros. No value has a
 * control character, so no two plans have the same text. The commitment is
 * SHA-256 over the 32 bytes of the seed and then this text, in lower-case hex.
 */
#ifndef GRAB_PLAN_H
#define GRAB_PLAN_H

#include "allocate.h"
#include "base/id.h"

#include "rain/activity_service.pb-c.h"

enum {
	PLAN_TITLE_MAX = 200,
	PLAN_WHY = 320,
	PLAN_TEXT_MAX = 1024,
	PLAN_KEEP_DAYS_MAX = 3650,
	PLAN_COMMITMENT = 65, /* with its NUL */
};

struct plan {
	char activity_id[ID_MAX + 1];
	char title[PLAN_TITLE_MAX + 1];
	char sponsor[ID_MAX + 1];
	char currency[4];
	struct allocate_rule rule;
	int64_t start_ms; /* 0: as soon as it is open */
	int64_t end_ms;   /* 0: until it is closed */
	uint32_t keep_days;
};

/* The only ones in this version. */
#define PLAN_ALGORITHM "double_mean"
#define PLAN_ACK       "redis"

/** Copy the message if it is a plan that can be kept; else false, and why is a
 * sentence that names what is wrong and what is allowed. */
must_check bool plan_read(const Rain__Plan *message, struct plan *out,
			  char why[PLAN_WHY]);

/** Whether an activity may be created with it now: its end is to come. */
must_check bool plan_is_future(const struct plan *p, int64_t now_ms,
			       char why[PLAN_WHY]);

/** Say where two plans first differ, in words: "" if they are equal. */
void plan_difference(const struct plan *there, const struct plan *here,
		     char why[PLAN_WHY]);

/** Write the canonical text with a NUL; returns its length. */
size_t plan_text(const struct plan *p, char out[PLAN_TEXT_MAX]);

/** SHA-256 over seed and canonical text, in hex with a NUL. */
void plan_commitment(const uint8_t seed[ALLOCATE_SEED], const struct plan *p,
		     char out[PLAN_COMMITMENT]);

#endif
