/* The one timer of a stream: to connect, or to finish. */
#include <stdlib.h>

#include "net/stream_internal.h"

/* Lives on its own, since closing a timer takes a turn of the loop too. */
struct timer {
	uv_timer_t handle;
	struct stream *s;
};

static void timer_closed_cb(uv_handle_t *handle)
{
	free(container_of(handle, struct timer, handle));
}

static void timer_cb(uv_timer_t *handle)
{
	struct timer *t = container_of(handle, struct timer, handle);

	stream_close(t->s, t->s->finishing ? t->s->why : UV_ETIMEDOUT);
}

void stream_timer_start(struct stream *s, uint64_t timeout_ms)
{
	struct timer *t = xmalloc(sizeof(*t));
	int rv;

	stream_timer_stop(s);
	t->s = s;
	s->timer = t;
	rv = uv_timer_init(s->hub->loop, &t->handle);
	check(rv == 0); /* always */
	rv = uv_timer_start(&t->handle, timer_cb, timeout_ms, 0);
	check(rv == 0); /* it has a callback and is not closing */
}

void stream_timer_stop(struct stream *s)
{
	struct timer *t = s->timer;

	if (t != NULL) {
		s->timer = NULL;
		uv_close((uv_handle_t *)&t->handle, timer_closed_cb);
	}
}
