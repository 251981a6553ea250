/**
 * The way of one ask, a grab or a result, through Redis: a queue per activity,
 * batches by batch.h, one script call per batch, one answer per ask.
 *
 *   lane_put ──► queue ──lane_pump──► script call ──► answer
 *                  ▲                      │
 *                  └── outcome unknown ───┘  asked again: the step is
 *                                            idempotent
 */
#ifndef GRAB_LANE_H
#define GRAB_LANE_H

#include <stdbool.h>

#include "base/id.h"

struct activity;
struct grab_env;

enum lane_kind { LANE_GRAB, LANE_RESULT, LANE_KINDS };

enum { LANE_TRIES_MAX = 8 }; /* script calls for one ask */

/* What one ask is answered. */
struct answer {
	int status;                 /* rain.Status */
	struct bytes red_packet_id; /* with WON and ALREADY_GRABBED */
	int64_t amount_cents;
	int64_t at_ms;
	uint32_t retry_after_ms;
	uint64_t revision;   /* 0 if none is known */
	const char *message; /* static */
};

struct ask;
/** The answer is valid during the call. May come from inside lane_put() and
 * lane_pump(). ask is the owner's again. */
typedef void (*ask_cb)(struct ask *ask, const struct answer *answer);

/* Owned by the caller, in place until done. */
struct ask {
	struct ask *prev, *next;   /* in a queue */
	struct activity *activity; /* pinned until done */
	ask_cb done;
	enum lane_kind kind;
	char user[ID_MAX];
	size_t user_len;
	int64_t not_after_ms; /* in Redis's time; 0: not known (result) */
	uint64_t deadline_ms; /* loop time: the caller's patience */
	bool repeat;          /* says that it may have won already */
	unsigned tries;       /* script calls so far */
	bool unsure;          /* one of them may have been executed */
};

struct lane {
	struct ask *queue; /* utlist, oldest first */
	size_t waiting;
	size_t calls; /* script calls in flight */
};

/** Queue an ask; all fields but prev, next, tries and unsure are set. Without
 * room it is answered at once. lane_pump() sends. */
void lane_put(struct grab_env *env, struct ask *ask);

/** Send what batch.h says. */
void lane_pump(struct grab_env *env, struct activity *a, enum lane_kind kind);

/** Answer and let go of an ask that is in no queue. */
void lane_answer(struct ask *ask, const struct answer *answer);
/** Without a packet and without a word of Redis: PENDING if the ask may have
 * been executed or is a question, else BUSY. */
void lane_refuse(struct ask *ask, uint64_t revision, const char *message);
/** The outcome can't be told. */
void lane_pending(struct ask *ask, uint64_t revision, const char *message);

/** Register the metrics; once per process, again is harmless. */
void lane_metrics(void);

#endif
