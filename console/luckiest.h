/**
 * Who had the best packets of an activity: by amount, then by who won first.
 * Pure.
 */
#ifndef CONSOLE_LUCKIEST_H
#define CONSOLE_LUCKIEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/id.h"
#include "rain/activity_service.pb-c.h"

enum { LUCKIEST_MAX = 1000 };

struct luckiest_one {
	int64_t amount_cents;
	int64_t at_ms; /* won at */
	uint64_t seq;
	char user[ID_MAX + 1];
};

struct luckiest {
	size_t most; /* 1 to LUCKIEST_MAX are kept */
	size_t n;    /* best first */
	struct luckiest_one best[LUCKIEST_MAX];
	uint64_t entered;
};

/** Enter a winner, in any order: the larger amount is better, then the earlier
 * time, then the smaller seq, so there is never a tie. */
void luckiest_enter(struct luckiest *l, const struct luckiest_one *one);

/** Whether it is over: who is the luckiest may change until the last packet is
 * gone. CTL_OK, or CTL_NO and a sentence in why. */
int luckiest_over(const Rain__Activity *a, struct buf *why);

/** Whether enough of the winners of one that is over were entered: CTL_OK, or
 * CTL_UNKNOWN and a sentence in why while more will come. A settled one gets no
 * more; with fewer, CTL_OK and a sentence that says so. */
int luckiest_enough(const Rain__Activity *a, uint64_t entered, struct buf *why);

#endif
