#include "gaps.h"

#include <stdio.h>

enum { WAIT_MAX_MS = 300000 };

static struct gap *find(struct gaps *g, struct bytes activity_id)
{
	for (size_t i = 0; i < g->count; i++) {
		if (bytes_eq(bytes_str(g->list[i].activity_id), activity_id)) {
			return &g->list[i];
		}
	}
	return NULL;
}

static struct gap *add(struct gaps *g, const char *activity_id)
{
	struct gap *gap;

	if (g->count == GAPS_MAX) {
		return NULL;
	}
	gap = &g->list[g->count++];
	*gap = (struct gap){
		.published = -1, .claims = -1, .events = -1, .whole_seq = -1
	};
	(void)snprintf(gap->activity_id, sizeof gap->activity_id, "%s",
		       activity_id);
	return gap;
}

static void look(struct gaps *g, struct gap *gap, const struct ledger_watch *w,
		 bool caught_up, uint64_t now_ms)
{
	/* Published and not here is a gap too: a whole topic may be lost. */
	bool open = w->gap_after >= 0 || gap->published > w->whole_seq ||
		    gap->events > w->changes;

	if (!open || !gap->open || w->whole_seq != gap->whole_seq) {
		gap->asks = 0;
		gap->wait_ms = g->age_ms;
		gap->ask_at = now_ms + gap->wait_ms;
	} else if (!caught_up) {
		/* What was asked for is work too: one that nothing closes is
		 * not asked for more often because of it. */
		gap->ask_at = now_ms + gap->wait_ms;
	}
	gap->open = open;
	gap->whole_seq = w->whole_seq;
	gap->credited = w->credited;
	gap->kept = true;
}

void gaps_update(struct gaps *g, const struct ledger_watch *seen, size_t n,
		 bool caught_up, uint64_t now_ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < g->count; i++) {
		g->list[i].kept = false;
	}
	for (size_t i = 0; i < n; i++) {
		struct gap *gap = find(g, bytes_str(seen[i].activity_id));

		if (gap == NULL) {
			gap = add(g, seen[i].activity_id);
		}
		if (gap != NULL) {
			look(g, gap, &seen[i], caught_up, now_ms);
		}
	}
	for (size_t i = 0; i < g->count; i++) {
		if (g->list[i].kept) {
			g->list[kept++] = g->list[i];
		}
	}
	g->count = kept;
}

void gaps_counters(struct gaps *g, struct bytes activity_id, int64_t claims,
		   int64_t published, int64_t events)
{
	struct gap *gap = find(g, activity_id);

	if (gap != NULL) {
		gap->claims = claims;
		gap->published = published;
		gap->events = events;
	}
}

const struct gap *gaps_due(struct gaps *g, uint64_t now_ms)
{
	for (size_t i = 0; i < g->count; i++) {
		struct gap *gap = &g->list[i];

		if (!gap->open || now_ms < gap->ask_at) {
			continue;
		}
		gap->wait_ms = gap->wait_ms * 2 < WAIT_MAX_MS ? gap->wait_ms * 2
							      : WAIT_MAX_MS;
		gap->ask_at = now_ms + gap->wait_ms;
		gap->asks++;
		return gap;
	}
	return NULL;
}
