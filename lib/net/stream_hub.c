/* Once a turn of the loop: flush the streams that have something to say. */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <utlist.h>

#include "net/stream_internal.h"

static void awake_cb(uv_idle_t *handle)
{
	(void)handle; /* that it is active is all it does */
}

void stream_pend(struct stream *s)
{
	struct stream_hub *hub = s->hub;

	if (s->flushing) {
		return;
	}
	s->flushing = true;
	DL_APPEND2(hub->pending, s, flush_prev, flush_next);
	if (hub->pending_count++ == 0) {
		/* What is queued after this turn's flush must not wait until
		 * the poll finds something to do. */
		(void)uv_idle_start(&hub->awake, awake_cb);
	}
}

void stream_unpend(struct stream *s)
{
	struct stream_hub *hub = s->hub;

	if (!s->flushing) {
		return;
	}
	s->flushing = false;
	DL_DELETE2(hub->pending, s, flush_prev, flush_next);
	if (--hub->pending_count == 0) {
		(void)uv_idle_stop(&hub->awake);
	}
}

/* As a network card holds back its interrupts: what comes meanwhile is read
 * with one wake-up, and answered with fewer writes. */
static void gather(struct stream_hub *hub)
{
	uint64_t since = uv_hrtime() - hub->polled_ns;

	if (since < hub->gather_ns) {
		struct timespec rest = { .tv_nsec = (long)(hub->gather_ns -
							   since) };

		(void)nanosleep(&rest, NULL); /* a signal ends it early */
	}
	hub->polled_ns = uv_hrtime();
}

static void flush_cb(uv_prepare_t *handle)
{
	struct stream_hub *hub = handle->data;
	size_t turns = hub->pending_count;

	/* Callbacks add to the list and take from it; what they add beyond
	 * this round is for the next one, which the idle handle brings. */
	while (turns-- > 0 && hub->pending != NULL) {
		struct stream *s = hub->pending;

		stream_unpend(s);
		stream_turn(s);
	}
	if (hub->gather_ns > 0 && hub->pending_count == 0) {
		gather(hub);
	}
}

struct stream_hub *stream_hub_new(uv_loop_t *loop)
{
	struct stream_hub *hub = xmalloc(sizeof(*hub));

	/* libuv writes with write(2): to a peer that is gone, that would be
	 * the end of the process. */
	(void)signal(SIGPIPE, SIG_IGN);
	hub->loop = loop;
	hub->pending = NULL;
	hub->pending_count = 0;
	hub->queued = 0;
	hub->gather_ns = 0;
	hub->polled_ns = 0;
	hub->handles = 2;
	check(uv_prepare_init(loop, &hub->flush) == 0);
	hub->flush.data = hub;
	check(uv_prepare_start(&hub->flush, flush_cb) == 0);
	uv_unref((uv_handle_t *)&hub->flush);
	check(uv_idle_init(loop, &hub->awake) == 0);
	hub->awake.data = hub;
	return hub;
}

static void closed_cb(uv_handle_t *handle)
{
	struct stream_hub *hub = handle->data;

	if (--hub->handles == 0) {
		free(hub);
	}
}

void stream_hub_free(struct stream_hub *hub)
{
	check(hub->pending == NULL);
	uv_close((uv_handle_t *)&hub->flush, closed_cb);
	uv_close((uv_handle_t *)&hub->awake, closed_cb);
}

void stream_hub_gather(struct stream_hub *hub, uint64_t ms)
{
	check(ms < 1000);
	hub->gather_ns = ms * 1000000;
}

uv_loop_t *stream_hub_loop(struct stream_hub *hub)
{
	return hub->loop;
}

size_t stream_hub_queued(const struct stream_hub *hub)
{
	return hub->queued;
}
