#include "client/kafka_wake.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* What an eventfd wants to be written: eight bytes, native order. */
static const uint64_t one = 1;

static void wake_cb(uv_poll_t *poll, int status, int events)
{
	struct kafka_wake *w = poll->data;
	uint64_t count;

	(void)events;
	check(status == 0); /* an eventfd has no error to report */
	if (read(w->fd, &count, sizeof(count)) == sizeof(count)) {
		w->serve(w->ctx);
	}
}

int kafka_wake_init(struct kafka_wake *w, uv_loop_t *loop,
		    void (*serve)(void *), void *ctx)
{
	int rv;

	*w = (struct kafka_wake){ .serve = serve, .ctx = ctx };
	w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->fd < 0) {
		return uv_translate_sys_error(errno);
	}
	rv = uv_poll_init(loop, &w->poll, w->fd);
	if (rv != 0) {
		(void)close(w->fd);
		return rv;
	}
	w->poll.data = w;
	rv = uv_poll_start(&w->poll, UV_READABLE, wake_cb);
	check(rv == 0); /* it only notes what to watch */
	return 0;
}

void kafka_wake_watch(struct kafka_wake *w, rd_kafka_queue_t *queue)
{
	rd_kafka_queue_io_event_enable(queue, w->fd, &one, sizeof(one));
	kafka_wake_arm(w);
}

void kafka_wake_unwatch(rd_kafka_queue_t *queue)
{
	rd_kafka_queue_io_event_enable(queue, -1, NULL, 0);
}

void kafka_wake_arm(struct kafka_wake *w)
{
	ssize_t n = write(w->fd, &one, sizeof(one));

	/* EAGAIN would need 2^64 - 2 wake-ups that nobody has read. */
	check(n == sizeof(one));
}

static void close_cb(uv_handle_t *handle)
{
	struct kafka_wake *w = handle->data;

	(void)close(w->fd);
	w->fd = -1;
	w->closed(w->ctx);
}

void kafka_wake_close(struct kafka_wake *w, void (*closed)(void *))
{
	w->closed = closed;
	uv_close((uv_handle_t *)&w->poll, close_cb);
}
