/**
 * A TCP (or unix) connection on a loop: bytes in, bytes out, one close.
 *
 * The owner embeds struct stream and keeps it in place until on_close. All
 * calls and callbacks happen on the loop's thread. Writes of one loop turn
 * leave in one write(2): stream_send() only appends, the stream flushes before
 * the loop polls again, so there is no timer and no Nagle delay. An idle
 * stream owns no buffer: reads go through one buffer shared by the loop, and
 * only an unfinished rest is kept.
 */
#ifndef NET_STREAM_H
#define NET_STREAM_H

#include <uv.h>

#include "base/buf.h"

struct stream;

/* One per loop: the shared read buffer and the list of streams to flush. */
struct stream_hub;

struct stream_ops {
	/**
	 * Bytes arrived: p[0..n) is everything not consumed so far. Returns how
	 * many bytes were consumed; the rest comes again with more behind it.
	 * May send, pause and close. Not called any more after stream_close()
	 * or stream_finish(). What a paused stream leaves comes again when it
	 * is resumed, with or without more behind it.
	 */
	size_t (*on_data)(struct stream *s, struct bytes data);
	/**
	 * The peer will send no more, and may still read. True: the owner goes
	 * on sending and ends the stream itself; false, or no such callback:
	 * what is queued is dropped and the end is UV_EOF.
	 */
	bool (*on_eof)(struct stream *s);
	/** Connected (only after stream_connect()); now data may flow. */
	void (*on_open)(struct stream *s);
	/**
	 * The end, exactly once and never from inside a call of ours: why is
	 * UV_EOF, a libuv code, or what stream_close() was given (0 if asked).
	 * The memory may be freed or used again.
	 */
	void (*on_close)(struct stream *s, int why);
};

struct stream {
	const struct stream_ops *ops;
	struct stream_hub *hub;
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	} uv;
	struct buf in;    /* unfinished rest of what arrived */
	struct buf out;   /* to be flushed at the end of this turn */
	void *write;      /* the write in flight, or NULL */
	void *connecting; /* until it is open, or NULL */
	void *timer;      /* to connect or to finish, or NULL */
	size_t in_max;    /* an unconsumed rest above this closes: TOO_BIG
				   (unless paused) */
	size_t out_max;   /* queued bytes above this close: BUSY */
	size_t queued;    /* bytes in out and in flight */
	uint64_t gone;    /* bytes that have left, see stream_kept() */
	struct stream
		*flush_next; /* in the hub's list while out is not empty */
	struct stream *flush_prev;
	uint64_t last_in_ms; /* loop time of the last byte read */
	bool flushing;       /* in that list */
	bool open;           /* data may flow */
	bool paused;         /* reading is stopped */
	bool again;          /* resumed: the rest is to be delivered */
	bool closing;
	bool finishing; /* close once all is written */
	int why;        /* first reason to close */
};

/** One hub per loop; free it after the last on_close and before
 * uv_loop_close(): it closes its handles, run the loop once more. From the
 * first one on the process ignores SIGPIPE. */
struct stream_hub *stream_hub_new(uv_loop_t *loop);
void stream_hub_free(struct stream_hub *hub);
uv_loop_t *stream_hub_loop(struct stream_hub *hub);

/**
 * Have the loop poll at most once in ms (less than 1,000), and sleep until
 * then: a busy loop so reads more at once, with less work for each, and what
 * comes just after a poll waits up to ms. After silence nothing waits. 0, as
 * at first: it polls when it can.
 */
void stream_hub_gather(struct stream_hub *hub, uint64_t ms);

/** Bytes that all streams of a hub have queued. */
size_t stream_hub_queued(const struct stream_hub *hub);

/**
 * Take over the connected socket fd. A failure arrives through on_close like
 * any other end. Sets TCP_NODELAY.
 */
void stream_start(struct stream *s, struct stream_hub *hub, int fd,
		  const struct stream_ops *ops, size_t in_max, size_t out_max);

/**
 * Connect to host:port (IPv4, [IPv6]:port or a name, resolved off the loop's
 * thread) or to unix:/path, within timeout_ms. on_open or on_close follows.
 */
void stream_connect(struct stream *s, struct stream_hub *hub,
		    const char *address, uint64_t timeout_ms,
		    const struct stream_ops *ops, size_t in_max,
		    size_t out_max);

/** Queue a copy. Quietly dropped on a stream that is closing. */
void stream_send(struct stream *s, struct bytes data);

/** The buffer that stream_send() appends to, for writers that build in place;
 * call stream_wrote() after appending. NULL if the stream is closing. */
struct buf *stream_out(struct stream *s);
void stream_wrote(struct stream *s);

/** Where the next byte will stand, counted from the connection's first. */
uint64_t stream_position(const struct stream *s);
/** Whether the byte in front of position never left and never will: the stream
 * is closing, and had not handed it to the system. False if in doubt. */
bool stream_kept(const struct stream *s, uint64_t position);

/** Stop and go on reading: back-pressure. */
void stream_pause(struct stream *s);
void stream_resume(struct stream *s);

/** Close now, drop what is queued. Safe to repeat: the first reason wins. */
void stream_close(struct stream *s, int why);

/** Close when all that was sent has left; at most after timeout_ms. What the
 * peer still sends is dropped. on_close is told why, however it goes; only
 * where that is UV_EOF, an error on the way tells more. */
void stream_finish(struct stream *s, int why, uint64_t timeout_ms);

/* A listening socket. */
struct listener;
typedef void (*listener_cb)(void *ctx, int fd); /* takes fd, non-blocking */

/**
 * Listen on address (as for stream_connect; port 0 picks one; a name is
 * resolved at once and may block: for start-up). on_accept gets every
 * connection. Out of files: pauses 100 ms and goes on. Returns 0 or a libuv
 * code, then *out is NULL.
 */
must_check int listener_new(uv_loop_t *loop, const char *address,
			    listener_cb on_accept, void *ctx,
			    struct listener **out);
/** The address it got, "127.0.0.1:7000"; valid while it lives. */
const char *listener_address(const struct listener *l);
/** Connections accepted from now on end with UV_ETIMEDOUT if the peer leaves
 * unconfirmed for ms what was sent to it: it is gone, or never reads. */
void listener_dead_after(struct listener *l, uint64_t ms);
/** Stop accepting; frees itself on the loop's next turn. */
void listener_free(struct listener *l);

#endif
