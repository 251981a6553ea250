#include "console/luckiest.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "console/ctl.h"

static bool better(const struct luckiest_one *a, const struct luckiest_one *b)
{
	if (a->amount_cents != b->amount_cents) {
		return a->amount_cents > b->amount_cents;
	}
	if (a->at_ms != b->at_ms) {
		return a->at_ms < b->at_ms;
	}
	return a->seq < b->seq;
}

void luckiest_enter(struct luckiest *l, const struct luckiest_one *one)
{
	size_t at = l->n;

	l->entered++;
	while (at > 0 && better(one, &l->best[at - 1])) {
		at--;
	}
	if (at == l->most) {
		return;
	}
	if (l->n < l->most) {
		l->n++;
	}
	memmove(&l->best[at + 1], &l->best[at],
		(l->n - at - 1) * sizeof(l->best[0]));
	l->best[at] = *one;
}

int luckiest_over(const Rain__Activity *a, struct buf *why)
{
	bool settled = a->state == RAIN__STATE__SETTLED;
	const char *sentence = "it is not closed: who is the luckiest is known "
			       "when it is";

	/* One that was closed is settled only when what is left is counted. */
	if (a->state == RAIN__STATE__CANCELLED ||
	    (settled && a->leftover_cents < 0)) {
		sentence = "it was cancelled: nobody won";
	} else if (settled || a->state == RAIN__STATE__CLOSED) {
		return CTL_OK;
	} else if (a->state == RAIN__STATE__HALTED) {
		sentence = a->seed.len > 0
				   ? "it was closed and is halted: who is the "
				     "luckiest is known when it is closed again"
				   : "it is halted, not closed: who is the "
				     "luckiest is known when it is closed";
	}
	buf_put_bytes(why, bytes_str(sentence));
	return CTL_NO;
}

int luckiest_enough(const Rain__Activity *a, uint64_t entered, struct buf *why)
{
	uint64_t claims = a->final_claims;
	bool settled = a->state == RAIN__STATE__SETTLED;

	if (entered >= claims) {
		return CTL_OK;
	}
	buf_printf(why, "only %" PRIu64 " of %" PRIu64 " winners are credited",
		   entered, claims);
	buf_put_bytes(why, bytes_str(settled ? ", the ledger holds the others "
					       "back"
					     : " so far: ask again"));
	return settled ? CTL_OK : CTL_UNKNOWN;
}
