/**
 * A Redis client on a loop: one connection, pipelined, with a deadline for
 * every command and a clear word about its outcome.
 *
 * hiredis' RESP reader over our own stream. After every (re)connect it sends
 * AUTH, SELECT, CLIENT SETNAME and PING as configured and is ready when they
 * are answered; a server that is LOADING is polled. Nothing is retried but
 * EVALSHA answered NOSCRIPT: that one is sent again as EVAL, once.
 */
#ifndef CLIENT_REDIS_H
#define CLIENT_REDIS_H

#include <hiredis/hiredis.h>

#include "net/stream.h"

struct redis;

struct redis_options {
	/* redis://[[user]:password@]host[:port][/db] or unix:/path; all forms
	 * are in redis_url.h. Copied, never logged. */
	const char *url;
	const char *name;           /* for CLIENT SETNAME, one word; copied */
	int64_t commands_max;       /* in flight; above: NOT_EXECUTED */
	int64_t connect_timeout_ms; /* to connect; and again for the hello */
	int64_t silence_max_ms;     /* unanswered and nothing heard for so long:
				     * reconnect; idle for so long: PING */
	int64_t backoff_min_ms;     /* between two connections, doubling ... */
	int64_t backoff_max_ms;     /* ... up to this, with jitter */
};

/** A local Redis, 10,000 commands in flight, 2 s to connect, 5 s of silence,
 * backoff from 50 ms to 2 s. */
void redis_defaults(struct redis_options *o);

enum redis_outcome {
	REDIS_DONE,         /* reply is the answer, not an error */
	REDIS_NOT_EXECUTED, /* surely had no effect; reply may hold an error */
	REDIS_UNKNOWN,      /* sent and not answered: may have been executed */
	REDIS_PARTIAL,      /* a script failed half-way: its writes stay */
};

/* What an error reply demands; the reaction table of docs/redis.md. */
enum redis_reaction {
	REDIS_REACT_NONE,      /* tell the caller, that is all */
	REDIS_REACT_SCRIPT,    /* NOSCRIPT: send as EVAL once */
	REDIS_REACT_WAIT,      /* LOADING, BUSY, TRYAGAIN...: back off */
	REDIS_REACT_RECONNECT, /* READONLY, MASTERDOWN: this is no master */
	REDIS_REACT_FULL,      /* OOM, MISCONF, NOREPLICAS: fail fast */
	REDIS_REACT_CONFIG,  /* NOAUTH, NOPERM, WRONGPASS: a person must act */
	REDIS_REACT_PARTIAL, /* a run-time script error */
};

/** Pure: the outcome and the reaction for the text of an error reply. */
enum redis_reaction redis_classify(struct bytes error,
				   enum redis_outcome *outcome);

/** reply is NULL when there is none; it and its strings are freed after the
 * call. Never called from inside the function that sent the command. */
typedef void (*redis_cb)(void *ctx, enum redis_outcome outcome,
			 const redisReply *reply);

/** Starts connecting at once. 0, or ERR_CONFIG after logging why. */
must_check int redis_new(struct stream_hub *hub,
			 const struct redis_options *options,
			 struct redis **out);
/** Ends every command inside this call and closes; the memory goes on later
 * turns of the loop, which must run until then. No callback comes after it
 * returns, unless a callback sends again: then that ends NOT_EXECUTED on a
 * later turn. May be called from any callback. NULL is fine. */
void redis_free(struct redis *r);

/** Whether a command would be sent now. */
bool redis_ready(const struct redis *r);
/** How long nothing was heard of Redis, in ms, although something was sent and
 * is not answered, or although there should be a connection; 0: all is well.
 * Told while the loop's thread looks, so after a long turn of the loop it may
 * be what is still unread that is missing. */
uint64_t redis_silence_ms(const struct redis *r);
/** Called whenever redis_ready() changes, except by redis_free(). One watcher;
 * NULL ends it. When the connection is lost this comes before the callbacks
 * of the commands that it ends. */
void redis_watch(struct redis *r, void (*changed)(void *ctx), void *ctx);
/** Counts connections: a reply and a later one with the same number came over
 * the same connection. Starts at 1 with the first, 0 when not connected. */
uint64_t redis_connection(const struct redis *r);

/** A command; args are copied. Not ready: waits for its deadline at most.
 * Replies come in the order of the commands. Expired: UNKNOWN if it was handed
 * to the connection, NOT_EXECUTED if it still waited. */
void redis_command(struct redis *r, size_t argc, const struct bytes *argv,
		   uint64_t timeout_ms, redis_cb done, void *ctx);

/* A Lua script with the SHA1 that Redis computes for it. */
struct redis_script {
	const char *name;
	struct bytes source;
	char sha1[41];
};

/** EVALSHA script key_count keys... args...; argv holds keys, then args. The
 * script must live until the callback. After NOSCRIPT it is sent again as EVAL
 * behind what was sent meanwhile, so other commands may end before it. */
void redis_script(struct redis *r, const struct redis_script *script,
		  size_t key_count, size_t argc, const struct bytes *argv,
		  uint64_t timeout_ms, redis_cb done, void *ctx);

/* A plain command behind a script, below. */
struct redis_words {
	size_t argc;
	const struct bytes *argv;
};

/** redis_script() and the plain commands `then` behind it in one transaction:
 * MULTI, the script, those, EXEC. Nobody's command comes between, and Redis
 * does all or nothing. Redis goes on behind a script that refuses, and behind
 * one that is not there: what is in `then` must do nothing then, for the script
 * may be sent again. Done: reply is the array of their replies, of which only
 * the first is surely no error. */
void redis_transaction(struct redis *r, const struct redis_script *script,
		       size_t key_count, size_t argc, const struct bytes *argv,
		       size_t then_count, const struct redis_words *then,
		       uint64_t timeout_ms, redis_cb done, void *ctx);

#endif
