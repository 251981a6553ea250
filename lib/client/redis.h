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
	const char *url;  /* redis://[user:password@]host:port[/db] or unix:/path */
	const char *name; /* for CLIENT SETNAME */
	int64_t commands_max;       /* in flight; above: NOT_EXECUTED */
	int64_t connect_timeout_ms;
	int64_t silence_max_ms;     /* a command unanswered for so long: reconnect */
	int64_t backoff_min_ms;
	int64_t backoff_max_ms;
};

void redis_defaults(struct redis_options *o);

enum redis_outcome {
	REDIS_DONE,          /* reply is the answer, not an error */
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
	REDIS_REACT_CONFIG,    /* NOAUTH, NOPERM, WRONGPASS: a person must act */
	REDIS_REACT_PARTIAL,   /* a run-time script error */
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
/** Ends every command and closes; frees itself on later turns. */
void redis_free(struct redis *r);

bool redis_ready(const struct redis *r);
/** Called whenever redis_ready() changes. */
void redis_watch(struct redis *r, void (*changed)(void *ctx), void *ctx);
/** Counts connections: a reply and a later one with the same number came over
 * the same connection. Starts at 1 with the first, 0 when not connected. */
uint64_t redis_connection(const struct redis *r);

/** A command; args are copied. Not ready: waits for its deadline at most. */
void redis_command(struct redis *r, size_t argc, const struct bytes *argv,
		   uint64_t timeout_ms, redis_cb done, void *ctx);

/* A Lua script with the SHA1 that Redis computes for it. */
struct redis_script {
	const char *name;
	struct bytes source;
	char sha1[41];
};

/** EVALSHA script key_count keys... args...; argv holds keys, then args. */
void redis_script(struct redis *r, const struct redis_script *script,
		  size_t key_count, size_t argc, const struct bytes *argv,
		  uint64_t timeout_ms, redis_cb done, void *ctx);

#endif
