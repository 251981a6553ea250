/* The calls of a Dubbo client and their deadlines: one heap, one timer. */
#include <stdlib.h>

#include <utlist.h>

#include "client/dubbo_client_internal.h"

static uint64_t now(const struct dubbo_client *c)
{
	return uv_now(stream_hub_loop(c->hub));
}

/* ---- The heap ---- */

static void place(struct dubbo_client *c, size_t at, struct dubbo_pending *call)
{
	c->heap[at] = call;
	call->heap_at = at;
}

static void sift_up(struct dubbo_client *c, size_t at)
{
	struct dubbo_pending *call = c->heap[at];

	while (at > 0 && call->deadline < c->heap[(at - 1) / 2]->deadline) {
		place(c, at, c->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	place(c, at, call);
}

static void sift_down(struct dubbo_client *c, size_t at)
{
	struct dubbo_pending *call = c->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < c->heap_count &&
		    c->heap[child + 1]->deadline < c->heap[child]->deadline) {
			child++;
		}
		if (child >= c->heap_count ||
		    call->deadline <= c->heap[child]->deadline) {
			break;
		}
		place(c, at, c->heap[child]);
		at = child;
	}
	place(c, at, call);
}

static void heap_push(struct dubbo_client *c, struct dubbo_pending *call)
{
	if (c->heap_count == c->heap_size) {
		c->heap_size = c->heap_size == 0 ? 64 : c->heap_size * 2;
		c->heap = xrealloc(c->heap, c->heap_size * sizeof(*c->heap));
	}
	c->heap[c->heap_count] = call;
	sift_up(c, c->heap_count++);
}

static void heap_remove(struct dubbo_client *c, struct dubbo_pending *call)
{
	size_t at = call->heap_at;
	struct dubbo_pending *last = c->heap[--c->heap_count];

	check(at <= c->heap_count);
	if (last != call) {
		place(c, at, last);
		sift_up(c, at);
		sift_down(c, last->heap_at);
	}
}

static void arm(struct dubbo_client *c)
{
	uint64_t due;

	if (c->heap_count == 0) {
		return;
	}
	due = c->heap[0]->deadline;
	due = due > now(c) ? due - now(c) : 0;
	/* Set for something earlier it goes off in vain, and is set again. */
	if (!uv_is_active((uv_handle_t *)&c->deadline) ||
	    uv_timer_get_due_in(&c->deadline) > due) {
		check(uv_timer_start(&c->deadline, dubbo_pending_deadline_cb,
				     due, 0) == 0);
	}
}

/* ---- Calls ---- */

struct dubbo_pending *dubbo_pending_new(struct dubbo_client *c,
					uint64_t deadline, dubbo_done_cb done,
					void *ctx)
{
	struct dubbo_pending *call = xcalloc(1, sizeof(*call));

	call->client = c;
	call->id = c->next_id++;
	call->deadline = deadline;
	call->avoid = -1;
	call->done = done;
	call->ctx = ctx;
	buf_init(&call->frame);
	heap_push(c, call);
	arm(c);
	dubbo_count_in_flight(1);
	return call;
}

static void unlist(struct dubbo_pending *call)
{
	struct dubbo_client *c = call->client;

	if (call->waiting) {
		DL_DELETE(c->waiting, call);
		call->waiting = false;
	}
	if (call->provider != NULL) {
		DL_DELETE(call->provider->calls, call);
		call->provider->in_flight--;
		HASH_DEL(c->sent, call);
	}
}

void dubbo_pending_sent(struct dubbo_pending *call, struct dubbo_provider *p)
{
	struct dubbo_client *c = call->client;

	unlist(call);
	buf_close(&call->frame);
	call->provider = p;
	call->end = stream_position(&p->stream);
	DL_APPEND(p->calls, call);
	p->in_flight++;
	HASH_ADD(hh, c->sent, id, sizeof(call->id), call);
}

void dubbo_pending_wait(struct dubbo_pending *call)
{
	call->waiting = true;
	DL_APPEND(call->client->waiting, call);
}

void dubbo_pending_end(struct dubbo_pending *call, enum dubbo_outcome outcome,
		       const struct dubbo_result *result)
{
	dubbo_done_cb done = call->done;
	void *ctx = call->ctx;
	int index = call->provider != NULL ? call->provider->index : -1;

	unlist(call);
	heap_remove(call->client, call);
	buf_close(&call->frame);
	free(call);
	dubbo_count_in_flight(-1);
	dubbo_count_outcome(outcome, result);
	done(ctx, outcome, result, index);
}

void dubbo_pending_give_up(struct dubbo_pending *call)
{
	const struct dubbo_provider *p = call->provider;
	/* Of a request that lacks its last byte a provider sees nothing. */
	bool kept = p == NULL || stream_kept(&p->stream, call->end);

	dubbo_pending_end(call, kept ? DUBBO_NOT_SENT : DUBBO_UNKNOWN, NULL);
}

struct dubbo_pending *dubbo_pending_find(struct dubbo_provider *p, uint64_t id)
{
	struct dubbo_pending *call;

	HASH_FIND(hh, p->client->sent, &id, sizeof(id), call);
	return call != NULL && call->provider == p ? call : NULL;
}

void dubbo_pending_deadline_cb(uv_timer_t *timer)
{
	struct dubbo_client *c = timer->data;
	size_t turns = c->heap_count;

	/* Callbacks may make new calls, due at once: those come next turn. */
	while (turns-- > 0 && c->heap_count > 0 &&
	       c->heap[0]->deadline <= now(c)) {
		struct dubbo_pending *call = c->heap[0];

		if (call->provider != NULL) {
			dubbo_provider_missed(call->provider);
		}
		dubbo_pending_give_up(call);
	}
	if (c->freeing && c->heap_count == 0) {
		dubbo_client_release(c);
		return;
	}
	arm(c);
}
