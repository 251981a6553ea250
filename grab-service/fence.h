/**
 * After a restart or a failover of Redis nothing is taken until it is shown
 * that nothing was lost (lua/README.md, fence.lua). Each activity goes through
 *
 *   CONFIRM   tell what this process saw last, as a witness
 *   FLUSH     wait until nothing of it is on its way to Kafka
 *   EVIDENCE  wait until the ledger has applied all that is in Kafka
 *   TOTALS    ask what the ledger knows of the activity
 *   STAMP     hand it all to the script, which decides
 *
 * A witness without the relay's lease stops after CONFIRM. What contradicts
 * the lists halts the activity; what can't be had is waited for.
 */
#ifndef GRAB_FENCE_H
#define GRAB_FENCE_H

#include "env.h"

enum fence_phase {
	FENCE_IDLE,     /* verified, as far as we know; next: CONFIRM when a
			* step answers INCARNATION or Redis was reconnected */
	FENCE_CONFIRM,  /* next: FLUSH, or IDLE if no step says INCARNATION */
	FENCE_FLUSH,    /* next: EVIDENCE when the lease is ours and all that
			* was sent is reported */
	FENCE_EVIDENCE, /* next: TOTALS */
	FENCE_TOTALS,   /* next: STAMP when the ledger has answered */
	FENCE_STAMP,    /* next: IDLE; TOTALS on WITNESS; CONFIRM on LEASE */
};

enum {
	FENCE_WITNESS_MAX = 9, /* what of an id tells it from others, and NUL */
	FENCE_NOTES_MAX = 10,  /* activities named at once */
};

/* Embedded in the relay's track, in place as long as busy. */
struct fence {
	enum fence_phase phase;
	bool needed;           /* a step answered INCARNATION */
	bool busy;             /* a question is in flight */
	uint64_t due_ms;       /* loop time: no question before */
	uint64_t confirmed_on; /* connection on which CONFIRM was answered */
	uint64_t told_on;      /* the last one that was logged for */
	uint64_t round;        /* connection that the evidence is gathered on */
	uint64_t evidence;     /* the round of evidence.h that will do */
	uint64_t claims;       /* the ledger's highest seq */
	uint64_t revision;     /* and revision */
	uint64_t since_ms;     /* loop time at which it became needed */
	uint64_t until_ms;     /* loop time at which the patience with the
				* witness ends; 0: none is waited for */
	uint64_t silent;       /* witnesses that have not confirmed */
	char witness[FENCE_WITNESS_MAX]; /* one of them, shortened */
};

struct relay;
struct track;

/** A step answered INCARNATION: look at the activity soon. */
void fence_needed(struct grab_env *env, struct activity *a);

/** A step came through: whoever verified it, it is not needed any more. */
void fence_over(struct track *t);
/** The track goes; nobody says it was verified. */
void fence_forget(struct track *t);

/** A line for each activity that is fenced, at most FENCE_NOTES_MAX, with what
 * it waits for: for people. */
void fence_notes(const struct relay *relay, struct buf *notes);

/** Register the metrics; once per process, again is harmless. */
void fence_metrics(void);

/** Redis was reconnected: what this process saw must still be there. */
bool fence_must_confirm(const struct track *t);

/** Go on as far as is possible now. Called by the relay, again and again. */
void fence_step(struct track *t);

#endif
