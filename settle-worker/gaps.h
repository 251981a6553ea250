/**
 * How old the gap of each activity is, and when to ask for its claims. Pure
 * but for its memory.
 */
#ifndef SETTLE_WORKER_GAPS_H
#define SETTLE_WORKER_GAPS_H

#include "ledger.h"

enum { GAPS_MAX = 256 }; /* activities that are looked at at once */

struct gap {
	char activity_id[ID_MAX + 1];
	int64_t whole_seq; /* everything up to here was seen */
	int64_t credited;
	int64_t published; /* by the relay, -1 while it is not known */
	int64_t claims;    /* in Redis, likewise */
	int64_t events;    /* published by the relay, likewise */
	uint64_t ask_at;   /* ms: when to ask for its claims */
	uint64_t wait_ms;  /* until the time after that; doubles */
	unsigned asks;     /* for its claims, since it is where it is */
	bool open;         /* there is a gap */
	bool kept;         /* internal */
};

struct gaps {
	struct gap list[GAPS_MAX];
	size_t count;
	uint64_t age_ms; /* of a gap, before it is asked for */
};

/** What the ledger says now. caught_up false: there may be more on its way,
 * and no gap grows older. */
void gaps_update(struct gaps *g, const struct ledger_watch *seen, size_t n,
		 bool caught_up, uint64_t now_ms);

/** What the grab-service says of an activity: claims in Redis, claims and
 * events published. */
void gaps_counters(struct gaps *g, struct bytes activity_id, int64_t claims,
		   int64_t published, int64_t events);

/** The next gap that is to be asked for now, or NULL. Each is given once, then
 * again after a longer and longer time. */
const struct gap *gaps_due(struct gaps *g, uint64_t now_ms);

#endif
