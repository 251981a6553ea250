#include "fault/proxy_pair.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum {
	QUEUE_BYTES_MAX = 256 * 1024, /* of one direction of a connection */
	READ_BYTES = 64 * 1024,
	PAIRS_MAX = 4096, /* connections of a proxy */
};

/* Bytes on their way. */
struct piece {
	struct piece *prev, *next; /* utlist */
	uint64_t due_ms;           /* loop time at which it may leave */
	uv_write_t write;
	struct flow *flow;
	size_t len;
	char data[];
};

/* One direction of a connection. */
struct flow {
	struct pair *pair;
	enum proxy_direction direction;
	struct piece *pieces; /* oldest first */
	size_t queued_bytes;
	bool reading;
	bool writing; /* the oldest piece is being written */
	bool at_end;  /* its source has sent FIN */
	bool ended;   /* FIN was passed on */
	uv_shutdown_t shutdown;
};

/*
 *            flows[PROXY_UP]
 *   client ─────────────────► server
 *   ends[0] ◄──────────────── ends[1]
 *            flows[PROXY_DOWN]
 */
struct pair {
	struct pair *prev, *next; /* of the proxy */
	struct proxy *proxy;
	uv_tcp_t ends[2];
	uv_timer_t timer; /* until the next piece is due */
	uv_connect_t connect;
	struct flow flows[2];
	bool connected;
	bool closing;
	int open;        /* handles that are not closed yet */
	uint64_t budget; /* bytes that may still pass, when limited */
	bool limited;    /* cut when the budget is used up */
	bool spent;      /* it is: no fault that ends makes that undone */
	char in[READ_BYTES];
};

static void pump(struct flow *f);

static uv_stream_t *source(struct flow *f)
{
	return (uv_stream_t *)&f->pair->ends[f->direction];
}

static uv_stream_t *sink(struct flow *f)
{
	return (uv_stream_t *)&f->pair->ends[1 - f->direction];
}

static void pair_closed_cb(uv_handle_t *handle)
{
	struct pair *pair = handle->data;

	if (--pair->open > 0) {
		return;
	}
	for (int i = 0; i < 2; i++) {
		struct piece *piece, *next;

		DL_FOREACH_SAFE(pair->flows[i].pieces, piece, next)
		{
			free(piece);
		}
	}
	free(pair);
}

void pair_close(struct pair *pair, bool hard)
{
	if (pair->closing) {
		return;
	}
	pair->closing = true;
	DL_DELETE(pair->proxy->pairs, pair);
	pair->proxy->pair_count--;
	uv_close((uv_handle_t *)&pair->timer, pair_closed_cb);
	for (int i = 0; i < 2; i++) {
		/* Refused after a FIN was sent: then an ordinary close. */
		if (!hard ||
		    uv_tcp_close_reset(&pair->ends[i], pair_closed_cb) != 0) {
			uv_close((uv_handle_t *)&pair->ends[i], pair_closed_cb);
		}
	}
}

static void alloc_cb(uv_handle_t *handle, size_t wanted, uv_buf_t *buf)
{
	struct pair *pair = handle->data;

	(void)wanted;
	*buf = uv_buf_init(pair->in, sizeof pair->in);
}

/* What arrived becomes a piece; a limited pair takes no more than it may. */
static void read_cb(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct pair *pair = stream->data;
	struct flow *f = &pair->flows[stream == (uv_stream_t *)&pair->ends[1]];
	struct piece *piece;

	if (n < 0) {
		if (n != UV_EOF) {
			pair_close(pair, true);
			return;
		}
		f->at_end = true;
		f->reading = false;
		(void)uv_read_stop(stream);
		pump(f);
		return;
	}
	if (n == 0) {
		return;
	}
	piece = xcalloc(1, sizeof *piece + (size_t)n);
	piece->flow = f;
	piece->len = (size_t)n;
	piece->due_ms = uv_now(pair->proxy->loop) + pair->proxy->delay_ms;
	memcpy(piece->data, buf->base, (size_t)n);
	DL_APPEND(f->pieces, piece);
	f->queued_bytes += piece->len;
	pump(f);
}

/* Read while there is room, and the fault lets us. */
static void update_reading(struct flow *f)
{
	bool want = f->pair->connected && !f->at_end &&
		    !f->pair->proxy->stalled[f->direction] &&
		    f->queued_bytes < QUEUE_BYTES_MAX;

	if (want == f->reading) {
		return;
	}
	f->reading = want;
	if (!want) {
		(void)uv_read_stop(source(f));
	} else if (uv_read_start(source(f), alloc_cb, read_cb) != 0) {
		pair_close(f->pair, true);
	}
}

static void shutdown_cb(uv_shutdown_t *req, int status)
{
	struct flow *f = container_of(req, struct flow, shutdown);
	struct pair *pair = f->pair;

	(void)status;
	f->ended = true;
	if (pair->flows[0].ended && pair->flows[1].ended) {
		pair_close(pair, false);
	}
}

static void write_cb(uv_write_t *req, int status)
{
	struct piece *piece = container_of(req, struct piece, write);
	struct flow *f = piece->flow;
	struct pair *pair = f->pair;

	f->writing = false;
	f->queued_bytes -= piece->len;
	pair->proxy->passed_bytes += piece->len;
	DL_DELETE(f->pieces, piece);
	free(piece);
	if (pair->closing) {
		return;
	}
	if (status != 0) {
		pair_close(pair, true);
	} else if (pair->spent) {
		pair_close(pair, false);
	} else {
		pump(f);
	}
}

static void due_cb(uv_timer_t *timer)
{
	struct pair *pair = timer->data;

	for (int i = 0; i < 2 && !pair->closing; i++) {
		pump(&pair->flows[i]);
	}
}

/* Send the oldest piece, cut where the budget ends. */
static void write_piece(struct flow *f, struct piece *piece)
{
	struct pair *pair = f->pair;
	uv_buf_t buf;
	size_t len = piece->len;

	if (pair->spent) {
		return; /* the write that used it up closes the pair */
	}
	if (pair->limited) {
		len = len < pair->budget ? len : (size_t)pair->budget;
		pair->budget -= len;
		pair->spent = pair->budget == 0;
	}
	buf = uv_buf_init(piece->data, (unsigned)len);
	f->writing = true;
	if (uv_write(&piece->write, sink(f), &buf, 1, write_cb) != 0) {
		f->writing = false;
		pair_close(pair, true);
	}
}

/* Move what may move. */
static void pump(struct flow *f)
{
	struct pair *pair = f->pair;
	uint64_t now = uv_now(pair->proxy->loop);
	struct piece *piece = f->pieces;

	if (pair->closing || !pair->connected) {
		return;
	}
	if (!f->writing && !pair->proxy->stalled[f->direction]) {
		if (piece != NULL && piece->due_ms > now) {
			uint64_t ms = piece->due_ms - now;

			if (!uv_is_active((uv_handle_t *)&pair->timer) ||
			    uv_timer_get_due_in(&pair->timer) > ms) {
				(void)uv_timer_start(&pair->timer, due_cb, ms,
						     0);
			}
		} else if (piece != NULL) {
			write_piece(f, piece);
		} else if (f->at_end && f->shutdown.data == NULL) {
			f->shutdown.data = f;
			if (uv_shutdown(&f->shutdown, sink(f), shutdown_cb) !=
			    0) {
				pair_close(pair, true);
			}
		}
	}
	if (!pair->closing) {
		update_reading(f);
	}
}

static void connect_cb(uv_connect_t *req, int status)
{
	struct pair *pair = container_of(req, struct pair, connect);

	if (pair->closing) {
		return;
	}
	if (status != 0) {
		pair_close(pair, true);
		return;
	}
	pair->connected = true;
	for (int i = 0; i < 2; i++) {
		(void)uv_tcp_nodelay(&pair->ends[i], 1);
		pump(&pair->flows[i]);
	}
}

static void limit(struct pair *pair)
{
	pair->limited = pair->proxy->drop_after > 0;
	pair->budget = pair->proxy->drop_after;
}

void pair_address(int port, struct sockaddr_in *sa)
{
	int rv = uv_ip4_addr("127.0.0.1", port, sa);

	check(rv == 0); /* a fixed text */
}

void pair_accept(struct proxy *p)
{
	struct pair *pair = xcalloc(1, sizeof *pair);
	struct sockaddr_in sa;
	int rv = 0;

	pair->proxy = p;
	for (int i = 0; i < 2; i++) {
		rv |= uv_tcp_init(p->loop, &pair->ends[i]);
		pair->ends[i].data = pair;
		pair->flows[i].pair = pair;
		pair->flows[i].direction = (enum proxy_direction)i;
	}
	rv |= uv_timer_init(p->loop, &pair->timer);
	check(rv == 0); /* creates no socket, so cannot fail */
	pair->timer.data = pair;
	pair->open = 3;
	limit(pair);
	DL_APPEND(p->pairs, pair);
	p->pair_count++;
	p->accepted_count++;
	pair_address(p->target, &sa);
	if (uv_accept((uv_stream_t *)p->listener,
		      (uv_stream_t *)&pair->ends[0]) != 0 ||
	    p->pair_count > PAIRS_MAX ||
	    uv_tcp_connect(&pair->connect, &pair->ends[1],
			   (const struct sockaddr *)&sa, connect_cb) != 0) {
		pair_close(pair, true);
	}
}

void pair_update(struct pair *pair, bool limits)
{
	if (limits) {
		limit(pair);
	}
	for (int i = 0; i < 2 && !pair->closing; i++) {
		pump(&pair->flows[i]);
	}
}

struct pair *pair_next(const struct pair *pair)
{
	return pair->next;
}
