#include "bench/taps.h"

#include <stdlib.h>

#include "base/check.h"

enum { TAPS_FIRST = 4 };

static struct tap *slot_of(const struct taps *t, uint64_t seq)
{
	return &t->slots[seq & (t->size - 1)];
}

static void grow(struct taps *t)
{
	struct taps bigger = { .size = t->size == 0 ? TAPS_FIRST
						    : t->size * 2 };

	bigger.slots = xcalloc(bigger.size, sizeof bigger.slots[0]);
	for (size_t i = 0; i < t->size; i++) {
		/* Two that had different places have different places. */
		if (t->slots[i].seq != 0) {
			taps_put(&bigger, &t->slots[i]);
		}
	}
	free(t->slots);
	*t = bigger;
}

bool taps_room(struct taps *t, uint64_t seq)
{
	while (t->size == 0 || slot_of(t, seq)->seq != 0) {
		if (t->size == TAPS_MAX) {
			return false;
		}
		grow(t);
	}
	return true;
}

void taps_put(struct taps *t, const struct tap *tap)
{
	struct tap *slot = slot_of(t, tap->seq);

	check(tap->seq != 0 && slot->seq == 0);
	*slot = *tap;
	t->open++;
}

bool taps_take(struct taps *t, uint64_t seq, struct tap *tap)
{
	struct tap *slot = t->size > 0 ? slot_of(t, seq) : NULL;

	if (seq == 0 || slot == NULL || slot->seq != seq) {
		return false;
	}
	*tap = *slot;
	slot->seq = 0;
	t->open--;
	return true;
}

bool taps_take_all(struct taps *t, size_t *from, struct tap *tap)
{
	for (; *from < t->size; ++*from) {
		if (t->slots[*from].seq != 0) {
			return taps_take(t, t->slots[*from].seq, tap);
		}
	}
	return false;
}

void taps_free(struct taps *t)
{
	free(t->slots);
	*t = (struct taps){ 0 };
}
