/**
 * What stream.c and stream_connect.c share: the hub, and the steps from a
 * connected handle to an open stream.
 */
#ifndef NET_STREAM_INTERNAL_H
#define NET_STREAM_INTERNAL_H

#include "net/stream.h"

enum { HUB_INPUT = 64 * 1024 };

struct stream_hub {
	uv_loop_t *loop;
	uv_prepare_t flush;     /* unreferenced, runs before every poll */
	uv_idle_t awake;        /* active while pending: the poll won't wait */
	struct stream *pending; /* to be flushed or read again */
	size_t pending_count;
	size_t queued;            /* bytes, of all streams */
	uint64_t gather_ns;       /* from one poll to the next, at least */
	uint64_t polled_ns;       /* when the last began; only if it gathers */
	int handles;              /* not closed yet */
	uint8_t input[HUB_INPUT]; /* what all streams read into */
};

/** Forget what an earlier life left in *s. */
void stream_reset(struct stream *s, struct stream_hub *hub,
		  const struct stream_ops *ops, size_t in_max, size_t out_max);

/** In stream_hub.c: have stream_turn() called before the loop polls next. */
void stream_pend(struct stream *s);
void stream_unpend(struct stream *s);
/** Deliver again what a resumed stream left, and flush. */
void stream_turn(struct stream *s);

/** The handle is connected: start reading. */
void stream_opened(struct stream *s);

/** Close for UV_ETIMEDOUT after timeout_ms; replaces an earlier timer. */
void stream_timer_start(struct stream *s, uint64_t timeout_ms);
void stream_timer_stop(struct stream *s);

/** For uv_close(): the end of s, see on_close. */
void stream_closed_cb(uv_handle_t *handle);

/** In stream_connect.c: stop resolving; free what connecting took. */
void stream_connect_stop(struct stream *s);
void stream_connect_end(struct stream *s);

#endif
