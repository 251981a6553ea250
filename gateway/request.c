#include "gateway/request.h"

#include <stdlib.h>

#include <utlist.h>

#include "base/check.h"
#include "gateway/loop.h"
#include "gateway/session.h"

/* Requests come and go by the batch, which is what malloc() is slow at. */
#ifdef __SANITIZE_ADDRESS__
enum { SPARES_MAX = 0 }; /* one that is used after it was freed is seen */
#else
enum { SPARES_MAX = 512 };
#endif

static void wheel_add(struct wheel *w, struct request *r, uint64_t now_ms)
{
	uint64_t now_tick = now_ms / WHEEL_TICK_MS;
	uint64_t due_tick = r->due_ms / WHEEL_TICK_MS + 1;

	if (w->count++ == 0) {
		w->tick = now_tick;
	}
	check(due_tick > w->tick);
	/* The options and the door keep deadlines shorter than the wheel; only
	 * a loop that is far behind gets here, and answers a bit early. */
	if (due_tick - w->tick >= WHEEL_SLOTS) {
		due_tick = w->tick + WHEEL_SLOTS - 1;
	}
	r->slot = (unsigned)(due_tick % WHEEL_SLOTS);
	DL_APPEND2(w->slots[r->slot], r, due_prev, due_next);
}

static void wheel_remove(struct wheel *w, struct request *r)
{
	DL_DELETE2(w->slots[r->slot], r, due_prev, due_next);
	w->count--;
}

void wheel_turn(struct wheel *w, uint64_t now_ms,
		void (*late)(struct request *r))
{
	uint64_t now_tick = now_ms / WHEEL_TICK_MS;

	while (w->tick < now_tick && w->count > 0) {
		struct request **slot;

		w->tick++;
		slot = &w->slots[w->tick % WHEEL_SLOTS];
		while (*slot != NULL) {
			struct request *r = *slot;

			late(r);
			check(!request_open(r));
		}
	}
	if (w->tick < now_tick) {
		w->tick = now_tick;
	}
}

static uint8_t copy_id(char out[ID_MAX], struct bytes id)
{
	check(id.n <= ID_MAX);
	if (id.n > 0) {
		memcpy(out, id.p, id.n);
	}
	return (uint8_t)id.n;
}

/* The one that was freed last, which the cache has, or a new one. */
static struct request *allocate(struct gateway_loop *l)
{
	struct request *r = l->spare;

	if (r == NULL) {
		return xmalloc(sizeof(*r));
	}
	LL_DELETE2(l->spare, r, batch_next);
	l->spare_count--;
	return r;
}

struct request *request_new(struct session *s, const struct request_options *o)
{
	struct gateway_loop *l = s->loop;
	struct request *r = allocate(l);

	check(request_find(s, o->seq) == NULL);
	/* All but the ids, which are most of it and need no zeros. */
	memset(r, 0, offsetof(struct request, user));
	r->key.session = s;
	r->key.seq = o->seq;
	r->loop = l;
	r->kind = o->kind;
	r->until_ms = o->until_ms;
	r->due_ms = o->due_ms;
	r->arrived_us = loop_now(l)->mono_us;
	if (o->seq > s->seq_most) {
		s->seq_most = o->seq;
	}
	r->user_len = copy_id(r->user, o->user);
	r->activity_len = copy_id(r->activity, o->activity);
	HASH_ADD(hh, l->requests, key, sizeof(r->key), r);
	DL_APPEND(s->requests, r);
	s->in_flight++;
	l->alive++;
	l->ledger_alive += r->kind == REQUEST_BALANCE;
	wheel_add(&l->wheel, r, uv_now(&l->uv));
	return r;
}

struct request *request_find(struct session *s, uint64_t seq)
{
	struct request_key key = { .session = s, .seq = seq };
	struct request *r = NULL;

	/* An app that counts is not searched for. */
	if (s->in_flight > 0 && seq <= s->seq_most) {
		HASH_FIND(hh, s->loop->requests, &key, sizeof(key), r);
	}
	return r;
}

bool request_open(const struct request *r)
{
	return r->key.session != NULL;
}

void request_detach(struct request *r)
{
	struct session *s = r->key.session;
	struct gateway_loop *l = r->loop;

	check(s != NULL && s->in_flight > 0);
	HASH_DELETE(hh, l->requests, r);
	DL_DELETE(s->requests, r);
	s->in_flight--;
	wheel_remove(&l->wheel, r);
	r->key.session = NULL;
}

void request_free(struct request *r)
{
	struct gateway_loop *l = r->loop;

	check(!request_open(r) && l->alive > 0);
	l->alive--;
	l->ledger_alive -= r->kind == REQUEST_BALANCE;
	if (l->spare_count == SPARES_MAX) {
		free(r);
	} else {
		LL_PREPEND2(l->spare, r, batch_next);
		l->spare_count++;
	}
}

void request_free_spares(struct gateway_loop *l)
{
	while (l->spare != NULL) {
		free(allocate(l));
	}
}

struct bytes request_user(const struct request *r)
{
	return bytes_make(r->user, r->user_len);
}

struct bytes request_activity(const struct request *r)
{
	return bytes_make(r->activity, r->activity_len);
}
