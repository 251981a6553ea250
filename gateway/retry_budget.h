/**
 * How much may be sent again: a share of what is sent at all, so that retries
 * cannot multiply an overload, and a burst for the moment a provider dies.
 */
#ifndef GATEWAY_RETRY_BUDGET_H
#define GATEWAY_RETRY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct retry_budget {
	int64_t tokens; /* hundredths of a retry */
	int64_t most;   /* the bucket's size, likewise */
	int64_t share;  /* what one first try adds, likewise */
};

/** Full at the start: burst retries; then percent of what is sent. */
void retry_budget_init(struct retry_budget *b, int64_t percent, int64_t burst);

/** A request was sent for the first time. */
void retry_budget_earn(struct retry_budget *b);

/** Take one retry; false if there is none left. */
bool retry_budget_take(struct retry_budget *b);

#endif
