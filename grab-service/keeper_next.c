/*
 * What the keeper decides, without asking anybody.
 */
#include "keeper.h"

#include "rain/activity_service.pb-c.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* Answers that the ledger does not know it, one every keeper.ask. */
enum { UNHEARD_MIN = 30, UNHEARD_MAX = 600 };

enum keeper_task keeper_next(const struct keeper_facts *f, int64_t now_ms,
			     int64_t grace_ms)
{
	if (!f->known) {
		return KEEPER_NONE;
	}
	switch (f->state) {
	case RAIN__STATE__OPEN:
	case RAIN__STATE__STATE_PAUSED:
		if (f->end_ms > 0 && now_ms >= f->end_ms + grace_ms) {
			return KEEPER_CLOSE;
		}
		return KEEPER_NONE;
	case RAIN__STATE__CLOSED:
		return f->counted ? KEEPER_SETTLE : KEEPER_COUNT;
	case RAIN__STATE__CANCELLED:
		return KEEPER_SETTLE;
	case RAIN__STATE__SETTLED:
		if (f->unlinked) {
			return KEEPER_FORGET;
		}
		if (now_ms >= f->settled_ms + f->keep_days * DAY_MS) {
			return KEEPER_UNLINK;
		}
		return KEEPER_NONE;
	default:
		return KEEPER_NONE;
	}
}

/* Events come to the ledger in order: at this revision it has seen every
 * tranche that was ever funded. */
bool keeper_may_settle(const struct keeper_facts *f,
		       const Rain__TotalsReply *totals)
{
	if (!totals->known || totals->revision < f->revision) {
		return false;
	}
	if (f->state == RAIN__STATE__CANCELLED) {
		return totals->funded_cents == totals->refunded_cents;
	}
	return totals->refund_done;
}

/* The worker asks for what is missing, but not for what it does not know. */
bool keeper_unheard(struct keeper *k, bool known, bool published)
{
	if (known || k->unheard_max == 0) {
		k->unheard = 0;
		k->unheard_max = UNHEARD_MIN;
		return false;
	}
	if (!published) {
		k->unheard = 0;
		return false;
	}
	if (++k->unheard < k->unheard_max) {
		return false;
	}
	k->unheard = 0;
	k->unheard_max = k->unheard_max * 2 < UNHEARD_MAX ? k->unheard_max * 2
							  : UNHEARD_MAX;
	return true;
}
