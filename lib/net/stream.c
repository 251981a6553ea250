#include "net/stream.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "net/stream_internal.h"

enum { OUT_FIRST = 256 };

/* The one write in flight of a stream; owns the bytes. */
struct write {
	uv_write_t req;
	struct buf data;
	struct stream *s;
};

/* ---- When all is well: in and out ---- */

static void count_queued(struct stream *s)
{
	const struct write *w = s->write;
	size_t now = buf_len(&s->out) + (w != NULL ? buf_len(&w->data) : 0);

	s->hub->queued += now - s->queued;
	s->queued = now;
}

/* Hand everything unconsumed to the owner. data is in the hub's buffer, or
 * all of s->in. */
static void deliver(struct stream *s, struct bytes data)
{
	bool kept = buf_len(&s->in) > 0;
	size_t used;

	used = s->ops->on_data(s, data);
	if (s->closing || s->finishing) {
		return; /* stream_closed_cb() frees s->in */
	}
	check(used <= data.n);
	if (kept) {
		buf_take(&s->in, used);
		buf_shrink(&s->in);
	} else if (used < data.n) {
		buf_put(&s->in, data.p + used, data.n - used);
	}
	/* Whoever pauses may leave whole frames behind; that rest is bounded
	 * by the hub's buffer, because nothing is read any more. */
	if (!s->paused && buf_len(&s->in) > s->in_max) {
		stream_close(s, ERR_TOO_BIG);
	}
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct stream *s = handle->data;

	(void)suggested;
	*buf = uv_buf_init((char *)s->hub->input, HUB_INPUT);
}

static void read_cb(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf)
{
	struct stream *s = handle->data;
	struct bytes data = { (const uint8_t *)buf->base, (size_t)n };

	if (s->closing || n == 0) {
		return;
	}
	if (n == UV_EOF &&
	    (s->finishing || (s->ops->on_eof != NULL && s->ops->on_eof(s)))) {
		return; /* libuv reads no more; writing goes on */
	}
	if (n < 0) {
		stream_close(s, (int)n);
		return;
	}
	s->last_in_ms = uv_now(s->hub->loop);
	if (s->finishing) {
		return; /* read, so that closing does not reset, and dropped */
	}
	if (buf_len(&s->in) > 0) {
		buf_put_bytes(&s->in, data);
		data = buf_live(&s->in);
	}
	deliver(s, data);
}

static void write_cb(uv_write_t *req, int status)
{
	struct write *w = container_of(req, struct write, req);
	struct stream *s = w->s;

	/* Comes before stream_closed_cb(), with any status, if the stream closes. */
	check(s->write == w);
	s->write = NULL;
	if (!s->closing) {
		/* Of a write that failed nobody knows how much has left. */
		s->gone += buf_len(&w->data);
	}
	buf_close(&w->data);
	free(w);
	count_queued(s);
	if (s->closing) {
		return;
	}
	if (status != 0) {
		stream_close(s, status);
	} else if (s->queued > 0 || s->finishing) {
		stream_pend(s);
	}
}

static void write_rest(struct stream *s)
{
	struct write *w = xmalloc(sizeof(*w));
	struct bytes rest = buf_live(&s->out);
	uv_buf_t buf;
	int rv;

	w->s = s;
	w->data = s->out;
	buf_init(&s->out);
	buf = uv_buf_init((char *)(w->data.mem + w->data.head),
			  (unsigned)rest.n);
	s->write = w;
	rv = uv_write(&w->req, &s->uv.stream, &buf, 1, write_cb);
	if (rv != 0) {
		s->write = NULL;
		buf_close(&w->data);
		free(w);
		stream_close(s, rv);
	}
}

/* All that was sent has left. What the peer still sends is read away as far
 * as it is here: closing with unread bytes would reset the connection, and
 * the peer could lose our last words. */
static void finish(struct stream *s)
{
	uv_os_fd_t fd;

	if (uv_fileno(&s->uv.handle, &fd) == 0) {
		(void)shutdown(fd, SHUT_WR);
		for (int i = 0; i < 16; i++) {
			if (recv(fd, s->hub->input, HUB_INPUT, MSG_DONTWAIT) <=
			    0) {
				break;
			}
		}
	}
	stream_close(s, s->why);
}

static void flush(struct stream *s)
{
	struct bytes data = buf_live(&s->out);
	uv_buf_t buf;
	int n;

	if (!s->open || s->write != NULL) {
		return; /* stream_opened() and write_cb() come back to it */
	}
	if (data.n > 0) {
		buf = uv_buf_init((char *)(s->out.mem + s->out.head),
				  (unsigned)data.n);
		n = uv_try_write(&s->uv.stream, &buf, 1);
		if (n < 0 && n != UV_EAGAIN) {
			stream_close(s, n);
			return;
		}
		if (n > 0) {
			buf_take(&s->out, (size_t)n);
			s->gone += (size_t)n;
		}
		if (buf_len(&s->out) > 0) {
			write_rest(s);
			return;
		}
		buf_close(&s->out);
		count_queued(s);
	}
	if (s->finishing) {
		finish(s);
	}
}

void stream_turn(struct stream *s)
{
	bool again = s->again;

	s->again = false;
	if (again && s->open && !s->paused && !s->finishing &&
	    buf_len(&s->in) > 0) {
		deliver(s, buf_live(&s->in));
	}
	if (!s->closing) {
		flush(s);
	}
}

struct buf *stream_out(struct stream *s)
{
	if (s->closing || s->finishing) {
		return NULL;
	}
	/* Mostly enough for what a turn sends: it does not grow in steps. */
	(void)buf_room(&s->out, buf_len(&s->out) == 0 ? OUT_FIRST : 0);
	return &s->out;
}

void stream_wrote(struct stream *s)
{
	if (s->closing) {
		return;
	}
	count_queued(s);
	if (s->queued > s->out_max) {
		stream_close(s, ERR_BUSY);
	} else if (s->queued > 0) {
		stream_pend(s);
	}
}

void stream_send(struct stream *s, struct bytes data)
{
	struct buf *out = stream_out(s);

	if (out != NULL) {
		buf_put_bytes(out, data);
		stream_wrote(s);
	}
}

void stream_pause(struct stream *s)
{
	if (!s->paused && s->open) {
		(void)uv_read_stop(&s->uv.stream);
	}
	s->paused = true;
}

void stream_resume(struct stream *s)
{
	int rv;

	if (!s->paused || s->closing) {
		return;
	}
	s->paused = false;
	if (!s->open) {
		return;
	}
	rv = uv_read_start(&s->uv.stream, alloc_cb, read_cb);
	if (rv != 0) {
		stream_close(s, rv);
		return;
	}
	/* What was left behind is due now, not with the next bytes. */
	s->again = true;
	stream_pend(s);
}

/* ---- Beginning and end ---- */

void stream_reset(struct stream *s, struct stream_hub *hub,
		  const struct stream_ops *ops, size_t in_max, size_t out_max)
{
	memset(s, 0, sizeof(*s));
	s->ops = ops;
	s->hub = hub;
	s->in_max = in_max;
	s->out_max = out_max;
	s->last_in_ms = uv_now(hub->loop);
	buf_init(&s->in);
	buf_init(&s->out);
}

void stream_opened(struct stream *s)
{
	int rv;

	s->open = true;
	s->last_in_ms = uv_now(s->hub->loop);
	if (s->uv.handle.type == UV_TCP) {
		(void)uv_tcp_nodelay(&s->uv.tcp, 1);
	}
	if (!s->paused) {
		rv = uv_read_start(&s->uv.stream, alloc_cb, read_cb);
		if (rv != 0) {
			stream_close(s, rv);
			return;
		}
	}
	if (s->queued > 0 || s->finishing) {
		stream_pend(s);
	}
}

void stream_start(struct stream *s, struct stream_hub *hub, int fd,
		  const struct stream_ops *ops, size_t in_max, size_t out_max)
{
	int domain = AF_INET;
	socklen_t len = sizeof(domain);
	int rv;

	stream_reset(s, hub, ops, in_max, out_max);
	(void)getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len);
	if (domain == AF_UNIX) {
		rv = uv_pipe_init(hub->loop, &s->uv.pipe, 0);
		check(rv == 0); /* makes no socket, so cannot fail */
		rv = uv_pipe_open(&s->uv.pipe, fd);
	} else {
		rv = uv_tcp_init(hub->loop, &s->uv.tcp);
		check(rv == 0); /* likewise */
		rv = uv_tcp_open(&s->uv.tcp, fd);
	}
	/* From here the loop knows the handle, so even a failed start must
	 * leave through uv_close(). */
	s->uv.handle.data = s;
	if (rv != 0) {
		(void)close(fd);
		stream_close(s, rv);
		return;
	}
	stream_opened(s);
}

/* It is about to close: what the write in flight had handed over. */
static void count_gone(struct stream *s)
{
	const struct write *w = s->write;

	if (w != NULL) {
		size_t kept = uv_stream_get_write_queue_size(&s->uv.stream);

		check(kept <= buf_len(&w->data));
		s->gone += buf_len(&w->data) - kept;
	}
}

uint64_t stream_position(const struct stream *s)
{
	return s->gone + s->queued;
}

bool stream_kept(const struct stream *s, uint64_t position)
{
	return s->closing && position > s->gone;
}

void stream_close(struct stream *s, int why)
{
	if (s->closing) {
		return;
	}
	s->closing = true;
	s->open = false;
	count_gone(s);
	/* libuv takes a connection that broke while there was still something
	 * to read for one that ended; the write that fails says what it was. */
	if (!s->finishing || s->why == UV_EOF) {
		s->why = why;
	}
	stream_unpend(s);
	stream_timer_stop(s);
	stream_connect_stop(s);
	/* It may be closing already, between two addresses. */
	if (!uv_is_closing(&s->uv.handle)) {
		uv_close(&s->uv.handle, stream_closed_cb);
	}
}

void stream_closed_cb(uv_handle_t *handle)
{
	struct stream *s = handle->data;

	check(s->closing);
	check(s->write == NULL); /* libuv ends the write before the close */
	check(!s->flushing);
	stream_connect_end(s);
	buf_close(&s->in);
	buf_close(&s->out);
	count_queued(s);
	s->ops->on_close(s, s->why);
}

void stream_finish(struct stream *s, int why, uint64_t timeout_ms)
{
	if (s->closing || s->finishing) {
		return;
	}
	s->why = why;
	s->finishing = true;
	stream_timer_start(s, timeout_ms);
	stream_pend(s);
}
