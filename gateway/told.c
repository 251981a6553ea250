#include "gateway/told.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/check.h"
#include "gateway/secret_hash.h"

enum {
	WAYS = 16, /* places that a user may have: a cache line of tags */
	APART = 7, /* of the two that are asked who goes */
	LINE = 64, /* bytes */
	LARGE_PAGE = 2 * 1024 * 1024,
};

/* WAYS of them at a time may hold a user; a tag that is not 0 says that the
 * place is taken, and rules out most others by itself. */
struct told_table {
	struct secret_hash hash;
	size_t rows;
	uint32_t (*tags)[WAYS];
	struct told (*told)[WAYS];
	unsigned victim; /* turns, so that nobody can foresee who goes */
};

/* From the start of a cache line on, and what is large from that of a large
 * page: each user is somewhere else, and small pages have to be looked up, too. */
static void *allocate(size_t n)
{
	size_t unit = n < LARGE_PAGE ? LINE : LARGE_PAGE;
	void *p;

	n = (n + unit - 1) / unit * unit;
	p = aligned_alloc(unit, n);
	check(p != NULL);
	if (unit == LARGE_PAGE) {
		(void)madvise(p, n, MADV_HUGEPAGE);
	}
	return p;
}

struct told_table *told_new(size_t users)
{
	struct told_table *t = xcalloc(1, sizeof(*t));

	secret_hash_init(&t->hash);
	t->rows = users > WAYS ? users / WAYS : 1;
	t->tags = allocate(t->rows * sizeof(*t->tags));
	memset(t->tags, 0, t->rows * sizeof(*t->tags));
	/* Nothing is read of it where the tag is 0. */
	t->told = allocate(t->rows * sizeof(*t->told));
	return t;
}

void told_free(struct told_table *t)
{
	free(t->tags);
	free(t->told);
	free(t);
}

static uint64_t hash_of(const struct told_table *t, uint32_t place,
			struct bytes user)
{
	return secret_hash_of(&t->hash, user) +
	       (uint64_t)place * 0x9e3779b97f4a7c15U;
}

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)hash | 1;
}

static size_t row_of(const struct told_table *t, uint64_t hash)
{
	return (size_t)(((hash >> 32) * t->rows) >> 32);
}

/* Its place in the row of hash, or WAYS. */
static size_t find(const struct told_table *t, uint64_t hash, uint32_t place,
		   struct bytes user)
{
	size_t row = row_of(t, hash);
	const uint32_t *tags = t->tags[row];
	size_t way = 0;

	while (way < WAYS) {
		const struct told *e = &t->told[row][way];

		if (tags[way] == tag_of(hash) && e->place == place &&
		    bytes_eq(user, bytes_make(e->user, e->user_len))) {
			break;
		}
		way++;
	}
	return way;
}

struct told *told_find(struct told_table *t, uint32_t place, struct bytes user)
{
	uint64_t hash = hash_of(t, place, user);
	size_t way = find(t, hash, place, user);

	return way < WAYS ? &t->told[row_of(t, hash)][way] : NULL;
}

void told_forget(struct told_table *t, uint32_t place, struct bytes user)
{
	uint64_t hash = hash_of(t, place, user);
	size_t way = find(t, hash, place, user);

	if (way < WAYS) {
		t->tags[row_of(t, hash)][way] = 0;
	}
}

static size_t make_room(struct told_table *t, size_t row)
{
	const struct told *told = t->told[row];
	size_t way = 0;
	size_t other;

	while (way < WAYS && t->tags[row][way] != 0) {
		way++;
	}
	if (way < WAYS) {
		return way;
	}
	/* Whoever is forgotten asks once more. The older one of two goes: mostly
	 * somebody who has left, and if all are here, not each time the very one
	 * who comes next. */
	way = t->victim++ % WAYS;
	other = (way + APART) % WAYS;
	return told[other].used_ms < told[way].used_ms ? other : way;
}

struct told *told_note(struct told_table *t, uint32_t place, struct bytes user)
{
	uint64_t hash = hash_of(t, place, user);
	size_t row = row_of(t, hash);
	size_t way = find(t, hash, place, user);
	struct told *e;

	if (way == WAYS) {
		way = make_room(t, row);
	}
	t->tags[row][way] = tag_of(hash);
	e = &t->told[row][way];
	e->place = place;
	check(user.n > 0 && user.n <= ID_MAX);
	e->user_len = (uint8_t)user.n;
	memcpy(e->user, user.p, user.n);
	return e;
}
