#include "gateway/session.h"

#include <stdlib.h>

#include <utlist.h>

#include "base/err.h"
#include "base/log.h"
#include "gateway/dispatch.h"
#include "gateway/loop.h"
#include "gateway/reply.h"
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

/* Every change of state: the list is the state. */
static void set_state(struct session *s, enum session_state state)
{
	struct session **list = list_of(s);

	if (list != NULL) {
		DL_DELETE(*list, s);
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

static void on_close(struct stream *stream, int why)
{
	struct session *s = of_stream(stream);
	struct gateway_loop *l = s->loop;

	if (why == ERR_BUSY) {
		gateway_refused(REFUSAL_WRITE_QUEUE);
	}
	log_debug("connection closed", log_bytes("user", session_user(s)),
		  log_err(why));
	abandon_requests(s);
	set_state(s, SESSION_ENDING);
	memory_free(&s->memory);
	free(s);
	loop_session_gone(l);
}

static const struct stream_ops stream_ops = {
	.on_data = on_data,
	.on_close = on_close,
};

void session_new(struct gateway_loop *l, int fd)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->loop = l;
	s->last_ms = uv_now(&l->uv);
	s->state = SESSION_GREETING;
	DL_APPEND(l->greeting, s);
	stream_start(&s->stream, l->hub, fd, &stream_ops,
		     FRAME_HEADER + (size_t)l->options->frame_max,
		     (size_t)l->options->write_queue_max);
}

void session_serve(struct session *s, struct bytes user, bool front,
		   int64_t expires_ms)
{
	check(user.n > 0 && user.n <= ID_MAX);
	memcpy(s->user, user.p, user.n);
	s->user_len = (uint8_t)user.n;
	s->expires_ms = expires_ms;
	s->front = front;
	if (front) {
		s->stream.out_max =
			(size_t)s->loop->options->front_write_queue_max;
	}
	if (s->state == SESSION_GREETING) {
		s->last_ms = uv_now(&s->loop->uv);
		set_state(s, SESSION_SERVING);
		metric_add(&gateway_metrics.sessions, 1);
	}
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
	if (s->state == SESSION_ENDING) {
		return;
	}
	gateway_refused(why);
	log_debug("connection ended", log_bytes("user", session_user(s)),
		  log_str("why", message));
	reply_error(s, seq, code, message);
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
