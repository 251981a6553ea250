#include "directory.h"

#include <stdlib.h>

#include "base/check.h"
#include "rain/activity_service.pb-c.h"

#include "roll.h"

enum { EVICT_LOOK_MAX = 64, LOG_AGAIN_MS = 1000 };

struct directory {
	struct activity *all; /* uthash, oldest first */
	size_t max;
};

struct directory *directory_new(size_t max)
{
	struct directory *d = xcalloc(1, sizeof *d);

	check(max > 0);
	d->max = max;
	return d;
}

static void forget(struct directory *d, struct activity *a)
{
	check(a->pins == 0);
	check(a->track == NULL && a->roll == NULL);
	HASH_DEL(d->all, a);
	free(a);
}

void directory_free(struct directory *d)
{
	while (d->all != NULL) {
		forget(d, d->all);
	}
	free(d);
}

struct activity *directory_find(struct directory *d, struct bytes id)
{
	struct activity *a = NULL;

	if (id.n == 0 || id.n > ID_MAX) {
		return NULL;
	}
	HASH_FIND(hh, d->all, id.p, (unsigned)id.n, a);
	return a;
}

/* Strangers may name any id: those that nobody lists go first. */
static bool make_room(struct directory *d)
{
	struct activity *a = d->all;

	for (int i = 0; a != NULL && i < EVICT_LOOK_MAX; i++) {
		struct activity *next = a->hh.next;

		if (a->pins == 0 && !a->listed) {
			forget(d, a);
			return true;
		}
		/* To the end, so that the next look finds others. */
		HASH_DEL(d->all, a);
		HASH_ADD_KEYPTR(hh, d->all, a->id, (unsigned)a->id_len, a);
		a = next;
	}
	return false;
}

struct activity *directory_get(struct directory *d, struct bytes id)
{
	struct activity *a = directory_find(d, id);

	check(id.n > 0 && id.n <= ID_MAX);
	if (a != NULL) {
		return a;
	}
	if (HASH_COUNT(d->all) >= d->max && !make_room(d)) {
		return NULL;
	}
	a = xcalloc(1, sizeof *a);
	memcpy(a->id, id.p, id.n);
	a->id_len = id.n;
	HASH_ADD_KEYPTR(hh, d->all, a->id, (unsigned)a->id_len, a);
	return a;
}

void activity_pin(struct activity *a)
{
	a->pins++;
}

void activity_unpin(struct activity *a)
{
	check(a->pins > 0);
	a->pins--;
}

bool activity_may_log(struct activity *a, uint64_t now_ms)
{
	bool may = now_ms >= a->log_after_ms;

	if (may) {
		a->log_after_ms = now_ms + LOG_AGAIN_MS;
	}
	return may;
}

struct bytes activity_id(const struct activity *a)
{
	return bytes_make(a->id, a->id_len);
}

struct activity *directory_next(struct directory *d, struct activity *a)
{
	return a == NULL ? d->all : a->hh.next;
}

size_t directory_count(const struct directory *d)
{
	return HASH_COUNT(d->all);
}

void activity_saw(struct activity *a, int state, uint64_t revision)
{
	if (revision >= a->seen.revision) {
		if (a->state == RAIN__STATE__HALTED && state != a->state) {
			/* A person says that the claims are right. */
			roll_forget_users(a->roll);
		}
		a->seen.revision = revision;
		a->state = state;
	}
}

void activity_saw_claim(struct activity *a, uint64_t seq, struct bytes user)
{
	if (seq <= a->seen.seq || user.n > ID_MAX) {
		return;
	}
	a->seen.seq = seq;
	memcpy(a->seen.user, user.p, user.n);
	a->seen.user[user.n] = '\0';
}
