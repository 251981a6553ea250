/**
 * The plan of an activity: what an operator decided, validated; the canonical
 * text that says whether two plans are equal; and the commitment.
 *
 * The canonical text has one line name=value, each ended by '\n', for
 *
 *   activity_id title sponsor currency total_cents packets algorithm
 *   min_cents max_cents start_ms end_ms ack keep_days
 *
 * in this order; then tiers, if the algorithm is that: each as cents, x,
 * packets, a comma between two; then release_ms, if it is not 0; then mode, if
 * it is live. Numbers are decimal without superfluous zeros. No value has a
 * control character, so no two plans have the same text. The commitment is
 * SHA-256 over the 32 bytes of the seed and then this text, in lower-case hex.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/id.h"
#include "plan/allocate.h"

#include "rain/activity_service.pb-c.h"

enum {
	PLAN_TITLE_MAX = 200,
	PLAN_WHY = 320,
	PLAN_TIERS_TEXT = 1024,
	PLAN_TEXT_MAX = 2048,
	PLAN_KEEP_DAYS_MAX = 3650,
	PLAN_RELEASE_MAX_MS = 24 * 3600 * 1000,
	PLAN_COMMITMENT = 65,  /* with its NUL */
	PLAN_ENTROPY_MIN = 16, /* bytes */
	PLAN_ENTROPY_MAX = 64,
	/* In Redis: a packet that was grabbed is a field of users and an
	 * element of claims, while its element of packets is gone. User ids of
	 * 20 characters; each further character takes three bytes. */
	PLAN_CLAIM_BYTES = 400,
	/* Of that, what a packet takes that is loaded and not grabbed. */
	PLAN_PACKET_BYTES = 60,
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
	int64_t release_ms; /* over which packets are released; 0: at once */
};

/** Whether the packets were made by somebody else. */
static inline bool plan_is_adopted(const struct plan *p)
{
	return p->rule.algorithm == ALLOCATE_ADOPTED;
}

/** Whether `preload` pushes the packets that the seed makes. */
static inline bool plan_has_list(const struct plan *p)
{
	return !plan_is_adopted(p) && !p->rule.live;
}

/** Whether there is a list of packets in Redis, or each amount is drawn when it
 * is grabbed; static. */
static inline const char *plan_mode(const struct plan *p)
{
	return p->rule.live ? "live" : "list";
}

/** Whether the message has mode live; any other text is not. */
bool plan_message_is_live(const Rain__Plan *message);

/* The only one in this version. */
#define PLAN_ACK "redis"

/** Copy the message if it is a plan that can be kept; else false, and why is a
 * sentence that names what is wrong and what is allowed. */
must_check bool plan_read(const Rain__Plan *message, struct plan *out,
			  char why[PLAN_WHY]);

/** Whether an activity may be created with it now: its end is to come, and not
 * before all packets can be released. Else why is a sentence. */
must_check bool plan_is_future(const struct plan *p, int64_t now_ms,
			       char why[PLAN_WHY]);

/** Say where two plans first differ, in words: "" if they are equal. */
void plan_difference(const struct plan *there, const struct plan *here,
		     char why[PLAN_WHY]);

/* Tiers of a message, which points into them. */
struct plan_tiers {
	Rain__Tier tiers[ALLOCATE_TIERS_MAX];
	Rain__Tier *list[ALLOCATE_TIERS_MAX];
};

/** Let m have the tiers of the rule, in memory that must outlive it. */
void plan_tiers_message(const struct allocate_rule *rule,
			struct plan_tiers *memory, Rain__Plan *m);

/** Write the tiers as the canonical text has them, with a NUL: "" if the
 * algorithm is another. */
void plan_tiers_text(const struct allocate_rule *rule,
		     char out[PLAN_TIERS_TEXT]);
/** Read them. False if that is not their text. */
must_check bool plan_tiers_read(struct bytes text, struct allocate_rule *out);

/** Bytes of Redis that packets will take when all are grabbed, beside what the
 * loaded ones of them have taken. */
uint64_t plan_memory(uint64_t packets, uint64_t loaded);

/** Write the canonical text with a NUL; returns its length. */
size_t plan_text(const struct plan *p, char out[PLAN_TEXT_MAX]);

/** The seed that the packets are made of: seed itself, or, with n bytes of
 * entropy, SHA-256 over the seed and these. */
void plan_mix(const uint8_t seed[ALLOCATE_SEED], const uint8_t *entropy,
	      size_t n, uint8_t out[ALLOCATE_SEED]);

/** SHA-256 over the seed and a text of at most PLAN_TEXT_MAX bytes, in hex with
 * a NUL. */
void plan_commit(const uint8_t seed[ALLOCATE_SEED], struct bytes text,
		 char out[PLAN_COMMITMENT]);

/** The same over seed and canonical text. */
void plan_commitment(const uint8_t seed[ALLOCATE_SEED], const struct plan *p,
		     char out[PLAN_COMMITMENT]);

#endif
