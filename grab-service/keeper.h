/**
 * What happens to an activity by itself, done by who holds its lease:
 *
 *   OPEN, PAUSED ── end_ms + grace ──► CLOSED ── packets read ──► counted
 *     ── refund seen in the ledger ──► SETTLED ── keep_days ──► unlinked
 *     ──► out of rain:activities
 *
 * A cancelled activity is settled when all that was funded is back.
 */
#ifndef GRAB_KEEPER_H
#define GRAB_KEEPER_H

#include "rain/ledger_service.pb-c.h"

#include "env.h"

enum {
	KEEPER_PAGE = 1000,     /* packets read at once */
	KEEPER_LATER_MS = 5000, /* after a step that was refused */
};

/* What meta says, and when it said so. */
struct keeper_facts {
	bool known;
	uint64_t revision;
	int state;      /* rain.State */
	int64_t end_ms; /* 0: none */
	int64_t keep_days;
	int64_t settled_ms;
	bool counted;
	bool unlinked;
	bool live;    /* and what is left of it */
	int64_t left; /* packets */
	int64_t balance_cents;
	int64_t claimed_cents;
	int64_t total_cents;
};

enum keeper_task {
	KEEPER_NONE,
	KEEPER_CLOSE,
	KEEPER_COUNT,
	KEEPER_SETTLE, /* if the ledger shows the refund */
	KEEPER_UNLINK, /* if nothing is held */
	KEEPER_FORGET, /* out of the set */
};

/** What is due at now_ms, in Redis's time. Pure. */
enum keeper_task keeper_next(const struct keeper_facts *f, int64_t now_ms,
			     int64_t grace_ms);

/** Whether the totals allow `settled`. Pure. */
bool keeper_may_settle(const struct keeper_facts *f,
		       const Rain__TotalsReply *totals);

/* Embedded in a track, in place as long as busy. */
struct keeper {
	bool busy;       /* a question or a step is in flight */
	uint64_t due_ms; /* loop time: nothing is done before */
	struct keeper_facts facts;
	uint64_t count_at;    /* packets read so far */
	int64_t cents;        /* and their sum */
	bool told;            /* that something is in the way was logged */
	uint64_t unheard;     /* answers that the ledger does not know it */
	uint64_t unheard_max; /* after so many it is published again */
};

/** Note an answer of the ledger: true if it should have heard of the activity
 * long ago, so that Kafka has lost it and it is to be published again; after
 * that not for twice as long. */
bool keeper_unheard(struct keeper *k, bool known, bool published);

struct track;

/** Go on. Called by the relay, again and again, while the lease is ours. */
void keeper_step(struct track *t);

/** Whether there is something to do that needs the lease. */
bool keeper_wants(struct track *t);

/** Its lists are unlinked: take the activity out of rain:activities. */
void keeper_forget(struct track *t);

/* ---- For keeper_count.c ---- */

/** Do nothing for so long. */
void keeper_later(struct track *t, uint64_t ms);
/** Run operation of lua/activity.lua with two arguments, if the revision is
 * still that of the facts. */
void keeper_run(struct track *t, struct bytes operation, struct bytes a,
		struct bytes b);
/** Go on to find what is left, and tell Redis in the end. */
void keeper_count(struct track *t);

#endif
