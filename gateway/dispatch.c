#include "gateway/dispatch.h"

#include <stdio.h>

#include "gateway/hello.h"
#include "gateway/loop.h"
#include "gateway/reply.h"
#include "gateway/requests.h"
#include "gateway/throttle.h"
#include "proto/grab_frame.h"
#include "proto/proto_util.h"

enum { ARENA_MAX = 64 * 1024 }; /* a good message needs some hundred bytes */

static void refuse(struct session *s, uint64_t seq, Rain__ErrorCode code,
		   enum refusal why, const char *message)
{
	bool comes_again = code == RAIN__ERROR_CODE__UNAVAILABLE;

	gateway_refused(why);
	reply_error(s, seq, code, message,
		    comes_again ? loop_spread(s->loop) : 0);
}

/* Not with the seq itself: that would look like the answer to the request
 * that is in flight. */
static void refuse_seq(struct session *s, uint64_t seq)
{
	char text[96];

	if (seq == 0) {
		(void)snprintf(text, sizeof(text), "seq must not be 0");
	} else {
		(void)snprintf(text, sizeof(text),
			       "seq %llu is still in flight",
			       (unsigned long long)seq);
	}
	refuse(s, 0, RAIN__ERROR_CODE__BAD_SEQ, REFUSAL_SEQ, text);
}

/* Whether the message may be looked at in the state that s is in. */
static bool welcome(struct session *s, const Rain__ClientMessage *m)
{
	if (m->seq == 0 || request_find(s, m->seq) != NULL) {
		refuse_seq(s, m->seq);
		return false;
	}
	if (m->body_case == RAIN__CLIENT_MESSAGE__BODY__NOT_SET) {
		refuse(s, m->seq, RAIN__ERROR_CODE__BAD_MESSAGE,
		       REFUSAL_MESSAGE,
		       "the message has no body that this gateway knows");
		return false;
	}
	if (s->loop->draining) {
		refuse(s, m->seq, RAIN__ERROR_CODE__UNAVAILABLE,
		       REFUSAL_DRAINING,
		       "this gateway is stopping; connect to another");
		return false;
	}
	if (s->state == SESSION_GREETING &&
	    m->body_case != RAIN__CLIENT_MESSAGE__BODY_HELLO) {
		refuse(s, m->seq, RAIN__ERROR_CODE__HELLO_FIRST,
		       REFUSAL_HELLO_FIRST, "say Hello first");
		return false;
	}
	return true;
}

static void refuse_flood(struct session *s, const struct throttle_hit *hit)
{
	struct throttle_hit flood = {
		.why = REFUSAL_CONNECTION_FLOOD,
		.message = "too many messages of this connection, for too long",
		.retry_ms = hit->retry_ms + loop_spread(s->loop),
	};

	session_end_after(s, 0, RAIN__ERROR_CODE__TOO_FAST, &flood);
}

/* A message that came too fast: a request is answered as one. */
static void refuse_pace(struct session *s, const Rain__ClientMessage *m,
			const struct throttle_hit *hit)
{
	if (throttle_flood(s)) {
		refuse_flood(s, hit);
		return;
	}
	gateway_refused(hit->why);
	switch (m->body_case) {
	case RAIN__CLIENT_MESSAGE__BODY_GRAB:
		reply_too_fast(s, m->seq, REQUEST_GRAB, hit->message,
			       hit->retry_ms);
		break;
	case RAIN__CLIENT_MESSAGE__BODY_QUERY_RESULT:
		reply_too_fast(s, m->seq, REQUEST_RESULT, hit->message,
			       hit->retry_ms);
		break;
	case RAIN__CLIENT_MESSAGE__BODY_QUERY_BALANCE:
		reply_too_fast(s, m->seq, REQUEST_BALANCE, hit->message,
			       hit->retry_ms);
		break;
	default:
		reply_error(s, m->seq, RAIN__ERROR_CODE__TOO_FAST, hit->message,
			    hit->retry_ms);
		break;
	}
}

static void take(struct session *s, const Rain__ClientMessage *m)
{
	switch (m->body_case) {
	case RAIN__CLIENT_MESSAGE__BODY_HELLO:
		hello_take(s, m->seq, m->hello);
		break;
	case RAIN__CLIENT_MESSAGE__BODY_GRAB:
		requests_grab(s, m->seq, m->grab);
		break;
	case RAIN__CLIENT_MESSAGE__BODY_QUERY_RESULT:
		requests_query_result(s, m->seq, m->query_result);
		break;
	case RAIN__CLIENT_MESSAGE__BODY_QUERY_BALANCE:
		requests_query_balance(s, m->seq, m->query_balance);
		break;
	case RAIN__CLIENT_MESSAGE__BODY_PING:
		reply_pong(s, m->seq);
		break;
	default:
		refuse(s, m->seq, RAIN__ERROR_CODE__UNSUPPORTED,
		       REFUSAL_UNSUPPORTED,
		       "this gateway does not send Notices");
		break;
	}
}

/* No good one: what it would be answered, or that it came too fast. */
static void refuse_garbage(struct session *s, bool too_fast,
			   const struct throttle_hit *hit)
{
	Rain__ClientMessage none = RAIN__CLIENT_MESSAGE__INIT;

	if (too_fast) {
		refuse_pace(s, &none, hit);
	} else {
		refuse(s, 0, RAIN__ERROR_CODE__BAD_MESSAGE, REFUSAL_MESSAGE,
		       "the frame holds no ClientMessage, or text in it is "
		       "not UTF-8");
	}
}

static void dispatch_read(struct session *s, const Rain__ClientMessage *m,
			  bool too_fast, const struct throttle_hit *hit)
{
	if (!welcome(s, m)) {
		/* It was told why; a flood of such messages ends as well. */
		if (too_fast && throttle_flood(s)) {
			refuse_flood(s, hit);
		}
	} else if (too_fast) {
		refuse_pace(s, m, hit);
	} else {
		take(s, m);
	}
}

void dispatch(struct session *s, struct bytes body)
{
	struct throttle_hit hit;
	bool too_fast = !throttle_message(s, &hit);
	struct grab_message grab;
	Rain__ClientMessage *m;

	if (grab_message_read(body, &grab)) {
		dispatch_read(s, &grab.client, too_fast, &hit);
		return;
	}
	m = proto_unpack(&rain__client_message__descriptor, body, ARENA_MAX);
	if (m == NULL) {
		refuse_garbage(s, too_fast, &hit);
		return;
	}
	dispatch_read(s, m, too_fast, &hit);
	proto_free(m);
}
