/* A client of rain-echo. */
#include <stdlib.h>

#include "bench/echo.h"
#include "proto/frame.h"

enum { SEQ_MAX = 11 /* its key and ten bytes */ };

struct client {
	uv_tcp_t tcp;
	struct echo *echo;
	struct buf rest; /* the beginning of a frame */
	struct buf out;  /* the answers of this read */
	uv_write_t write;
};

void echo_closed_cb(uv_handle_t *handle)
{
	struct client *c = handle->data;

	buf_close(&c->rest);
	buf_close(&c->out);
	free(c);
}

static void drop(struct client *c)
{
	if (!uv_is_closing((uv_handle_t *)&c->tcp)) {
		uv_close((uv_handle_t *)&c->tcp, echo_closed_cb);
	}
}

/* The field seq as it stands at the front of a message; 0 if it does not. */
static size_t seq_length(struct bytes body)
{
	if (body.n == 0 || body.p[0] != 0x08) {
		return 0;
	}
	for (size_t i = 1; i < body.n && i < SEQ_MAX; i++) {
		if (body.p[i] < 0x80) {
			return i + 1;
		}
	}
	return 0;
}

/* Answers whole frames; returns how many bytes they were, or SIZE_MAX. */
static size_t answer(struct client *c, struct bytes data)
{
	struct bytes reply = c->echo->reply;
	size_t taken = 0;

	for (;;) {
		struct bytes rest = { data.p + taken, data.n - taken };
		struct bytes body;
		size_t used;
		size_t seq;

		switch (frame_next(rest, FRAME_FROM_APP_MAX, &body, &used)) {
		case FRAME_MORE:
			return taken;
		case FRAME_BAD:
			return SIZE_MAX;
		case FRAME_OK:
			break;
		}
		taken += used;
		seq = seq_length(body);
		if (seq == 0) {
			return SIZE_MAX;
		}
		buf_put_u32(&c->out, (uint32_t)(seq + reply.n));
		buf_put(&c->out, body.p, seq);
		buf_put_bytes(&c->out, reply);
		c->echo->frames++;
	}
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf);
static void read_cb(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf);

static void written_cb(uv_write_t *write, int status)
{
	struct client *c = container_of(write, struct client, write);

	buf_close(&c->out);
	if (status != 0 ||
	    uv_read_start((uv_stream_t *)&c->tcp, alloc_cb, read_cb) != 0) {
		drop(c);
	}
}

/* What does not leave at once is waited for, and nothing is read meanwhile. */
static void flush(struct client *c)
{
	struct bytes data = buf_live(&c->out);
	uv_buf_t buf = uv_buf_init((char *)(c->out.mem + c->out.head),
				   (unsigned)data.n);
	int n;

	if (data.n == 0) {
		return;
	}
	n = uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);
	if (n < 0 && n != UV_EAGAIN) {
		drop(c);
		return;
	}
	buf_take(&c->out, n > 0 ? (size_t)n : 0);
	if (buf_len(&c->out) == 0) {
		return;
	}
	(void)uv_read_stop((uv_stream_t *)&c->tcp);
	buf = uv_buf_init((char *)(c->out.mem + c->out.head),
			  (unsigned)buf_len(&c->out));
	if (uv_write(&c->write, (uv_stream_t *)&c->tcp, &buf, 1, written_cb) !=
	    0) {
		drop(c);
	}
}

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
	struct client *c = handle->data;

	(void)suggested;
	*buf = uv_buf_init((char *)c->echo->input, ECHO_INPUT);
}

static void read_cb(uv_stream_t *handle, ssize_t n, const uv_buf_t *buf)
{
	struct client *c = handle->data;
	struct bytes data = { (const uint8_t *)buf->base, (size_t)n };
	bool kept = buf_len(&c->rest) > 0;
	size_t used;

	if (n <= 0) {
		if (n < 0) {
			drop(c);
		}
		return;
	}
	if (kept) {
		buf_put_bytes(&c->rest, data);
		data = buf_live(&c->rest);
	}
	used = answer(c, data);
	if (used == SIZE_MAX) {
		drop(c);
		return;
	}
	if (kept) {
		buf_take(&c->rest, used);
		buf_shrink(&c->rest);
	} else if (used < data.n) {
		buf_put(&c->rest, data.p + used, data.n - used);
	}
	flush(c);
}

void echo_connection_cb(uv_stream_t *listener, int status)
{
	struct echo *l = listener->data;
	struct client *c;

	if (status != 0) {
		return;
	}
	c = xcalloc(1, sizeof *c);
	c->echo = l;
	buf_init(&c->rest);
	buf_init(&c->out);
	check(uv_tcp_init(&l->loop, &c->tcp) == 0);
	c->tcp.data = c;
	if (uv_accept(listener, (uv_stream_t *)&c->tcp) != 0 ||
	    uv_tcp_nodelay(&c->tcp, 1) != 0 ||
	    uv_read_start((uv_stream_t *)&c->tcp, alloc_cb, read_cb) != 0) {
		drop(c);
	}
}
