/**
 * What is answered when Redis does not have the activity: it never was, it was
 * lost, or it is settled and its lists are unlinked. The ledger knows.
 */
#ifndef GRAB_ELSEWHERE_H
#define GRAB_ELSEWHERE_H

#include "rain/ledger_service.pb-c.h"

#include "env.h"

enum {
	ELSEWHERE_MAX = 4096,     /* asks that wait for the ledger, in all */
	ELSEWHERE_KEEP_MS = 1000, /* how long a "nowhere" is believed */
};

/** Redis has no such activity. Takes the ask, answers it. */
void elsewhere_absent(struct grab_env *env, struct ask *ask);

/** Its lists are unlinked: the packet, if there was one, is in the ledger.
 * Takes the ask, answers it. */
void elsewhere_unlinked(struct grab_env *env, struct ask *ask,
			uint64_t revision);

/** Whether the totals say that every claim of the activity is accounted for,
 * so that who has no packet there never had one. */
bool elsewhere_refunded(const Rain__TotalsReply *totals);

#endif
