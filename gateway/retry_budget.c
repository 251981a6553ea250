#include "gateway/retry_budget.h"

enum { ONE = 100 };

void retry_budget_init(struct retry_budget *b, int64_t percent, int64_t burst)
{
	*b = (struct retry_budget){ .tokens = burst * ONE,
				    .most = burst * ONE,
				    .share = percent };
}

void retry_budget_earn(struct retry_budget *b)
{
	b->tokens += b->share;
	if (b->tokens > b->most) {
		b->tokens = b->most;
	}
}

bool retry_budget_take(struct retry_budget *b)
{
	if (b->tokens < ONE) {
		return false;
	}
	b->tokens -= ONE;
	return true;
}
