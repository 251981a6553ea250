/**
 * What the files of the Redis client share.
 *
 *   redis.c       what callers see
 *   redis_queue.c when a command leaves, when it ends, and how
 *   redis_call.c  one command: its bytes, and how they are sent
 *   redis_conn.c  the connection: connect, replies, silence, close, backoff
 *   redis_hello.c AUTH to PING, and whether the server may be used
 *   redis_error.c, redis_url.c, redis_metrics.c  pure, and the counters
 *
 * A call is in exactly one list: waiting (not sent), sent (in the order of
 * the replies to come), finished (its outcome is known, the callback comes
 * before the event that ended it is left) or refused (its callback comes on
 * the next turn). Only redis_run_finished() calls back.
 */
#ifndef CLIENT_REDIS_INTERNAL_H
#define CLIENT_REDIS_INTERNAL_H

#include "client/redis.h"
#include "client/redis_url.h"

enum {
	REDIS_QUEUED_MAX = 4 << 20, /* unsent bytes; above, commands wait */
	REDIS_REPLY_MAX = 16 << 20, /* bytes of one reply */
	REDIS_POLL_MIN_MS = 100,    /* a LOADING server, doubling */
	REDIS_POLL_MAX_MS = 1000,
};

struct redis_call {
	struct redis_call *next;
	struct redis_call *prev;
	redis_cb done;       /* NULL: nobody wants to know */
	void *ctx;           /* for done */
	redisReply *reply;   /* finished: owned, or NULL */
	redisReply *refused; /* sent: the first error of a transaction */
	const struct redis_script *script; /* NULL: a plain command */
	uint64_t deadline_ms;              /* loop time; UINT64_MAX: none */
	uint64_t sent_ms;                  /* loop time */
	enum redis_outcome outcome;        /* finished, refused */
	bool own;       /* ours (AUTH, PING, ...): not counted, no deadline */
	bool eval;      /* script: send the source, not the SHA1 */
	bool abandoned; /* sent and expired: its reply is swallowed */
	size_t argc;    /* as Redis counts them */
	size_t then;    /* commands behind the script; 0: no transaction */
	size_t due;     /* sent: replies to come, of a transaction several */
	size_t n;       /* bytes of wire */
	uint8_t wire[]; /* the encoded arguments, of a script those after the
			 * SHA1; kept until the answer for EVAL. Behind them
			 * the commands of `then`. */
};

enum redis_state {
	/* No connection. next: CONNECTING at step_ms. */
	REDIS_IDLE,
	/* next: HELLO when open, IDLE when that fails. */
	REDIS_CONNECTING,
	/* AUTH to PING are sent. next: READY when all are answered, LOADING
	 * if the server says so, CLOSING if it refuses or step_ms comes. */
	REDIS_HELLO,
	/* The server reads its data. next: HELLO at step_ms. */
	REDIS_LOADING,
	/* Commands go out. next: LOADING or LEAVING if a reply demands it,
	 * CLOSING after silence. */
	REDIS_READY,
	/* This is no master: commands wait. next: CLOSING once all that was
	 * sent is answered, or after silence. */
	REDIS_LEAVING,
	/* next: IDLE when the stream has closed. */
	REDIS_CLOSING,
};

struct redis {
	struct stream stream;         /* in use unless IDLE */
	struct stream_hub *hub;       /* not ours */
	struct redis_options options; /* without url; name is our copy */
	struct redis_url url;
	enum redis_state state;
	redisReader *reader;       /* of this connection, or NULL */
	size_t unparsed;           /* bytes of the reply that is not complete */
	uint64_t connections;      /* how many came up so far */
	unsigned attempts;         /* in a row, without a good answer */
	uint64_t unready_ms;       /* loop time when all was well last */
	uint64_t poll_ms;          /* LOADING: pause before the next hello */
	enum redis_reaction hello; /* what the errors of this hello demand */
	bool hello_failed;         /* there was one */
	bool slow; /* a person must act: no hurry to reconnect */

	struct redis_call *waiting;
	struct redis_call *sent;
	struct redis_call *finished;
	struct redis_call *refused;
	int64_t count; /* callers' calls in waiting and sent */

	uv_timer_t timer;     /* for the earlier of the next two */
	uint64_t step_ms;     /* when the state asks for something */
	uint64_t deadline_ms; /* no call's deadline is before this */
	uv_idle_t later;      /* active while refused is not empty */
	uint64_t logged_ms[REDIS_REACT_PARTIAL + 1]; /* per reaction */

	void (*changed)(void *ctx); /* watcher, or NULL */
	void *changed_ctx;
	bool freed;
	int handles; /* freed: handles that are still to close */
};

/* ---- redis_call.c ---- */

/** A call with its arguments encoded; the caller puts it into a list. */
struct redis_call *redis_call_new(size_t argc, const struct bytes *argv);
struct redis_call *redis_call_new_script(const struct redis_script *script,
					 size_t key_count, size_t argc,
					 const struct bytes *argv,
					 size_t then_count,
					 const struct redis_words *then);

/** Without arguments: only there to be finished. */
struct redis_call *redis_call_new_empty(redis_cb done, void *ctx);

/** Frees the reply too. */
void redis_call_free(struct redis_call *c);

/** Append the whole command, as EVALSHA or EVAL if it is a script, and all of
 * a transaction. */
void redis_call_write(const struct redis_call *c, struct buf *out);

/** How many replies that brings. */
size_t redis_call_replies(const struct redis_call *c);

/** Take a reply that is not the last one. */
void redis_call_take(struct redis_call *c, redisReply *reply);

/** What the last reply, which it takes, says of the whole: that reply, or the
 * error by which the transaction was refused or its script ended. */
redisReply *redis_call_verdict(struct redis_call *c, redisReply *last);

/* ---- redis_queue.c ---- */

/** So many more callers' calls are in waiting and sent. */
void redis_count(struct redis *r, int64_t delta);

/** Send what waits, as far as the connection takes it. */
void redis_pump(struct redis *r);

/** Send c, which is in no list, now: the connection is open. */
void redis_send(struct redis *r, struct redis_call *c);

/** An EVALSHA met no script: send c, which is in no list, as EVAL. */
void redis_send_eval(struct redis *r, struct redis_call *c);

/** Take the first sent call out of its list, because its reply is there. */
struct redis_call *redis_take_first(struct redis *r);

/** c is in no list: its callback is due. Takes reply, which may be NULL. */
void redis_finish(struct redis *r, struct redis_call *c,
		  enum redis_outcome outcome, redisReply *reply);

/** The connection is gone: every sent call is UNKNOWN. */
void redis_finish_sent(struct redis *r);

/** Run the callbacks that are due. They may free r: its memory stays until
 * the loop has turned, look at r->freed. */
void redis_run_finished(struct redis *r);

/** The earlier of step_ms and deadline_ms may have changed. */
void redis_arm(struct redis *r);

/* ---- redis.c ---- */

/** One of the handles of a freed r has closed. */
void redis_handle_closed(struct redis *r);

/* ---- redis_conn.c ---- */

/** Connect now. From IDLE. */
void redis_conn_connect(struct redis *r);

/** Close; the next connection follows. Nothing if there is none. May free r,
 * as redis_run_finished(). */
void redis_conn_close(struct redis *r, int why);

/** step_ms has come. May free r. */
void redis_conn_step(struct redis *r);

/** Set step_ms to so many ms from now; UINT64_MAX: never. */
void redis_step_in(struct redis *r, uint64_t ms);

/** Move on and tell the watcher. May free r. */
void redis_set_state(struct redis *r, enum redis_state state);

/* ---- redis_hello.c ---- */

/** Send AUTH, SELECT, CLIENT SETNAME and PING as configured. The connection
 * is open; the state becomes HELLO. */
void redis_hello(struct redis *r);

/** Send a command of ours: done runs inside on_data, or never if the
 * connection is lost, and gets r. */
void redis_send_own(struct redis *r, size_t argc, const struct bytes *argv,
		    redis_cb done);

/** The text of an error reply; borrowed from it. */
struct bytes redis_error_text(const redisReply *reply);

/** What of it may stand in the log: Redis repeats the arguments of a command
 * that it does not know, and those of AUTH are secret. */
struct bytes redis_loggable(struct bytes text);

/** Whether to log this failed attempt: in a long outage a line each time
 * would hide all others. */
bool redis_worth_a_line(const struct redis *r);

/* ---- redis_metrics.c ---- */

/** Register them, once a process. Safe from any thread, like the others. */
void redis_metrics_init(void);
/** A command of a caller has ended. */
void redis_metrics_outcome(enum redis_outcome outcome);
/** An error reply came, to whatever command. */
void redis_metrics_error(enum redis_reaction reaction);
/** A connection is open. */
void redis_metrics_connected(void);
/** So many more commands of callers are in waiting or sent. */
void redis_metrics_in_flight(int64_t delta);

#endif
