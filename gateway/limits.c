#include "gateway/limits.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <uv.h>

#include <utlist.h>

#include "base/id.h"
#include "gateway/gateway_metrics.h"
#include "gateway/options.h"
#include "gateway/secret_hash.h"

/* How many of those that nobody pins are looked at for each that is new: two
 * keep the table as small as it can be; a few more before one is refused. */
enum { LOOKS = 2, LOOKS_WHEN_FULL = 16 };

enum { ROWS_FIRST = 64 };

/* Users of a front come and go with every grab, and none of them is in the
 * cache: two lines each, and the first one is enough for who is passed by. */
struct limited_entry {
	struct limited public;
	struct limited_entry *below; /* in the same row */
	struct limited_entry *next;  /* in the table's idle list, if no pins */
	struct limited_entry *prev;
	uint32_t hash;
	uint32_t pins;
	uint8_t key_len;
	uint8_t key[ID_MAX];
};

struct table {
	uv_mutex_t lock; /* for all but the buckets */
	struct limited_entry **rows;
	size_t row_count;            /* a power of two, not below count */
	struct limited_entry *idle;  /* without pins, oldest first */
	struct limited_entry *spare; /* of those forgotten, to be used again */
	size_t count;
	size_t counted; /* what the gauge has of it */
	size_t max;
	struct metric *gauge;
};

struct limits {
	struct table tables[LIMIT_TABLES];
	struct bucket hellos;
	struct secret_hash hash;
};

void limit_rates_read(const struct gateway_options *o, struct limit_rates *out)
{
	*out = (struct limit_rates){
		.connection =
			rate_make(o->connection_rate, o->connection_burst),
		.front = rate_make(o->front_rate, o->front_burst),
		.user = rate_make(o->user_rate, o->user_burst),
		.address = rate_make(o->address_rate, o->address_burst),
		.activity = rate_make(o->activity_rate, o->activity_burst),
		.hello = rate_make(o->hello_rate, o->hello_burst),
		.address_hello = rate_make(o->address_hello_rate,
					   o->address_hello_burst),
		.spread_ms = o->spread_ms,
		.greeting_max = o->greeting_max,
	};
}

struct limits *limits_new(const struct gateway_options *o)
{
	const int64_t beside[LIMIT_TABLES] = { o->users_max, o->addresses_max,
					       o->activities_max };
	struct limits *l = xcalloc(1, sizeof(*l));

	secret_hash_init(&l->hash);
	for (size_t i = 0; i < LIMIT_TABLES; i++) {
		struct table *t = &l->tables[i];

		check(uv_mutex_init(&t->lock) == 0);
		t->max = (size_t)(o->connections_max + beside[i]);
		t->row_count = ROWS_FIRST;
		t->rows = xcalloc(t->row_count, sizeof(t->rows[0]));
		t->gauge = &gateway_metrics.limit_entries[i];
	}
	return l;
}

static struct limited_entry *of(const struct limited *e)
{
	return container_of((struct limited *)(uintptr_t)e,
			    struct limited_entry, public);
}

/* ---- With the lock ---- */

static struct limited_entry **row_of(const struct table *t, uint32_t hash)
{
	return &t->rows[hash & (t->row_count - 1)];
}

static void grow(struct table *t)
{
	struct limited_entry **old = t->rows;
	size_t n = t->row_count;

	t->row_count = 2 * n;
	t->rows = xcalloc(t->row_count, sizeof(t->rows[0]));
	for (size_t i = 0; i < n; i++) {
		struct limited_entry *e = old[i];

		while (e != NULL) {
			struct limited_entry *below = e->below;

			LL_PREPEND2(*row_of(t, e->hash), e, below);
			e = below;
		}
	}
	free(old);
}

static void forget(struct table *t, struct limited_entry *e)
{
	check(e->pins == 0);
	DL_DELETE(t->idle, e);
	LL_DELETE2(*row_of(t, e->hash), e, below);
	t->count--;
	/* Users of a front come and go with every grab. */
	if (t->spare == NULL) {
		t->spare = e;
	} else {
		free(e);
	}
}

static bool may_go(const struct limited_entry *e, int64_t now_ns)
{
	return bucket_full(&e->public.taken, now_ns) &&
	       bucket_full(&e->public.hellos, now_ns);
}

/* Those in front went idle first, but may owe for longer than those behind:
 * they go to the end, so that no one hides the others. */
static void make_room(struct table *t, int64_t now_ns)
{
	for (int i = 0; t->idle != NULL && i < LOOKS_WHEN_FULL; i++) {
		struct limited_entry *e = t->idle;

		if (i >= LOOKS && t->count < t->max) {
			break;
		}
		if (may_go(e, now_ns)) {
			forget(t, e);
		} else {
			DL_DELETE(t->idle, e);
			DL_APPEND(t->idle, e);
		}
	}
}

static uint32_t hash_of(const struct limits *l, struct bytes key)
{
	uint64_t h = secret_hash_of(&l->hash, key);

	return (uint32_t)(h ^ (h >> 32));
}

static struct bytes key_of(const struct limited_entry *e)
{
	return bytes_make(e->key, e->key_len);
}

/* The entry of key, new or not; in the idle list if it has no pins. */
static struct limited_entry *get(struct limits *l, struct table *t,
				 struct bytes key, int64_t now_ns)
{
	uint32_t hash = hash_of(l, key);
	struct limited_entry *e;

	LL_FOREACH2(*row_of(t, hash), e, below)
	{
		if (e->hash == hash && bytes_eq(key, key_of(e))) {
			return e;
		}
	}
	make_room(t, now_ns);
	if (t->count >= t->max) {
		return NULL;
	}
	if (t->count == t->row_count) {
		grow(t);
	}
	e = t->spare != NULL ? t->spare : xmalloc(sizeof(*e));
	t->spare = NULL;
	*e = (struct limited_entry){ .hash = hash, .key_len = (uint8_t)key.n };
	memcpy(e->key, key.p, key.n);
	LL_PREPEND2(*row_of(t, hash), e, below);
	DL_APPEND(t->idle, e);
	t->count++;
	return e;
}

/* Mostly one goes for each that comes: then there is nothing to tell, and no
 * line that all threads write. */
static void count(struct table *t)
{
	if (t->count != t->counted) {
		metric_add(t->gauge, (int64_t)t->count - (int64_t)t->counted);
		t->counted = t->count;
	}
}

/* ---- For all ---- */

struct limited *limits_pin(struct limits *l, enum limit_table table,
			   struct bytes key, int64_t now_ns)
{
	struct table *t = &l->tables[table];
	struct limited_entry *e;

	check(key.n > 0 && key.n <= ID_MAX);
	uv_mutex_lock(&t->lock);
	e = get(l, t, key, now_ns);
	if (e != NULL && e->pins++ == 0) {
		DL_DELETE(t->idle, e);
	}
	count(t);
	uv_mutex_unlock(&t->lock);
	return e != NULL ? &e->public : NULL;
}

void limits_unpin(struct limits *l, enum limit_table table, struct limited *e,
		  int64_t now_ns)
{
	struct table *t = &l->tables[table];
	struct limited_entry *entry;

	if (e == NULL) {
		return;
	}
	entry = of(e);
	uv_mutex_lock(&t->lock);
	check(entry->pins > 0);
	if (--entry->pins == 0) {
		DL_APPEND(t->idle, entry);
		if (may_go(entry, now_ns)) {
			forget(t, entry);
		}
	}
	count(t);
	uv_mutex_unlock(&t->lock);
}

int64_t limits_pins(struct limits *l, enum limit_table table,
		    const struct limited *e)
{
	struct table *t = &l->tables[table];
	int64_t pins;

	uv_mutex_lock(&t->lock);
	pins = of(e)->pins;
	uv_mutex_unlock(&t->lock);
	return pins;
}

bool limits_names(const struct limited *e, struct bytes key)
{
	/* What an entry is called never changes. */
	return bytes_eq(key, key_of(of(e)));
}

int64_t limits_take(struct limits *l, enum limit_table table, struct bytes key,
		    struct rate rate, int64_t now_ns)
{
	struct table *t = &l->tables[table];
	struct limited_entry *e;
	int64_t wait = -1;

	uv_mutex_lock(&t->lock);
	e = get(l, t, key, now_ns);
	if (e != NULL) {
		wait = bucket_take(&e->public.taken, rate, now_ns);
	}
	count(t);
	uv_mutex_unlock(&t->lock);
	return wait;
}

int64_t limits_take_hello(struct limits *l, struct rate rate, int64_t now_ns)
{
	return bucket_take(&l->hellos, rate, now_ns);
}

size_t limits_count(struct limits *l, enum limit_table table)
{
	struct table *t = &l->tables[table];
	size_t count;

	uv_mutex_lock(&t->lock);
	count = t->count;
	uv_mutex_unlock(&t->lock);
	return count;
}

void limits_free(struct limits *l)
{
	for (size_t i = 0; i < LIMIT_TABLES; i++) {
		struct table *t = &l->tables[i];

		while (t->idle != NULL) {
			forget(t, t->idle);
		}
		count(t);
		check(t->count == 0);
		free(t->spare);
		free(t->rows);
		uv_mutex_destroy(&t->lock);
	}
	free(l);
}

size_t limit_address_key(const struct sockaddr_storage *sock,
			 uint8_t out[LIMIT_ADDRESS_SIZE])
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)sock;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sock;

	if (sock->ss_family == AF_INET) {
		out[0] = 4;
		memcpy(out + 1, &in->sin_addr, 4);
		return 5;
	}
	if (sock->ss_family == AF_INET6) {
		const uint8_t *a = in6->sin6_addr.s6_addr;

		if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
			out[0] = 4;
			memcpy(out + 1, a + 12, 4);
			return 5;
		}
		out[0] = 6;
		memcpy(out + 1, a, 8);
		return 9;
	}
	out[0] = 0;
	return 1;
}
