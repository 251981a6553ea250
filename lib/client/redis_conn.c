/* The connection: connect, say hello, read replies, close, and again. */
#include <utlist.h>

#include "base/err.h"
#include "base/log.h"
#include "base/rand.h"
#include "client/redis_internal.h"

/* All that arrives is consumed at once, so hardly anything is kept; what may
 * be queued is bounded by redis_pump(), not by the stream. */
enum { IN_MAX = 1 << 20, LOG_PAUSE_MS = 1000 };

static size_t on_data(struct stream *s, struct bytes data);
static void on_open(struct stream *s);
static void on_close(struct stream *s, int why);

static const struct stream_ops ops = {
	.on_data = on_data,
	.on_open = on_open,
	.on_close = on_close,
};

static uint64_t now_ms(const struct redis *r)
{
	return uv_now(stream_hub_loop(r->hub));
}

void redis_step_in(struct redis *r, uint64_t ms)
{
	r->step_ms = ms == UINT64_MAX ? ms : now_ms(r) + ms;
	redis_arm(r);
}

void redis_set_state(struct redis *r, enum redis_state state)
{
	bool was_ready = redis_ready(r);

	if (was_ready) {
		/* A silence that ends the connection goes on without it. */
		r->unready_ms = now_ms(r) - redis_silence_ms(r);
	}
	r->state = state;
	if (was_ready != redis_ready(r) && r->changed != NULL) {
		r->changed(r->changed_ctx);
	}
}

void redis_conn_close(struct redis *r, int why)
{
	if (r->state == REDIS_IDLE || r->state == REDIS_CLOSING) {
		return;
	}
	redis_step_in(r, UINT64_MAX);
	redis_set_state(r, REDIS_CLOSING);
	stream_close(&r->stream, why);
}

/* ---- Connect ---- */

void redis_conn_connect(struct redis *r)
{
	check(r->state == REDIS_IDLE);
	check(r->sent == NULL);
	redis_step_in(r, UINT64_MAX); /* the stream has its own timeout */
	redis_set_state(r, REDIS_CONNECTING);
	stream_connect(&r->stream, r->hub, r->url.address,
		       (uint64_t)r->options.connect_timeout_ms, &ops, IN_MAX,
		       SIZE_MAX);
}

static void on_open(struct stream *s)
{
	struct redis *r = container_of(s, struct redis, stream);

	check(r->state == REDIS_CONNECTING);
	r->reader = redisReaderCreate();
	check(r->reader != NULL);
	r->unparsed = 0;
	r->connections++;
	r->poll_ms = REDIS_POLL_MIN_MS;
	redis_metrics_connected();
	redis_hello(r);
}

/* ---- Replies ---- */

/* What an error says about the server, beyond the command that got it. */
static void react(struct redis *r, enum redis_reaction reaction,
		  struct bytes text)
{
	uint64_t *logged = &r->logged_ms[reaction];

	redis_metrics_error(reaction);
	if (reaction == REDIS_REACT_NONE || reaction == REDIS_REACT_SCRIPT) {
		return;
	}
	if (*logged == 0 || now_ms(r) - *logged >= LOG_PAUSE_MS) {
		*logged = now_ms(r);
		log_error("redis error", log_str("address", r->url.address),
			  log_bytes("reply", redis_loggable(text)));
	}
	if (r->state != REDIS_READY) {
		return;
	}
	if (reaction == REDIS_REACT_RECONNECT) {
		redis_set_state(r, REDIS_LEAVING);
	} else if (reaction == REDIS_REACT_WAIT && text.n >= 7 &&
		   memcmp(text.p, "LOADING", 7) == 0) {
		r->poll_ms = REDIS_POLL_MIN_MS;
		redis_step_in(r, r->poll_ms);
		redis_set_state(r, REDIS_LOADING);
	}
}

/* Takes reply. May free r. */
static void handle_reply(struct redis *r, redisReply *reply)
{
	enum redis_outcome outcome = REDIS_DONE;
	enum redis_reaction reaction;
	struct redis_call *c;

	if (r->sent == NULL) {
		freeReplyObject(reply);
		log_error("redis answers what nobody asked",
			  log_str("address", r->url.address));
		redis_conn_close(r, ERR_PROTO);
		return;
	}
	if (r->sent->due > 1) {
		redis_call_take(r->sent, reply);
		return;
	}
	c = redis_take_first(r);
	reply = redis_call_verdict(c, reply);
	if (c->own) {
		c->done(c->ctx, REDIS_DONE, reply);
		redis_finish(r, c, REDIS_DONE, reply);
		return;
	}
	if (reply->type == REDIS_REPLY_ERROR) {
		reaction = redis_classify(redis_error_text(reply), &outcome);
		if (reaction == REDIS_REACT_SCRIPT && c->script != NULL &&
		    !c->eval && !c->abandoned) {
			redis_metrics_error(reaction);
			freeReplyObject(reply);
			redis_send_eval(r, c);
			return;
		}
		react(r, reaction, redis_error_text(reply));
	} else {
		r->attempts = 0;
	}
	redis_finish(r, c, outcome, reply);
	redis_run_finished(r);
}

static void parse(struct redis *r, struct bytes data)
{
	bool complete = false;
	void *reply = NULL;

	if (redisReaderFeed(r->reader, (const char *)data.p, data.n) !=
	    REDIS_OK) {
		redis_conn_close(r, ERR_PROTO);
		return;
	}
	while (r->state != REDIS_CLOSING) {
		if (redisReaderGetReply(r->reader, &reply) != REDIS_OK) {
			log_error("redis sends no RESP",
				  log_str("address", r->url.address),
				  log_str("why", r->reader->errstr));
			redis_conn_close(r, ERR_PROTO);
			return;
		}
		if (reply == NULL) {
			break;
		}
		complete = true;
		handle_reply(r, reply);
	}
	r->unparsed = complete ? r->reader->len - r->reader->pos
			       : r->unparsed + data.n;
	if (r->unparsed > REDIS_REPLY_MAX) {
		redis_conn_close(r, ERR_TOO_BIG);
	}
}

static size_t on_data(struct stream *s, struct bytes data)
{
	struct redis *r = container_of(s, struct redis, stream);

	if (r->state == REDIS_CLOSING) {
		return data.n;
	}
	parse(r, data);
	if (r->state == REDIS_LEAVING && r->sent == NULL) {
		redis_conn_close(r, ERR_DENIED);
	}
	redis_pump(r);
	return data.n;
}

/* ---- Time ---- */

static void alive_cb(void *ctx, enum redis_outcome outcome,
		     const redisReply *reply)
{
	if (reply->type == REDIS_REPLY_ERROR) {
		react(ctx, redis_classify(redis_error_text(reply), &outcome),
		      redis_error_text(reply));
	}
}

static void check_silence(struct redis *r)
{
	uint64_t limit = (uint64_t)r->options.silence_max_ms;
	uint64_t since = r->stream.last_in_ms;

	if (r->sent != NULL && r->sent->sent_ms > since) {
		since = r->sent->sent_ms;
	}
	if (now_ms(r) - since < limit) {
		redis_step_in(r, since + limit - now_ms(r));
		return;
	}
	if (r->sent != NULL) {
		redis_conn_close(r, ERR_IDLE);
		return;
	}
	/* Nobody asks anything: find out whether it is still there before
	 * somebody does. */
	r->attempts = 0;
	redis_send_own(r, 1, (struct bytes[]){ BYTES("PING") }, alive_cb);
	redis_step_in(r, limit);
}

void redis_conn_step(struct redis *r)
{
	switch (r->state) {
	case REDIS_IDLE:
		redis_conn_connect(r);
		break;
	case REDIS_HELLO:
		redis_conn_close(r, ERR_TIMEOUT);
		break;
	case REDIS_LOADING:
		redis_hello(r);
		break;
	case REDIS_READY:
	case REDIS_LEAVING:
		check_silence(r);
		break;
	case REDIS_CONNECTING:
	case REDIS_CLOSING:
	default:
		redis_step_in(r, UINT64_MAX);
		break;
	}
}

/* ---- Close ---- */

/* Full jitter over the upper half: many services that lost the same Redis
 * must not come back in step. */
static uint64_t backoff_ms(struct redis *r)
{
	uint64_t max = (uint64_t)r->options.backoff_max_ms;
	uint64_t wait = (uint64_t)r->options.backoff_min_ms;

	for (unsigned i = 0; i < r->attempts && wait < max; i++) {
		wait *= 2;
	}
	if (wait > max || r->slow) {
		wait = max;
	}
	return wait / 2 + rand_below(wait / 2 + 1);
}

static void on_close(struct stream *s, int why)
{
	struct redis *r = container_of(s, struct redis, stream);
	uint64_t wait;

	if (r->reader != NULL) {
		redisReaderFree(r->reader);
		r->reader = NULL;
	}
	if (r->freed) {
		redis_handle_closed(r);
		return;
	}
	wait = backoff_ms(r);
	if (redis_worth_a_line(r)) {
		log_warn("redis not connected",
			 log_str("address", r->url.address), log_err(why),
			 log_int("in_flight", r->count),
			 log_int("attempts", r->attempts),
			 log_int("retry_ms", (int64_t)wait));
	}
	r->attempts++;
	redis_step_in(r, wait);
	redis_finish_sent(r);
	redis_set_state(r, REDIS_IDLE);
	redis_run_finished(r);
}
