#include "bench/winners.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"

struct winners {
	uint64_t users;
	uint64_t activities;
	/* By activity and user: 0, or 32 bits of a hash of packet and amount.
	 * Of two different packets one in four thousand millions looks the same
	 * as the other; the books compare all of it. */
	_Atomic uint32_t *prints;
};

struct winners *winners_new(uint64_t users, uint64_t activities)
{
	struct winners *w = xmalloc(sizeof *w);

	w->users = users;
	w->activities = activities;
	w->prints = xcalloc(users * activities, sizeof w->prints[0]);
	return w;
}

void winners_free(struct winners *w)
{
	free(w->prints);
	free(w);
}

/* FNV-1a, folded; never 0. */
static uint32_t print_of(struct bytes packet, int64_t cents)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < packet.n; i++) {
		hash = (hash ^ packet.p[i]) * UINT64_C(1099511628211);
	}
	hash = (hash ^ (uint64_t)cents) * UINT64_C(1099511628211);
	hash ^= hash >> 32;
	return (uint32_t)hash == 0 ? 1 : (uint32_t)hash;
}

enum winners_outcome winners_told(struct winners *w, uint64_t user,
				  uint64_t activity, struct bytes packet,
				  int64_t cents)
{
	uint32_t print = print_of(packet, cents);
	uint32_t before = 0;

	check(user < w->users && activity < w->activities);
	if (atomic_compare_exchange_strong(
		    &w->prints[activity * w->users + user], &before, print)) {
		return WINNERS_NEW;
	}
	return before == print ? WINNERS_AGAIN : WINNERS_OTHER;
}
