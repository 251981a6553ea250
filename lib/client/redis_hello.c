/* The first words on a connection, and how errors are put into the log. */
#include <stdio.h>

#include "base/err.h"
#include "base/log.h"
#include "client/redis_internal.h"

enum { LOG_TEXT_MAX = 200 };

struct bytes redis_error_text(const redisReply *reply)
{
	return bytes_make(reply->str, reply->len);
}

struct bytes redis_loggable(struct bytes text)
{
	static const char repeats[] = "with args";
	const uint8_t *at = text.n == 0 ? NULL
					: memmem(text.p, text.n, repeats,
						 sizeof(repeats) - 1);

	if (at != NULL) {
		text.n = (size_t)(at - text.p);
	}
	if (text.n > LOG_TEXT_MAX) {
		text.n = LOG_TEXT_MAX;
	}
	return text;
}

bool redis_worth_a_line(const struct redis *r)
{
	return (r->attempts & (r->attempts - 1)) == 0;
}

static void hello_auth_cb(void *ctx, enum redis_outcome outcome,
			  const redisReply *reply);
static void hello_select_cb(void *ctx, enum redis_outcome outcome,
			    const redisReply *reply);
static void hello_name_cb(void *ctx, enum redis_outcome outcome,
			  const redisReply *reply);
static void hello_ping_cb(void *ctx, enum redis_outcome outcome,
			  const redisReply *reply);

void redis_send_own(struct redis *r, size_t argc, const struct bytes *argv,
		    redis_cb done)
{
	struct redis_call *c = redis_call_new(argc, argv);

	c->own = true;
	c->deadline_ms = UINT64_MAX;
	c->done = done;
	c->ctx = r;
	redis_send(r, c);
}

void redis_hello(struct redis *r)
{
	struct bytes user = bytes_str(r->url.user);
	struct bytes password = bytes_str(r->url.password);
	struct bytes name = bytes_str(r->options.name);
	char db[16];

	r->hello = REDIS_REACT_NONE;
	r->hello_failed = false;
	if (password.n > 0 && user.n > 0) {
		redis_send_own(
			r, 3, (struct bytes[]){ BYTES("AUTH"), user, password },
			hello_auth_cb);
	} else if (password.n > 0) {
		redis_send_own(r, 2,
			       (struct bytes[]){ BYTES("AUTH"), password },
			       hello_auth_cb);
	}
	if (r->url.db > 0) {
		snprintf(db, sizeof(db), "%u", r->url.db);
		redis_send_own(
			r, 2,
			(struct bytes[]){ BYTES("SELECT"), bytes_str(db) },
			hello_select_cb);
	}
	if (name.n > 0) {
		redis_send_own(r, 3,
			       (struct bytes[]){ BYTES("CLIENT"),
						 BYTES("SETNAME"), name },
			       hello_name_cb);
	}
	redis_send_own(r, 1, (struct bytes[]){ BYTES("PING") }, hello_ping_cb);
	redis_step_in(r, (uint64_t)r->options.connect_timeout_ms);
	redis_set_state(r, REDIS_HELLO);
}

/* Note the first error of this hello; PING, the last of it, decides. */
static void note_hello(struct redis *r, const redisReply *reply,
		       const char *command)
{
	enum redis_outcome outcome;
	enum redis_reaction reaction;
	struct bytes text;

	if (reply->type != REDIS_REPLY_ERROR || r->hello_failed) {
		return;
	}
	text = redis_error_text(reply);
	reaction = redis_classify(text, &outcome);
	r->hello_failed = true;
	r->hello = reaction;
	redis_metrics_error(reaction);
	if (reaction != REDIS_REACT_WAIT && redis_worth_a_line(r)) {
		log_error("redis refuses us",
			  log_str("address", r->url.address),
			  log_str("command", command),
			  log_bytes("reply", redis_loggable(text)));
	}
}

static void hello_auth_cb(void *ctx, enum redis_outcome outcome,
			  const redisReply *reply)
{
	(void)outcome;
	note_hello(ctx, reply, "AUTH");
}

static void hello_select_cb(void *ctx, enum redis_outcome outcome,
			    const redisReply *reply)
{
	(void)outcome;
	note_hello(ctx, reply, "SELECT");
}

static void hello_name_cb(void *ctx, enum redis_outcome outcome,
			  const redisReply *reply)
{
	struct redis *r = ctx;

	(void)outcome;
	/* A name is nice to have: an ACL without it is no reason to stay
	 * away. What else is wrong, PING will hear too. */
	if (reply->type == REDIS_REPLY_ERROR) {
		log_debug("redis takes no name",
			  log_str("address", r->url.address),
			  log_bytes("reply",
				    redis_loggable(redis_error_text(reply))));
	}
}

static void hello_ping_cb(void *ctx, enum redis_outcome outcome,
			  const redisReply *reply)
{
	struct redis *r = ctx;

	(void)outcome;
	note_hello(r, reply, "PING");
	check(r->state == REDIS_HELLO);
	if (!r->hello_failed) {
		r->slow = false;
		log_info("redis ready", log_str("address", r->url.address),
			 log_int("connection", (int64_t)r->connections));
		redis_step_in(r, (uint64_t)r->options.silence_max_ms);
		redis_set_state(r, REDIS_READY);
		return;
	}
	if (r->hello == REDIS_REACT_WAIT) {
		if (r->poll_ms == REDIS_POLL_MIN_MS) {
			log_info("redis is not ready to serve",
				 log_str("address", r->url.address));
		}
		redis_step_in(r, r->poll_ms);
		r->poll_ms = r->poll_ms * 2 < REDIS_POLL_MAX_MS
				     ? r->poll_ms * 2
				     : REDIS_POLL_MAX_MS;
		redis_set_state(r, REDIS_LOADING);
		return;
	}
	r->slow = r->hello != REDIS_REACT_RECONNECT;
	redis_conn_close(r, ERR_DENIED);
}
