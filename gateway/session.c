#include "gateway/session.h"

#include <stdlib.h>

#include <utlist.h>

#include "base/err.h"
#include "base/log.h"
#include "gateway/dispatch.h"
#include "gateway/loop.h"
#include "gateway/reply.h"
#include "gateway/throttle.h"
#include "proto/frame.h"

static struct session *of_stream(struct stream *s)
{
	return container_of(s, struct session, stream);
}

/* The list that s is in, or NULL. */
static struct session **list_of(struct session *s)
{
	switch ((enum session_state)s->state) {
	case SESSION_GREETING:
		return &s->loop->greeting;
	case SESSION_SERVING:
		return &s->loop->serving;
	case SESSION_ENDING:
		break;
	}
	return NULL;
}

static void count_greeting(struct gateway_loop *l, int more)
{
	l->greeting_count += more;
	metric_add(&gateway_metrics.greeting, more);
}

/* Every change of state: the list is the state. */
static void set_state(struct session *s, enum session_state state)
{
	struct session **list = list_of(s);

	if (list != NULL) {
		DL_DELETE(*list, s);
	}
	if (s->state == SESSION_GREETING) {
		count_greeting(s->loop, state != SESSION_GREETING ? -1 : 0);
	}
	s->state = (uint8_t)state;
	list = list_of(s);
	if (list != NULL) {
		DL_APPEND(*list, s);
	}
}

/* It spoke: to the end of its list, so that the silent ones are in front. */
static void touch(struct session *s)
{
	uint64_t now = uv_now(&s->loop->uv);

	if (s->last_ms != now && s->state == SESSION_SERVING) {
		DL_DELETE(s->loop->serving, s);
		DL_APPEND(s->loop->serving, s);
		s->last_ms = now;
	}
}

/* Nobody is told any more. */
static void abandon_requests(struct session *s)
{
	while (s->requests != NULL) {
		request_detach(s->requests);
	}
}

static size_t on_data(struct stream *stream, struct bytes data)
{
	struct session *s = of_stream(stream);
	size_t frame_max = (size_t)s->loop->options->frame_max;
	size_t taken = 0;

	while (s->state != SESSION_ENDING && !stream->closing) {
		struct bytes rest = { data.p + taken, data.n - taken };
		struct bytes body;
		size_t used;

		switch (frame_next(rest, frame_max, &body, &used)) {
		case FRAME_MORE:
			return taken;
		case FRAME_BAD:
			session_end(
				s, 0, RAIN__ERROR_CODE__BAD_FRAME,
				REFUSAL_FRAME,
				"the length of a frame is 0 or above the limit");
			return taken;
		case FRAME_OK:
			break;
		}
		taken += used;
		touch(s);
		dispatch(s, body);
	}
	return taken;
}

/* It sends no more. What it asked for is still answered: perhaps it only shut
 * down its side, and reads on; if it is gone, the answer finds that out. */
static bool on_eof(struct stream *stream)
{
	struct session *s = of_stream(stream);

	s->heard_out = true;
	if (s->in_flight == 0) {
		set_state(s, SESSION_ENDING);
		stream_finish(stream, UV_EOF,
			      (uint64_t)s->loop->options->finish_ms);
	}
	return true;
}

static void on_close(struct stream *stream, int why)
{
	struct session *s = of_stream(stream);
	struct gateway_loop *l = s->loop;

	if (why == ERR_BUSY) {
		gateway_refused(REFUSAL_WRITE_QUEUE);
	} else if (why == UV_ETIMEDOUT || why == UV_EHOSTUNREACH ||
		   why == UV_ENETUNREACH) {
		gateway_refused(REFUSAL_DEAD);
	}
	log_debug("connection closed", log_bytes("user", session_user(s)),
		  log_err(why));
	abandon_requests(s);
	set_state(s, SESSION_ENDING);
	memory_free(&s->memory);
	throttle_release(s);
	free(s->only);
	free(s);
	loop_session_gone(l);
}

static const struct stream_ops stream_ops = {
	.on_data = on_data,
	.on_eof = on_eof,
	.on_close = on_close,
};

static void crowd_out(struct gateway_loop *l);

void session_new(struct gateway_loop *l, int fd, struct limited *address)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->loop = l;
	s->last_ms = uv_now(&l->uv);
	s->address = address;
	s->state = SESSION_GREETING;
	DL_APPEND(l->greeting, s);
	count_greeting(l, 1);
	stream_start(&s->stream, l->hub, fd, &stream_ops,
		     FRAME_HEADER + (size_t)l->options->frame_max,
		     (size_t)l->options->write_queue_max);
	crowd_out(l);
}

/* What a connection takes over from its token; a later one may say it
 * differently, of the same user. */
static void take_claims(struct session *s, const struct token_claims *claims)
{
	s->expires_ms = claims->expires_ms;
	s->front = claims->front;
	s->key = claims->key;
	s->keys_seen = s->loop->keys_version;
	free(s->only);
	s->only = claims->activity_len > 0
			  ? xstrndup(claims->activity, claims->activity_len)
			  : NULL;
}

bool session_serve(struct session *s, const struct token_claims *claims)
{
	struct bytes user = bytes_make(claims->user, claims->user_len);

	check(user.n > 0 && user.n <= ID_MAX);
	if (!claims->front && s->user_limit == NULL) {
		s->user_limit = limits_pin(s->loop->limits, LIMIT_USER, user,
					   loop_ns(s->loop));
		if (s->user_limit == NULL) {
			return false;
		}
	}
	memcpy(s->user, user.p, user.n);
	s->user_len = (uint8_t)user.n;
	take_claims(s, claims);
	if (s->front) {
		s->stream.out_max =
			(size_t)s->loop->options->front_write_queue_max;
	}
	if (s->state == SESSION_GREETING) {
		s->last_ms = uv_now(&s->loop->uv);
		set_state(s, SESSION_SERVING);
		metric_add(&gateway_metrics.sessions, 1);
	}
	return true;
}

bool session_key_holds(struct session *s)
{
	struct gateway_loop *l = s->loop;

	if (s->keys_seen != l->keys_version && s->key != 0) {
		if (!token_keys_hold(key_set_keys(l->keys), s->key)) {
			return false;
		}
		s->keys_seen = l->keys_version;
	}
	return true;
}

struct bytes session_user(const struct session *s)
{
	return bytes_make(s->user, s->user_len);
}

size_t session_in_flight_max(const struct session *s)
{
	const struct gateway_options *o = s->loop->options;

	return (size_t)(s->front ? o->front_in_flight_max : o->in_flight_max);
}

void session_end(struct session *s, uint64_t seq, Rain__ErrorCode code,
		 enum refusal why, const char *message)
{
	bool comes_again = code == RAIN__ERROR_CODE__UNAVAILABLE;
	struct throttle_hit hit = {
		.why = why,
		.retry_ms = comes_again ? loop_spread(s->loop) : 0,
		.message = message,
	};

	session_end_after(s, seq, code, &hit);
}

void session_end_after(struct session *s, uint64_t seq, Rain__ErrorCode code,
		       const struct throttle_hit *hit)
{
	if (s->state == SESSION_ENDING) {
		return;
	}
	gateway_refused(hit->why);
	log_debug("connection ended", log_bytes("user", session_user(s)),
		  log_str("why", hit->message));
	reply_error(s, seq, code, hit->message, hit->retry_ms);
	set_state(s, SESSION_ENDING);
	abandon_requests(s);
	stream_finish(&s->stream, ERR_DENIED,
		      (uint64_t)s->loop->options->finish_ms);
}

void session_drain(struct session *s)
{
	if (s->in_flight == 0) {
		session_end(s, 0, RAIN__ERROR_CODE__UNAVAILABLE,
			    REFUSAL_DRAINING,
			    "this gateway is stopping; connect to another");
	}
}

void session_settled(struct session *s)
{
	if (s->loop->draining) {
		session_drain(s);
	} else if (s->heard_out && s->in_flight == 0) {
		(void)on_eof(&s->stream);
	}
}

/* Whoever has waited longest for its own Hello makes room: one that means to
 * say it has done so by then. */
static void crowd_out(struct gateway_loop *l)
{
	int64_t max = l->rates.greeting_max / l->options->loops;

	while (l->greeting_count > (max > 0 ? max : 1)) {
		session_end(l->greeting, 0, RAIN__ERROR_CODE__UNAVAILABLE,
			    REFUSAL_GREETING,
			    "too many connections have not said Hello");
	}
}

static void sweep_greeting(struct gateway_loop *l, uint64_t now)
{
	uint64_t limit = (uint64_t)l->options->hello_ms;

	while (l->greeting != NULL && l->greeting->last_ms + limit <= now) {
		session_end(l->greeting, 0, RAIN__ERROR_CODE__TIMED_OUT,
			    REFUSAL_HELLO_TIME, "no Hello came in time");
	}
}

void session_sweep(struct gateway_loop *l)
{
	uint64_t now = uv_now(&l->uv);
	uint64_t limit = (uint64_t)l->options->idle_ms;

	sweep_greeting(l, now);
	while (l->serving != NULL && l->serving->last_ms + limit <= now) {
		struct session *s = l->serving;

		if (s->in_flight > 0) {
			touch(s); /* it is we who are silent */
		} else {
			session_end(s, 0, RAIN__ERROR_CODE__TIMED_OUT,
				    REFUSAL_IDLE,
				    "the connection was silent for too long");
		}
	}
}
