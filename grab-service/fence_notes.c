/* What activities that are fenced wait for, for people. */
#include "fence.h"

#include <inttypes.h>
#include <utlist.h>

#include "rain/activity_service.pb-c.h"

#include "track.h"

static void note(const struct track *t, struct buf *notes)
{
	const struct fence *f = &t->fence;
	uint64_t now = uv_now(t->relay->env->loop);
	const char *what = "is to be verified";

	if (t->lost) {
		buf_printf(notes,
			   "%s: is gone from Redis, nothing is given out: "
			   "restore the data, or take it out of "
			   "rain:activities\n",
			   t->activity->id);
		return;
	}

	if (f->until_ms > now) {
		buf_printf(notes,
			   "%s: waits up to %" PRIu64 " s for the grab-service "
			   "%s… which served it before (%" PRIu64
			   " of them, fence.patience)\n",
			   t->activity->id, (f->until_ms - now + 999) / 1000,
			   f->witness, f->silent);
		return;
	}
	if (t->state == RAIN__STATE__HALTED) {
		what = "is halted, `rainctl activity show` has the reason";
	} else if (f->phase == FENCE_CONFIRM) {
		what = "waits for Redis";
	} else if (!t->ours) {
		what = "waits for the grab-service that relays it";
	} else if (f->phase == FENCE_FLUSH) {
		what = "waits for Kafka to take what was sent";
	} else if (f->phase == FENCE_EVIDENCE) {
		what = "waits for the ledger to apply what is in Kafka";
	} else if (f->phase == FENCE_TOTALS) {
		what = "waits for the ledger's totals";
	}
	buf_printf(notes, "%s: %s\n", t->activity->id, what);
}

void fence_notes(const struct relay *relay, struct buf *notes)
{
	const struct track *t;
	size_t count = 0;

	DL_FOREACH(relay->tracks, t)
	{
		if ((t->fence.needed || t->lost) && count++ < FENCE_NOTES_MAX) {
			note(t, notes);
		}
	}
	if (count > FENCE_NOTES_MAX) {
		buf_printf(notes, "and %zu more activities\n",
			   count - FENCE_NOTES_MAX);
	}
}
