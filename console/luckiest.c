#include "console/luckiest.h"

#include <stdbool.h>
#include <string.h>

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
