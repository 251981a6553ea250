#include "bench/wheel.h"

#include <stdlib.h>

#include "base/check.h"

void wheel_add(struct wheel *w, uint64_t ms, const struct later *l)
{
	struct later *kept = xmalloc(sizeof *kept);
	uint64_t slots = ms / WHEEL_SLOT_MS + 1;
	struct later **slot;

	if (slots >= WHEEL_SLOTS) {
		slots = WHEEL_SLOTS - 1;
	}
	slot = &w->slots[(w->at + slots) % WHEEL_SLOTS];
	*kept = *l;
	kept->next = *slot;
	*slot = kept;
	w->count++;
	w->taps += !l->connect;
}

static bool take(struct wheel *w, struct later *l)
{
	struct later **slot = &w->slots[w->at % WHEEL_SLOTS];
	struct later *first = *slot;

	if (first == NULL) {
		return false;
	}
	*slot = first->next;
	*l = *first;
	free(first);
	w->count--;
	w->taps -= !l->connect;
	return true;
}

bool wheel_next(struct wheel *w, uint64_t now_ms, struct later *l)
{
	uint64_t now = now_ms / WHEEL_SLOT_MS;

	if (w->count == 0) {
		w->at = now;
		return false;
	}
	while (!take(w, l)) {
		if (w->at >= now) {
			return false;
		}
		w->at++;
	}
	return true;
}

void wheel_clear(struct wheel *w)
{
	struct later l;

	for (uint64_t i = 0; i < WHEEL_SLOTS; i++, w->at++) {
		while (take(w, &l)) {
		}
	}
}
