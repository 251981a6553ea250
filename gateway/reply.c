#include "gateway/reply.h"

#include "base/err.h"
#include "gateway/loop.h"
#include "proto/frame.h"
#include "proto/grab_frame.h"
#include "proto/proto_util.h"

/* Where an answer goes; NULL if s is ending. */
static struct buf *begin_answer(struct session *s)
{
	struct buf *out = stream_out(&s->stream);

	/* All queues together are full: those whose peers do not read go, and
	 * whoever reads has nothing waiting here. */
	if (out != NULL && s->stream.write != NULL &&
	    stream_hub_queued(s->loop->hub) > s->loop->write_total_max) {
		gateway_refused(REFUSAL_WRITE_QUEUE_TOTAL);
		stream_close(&s->stream, ERR_DENIED);
		return NULL;
	}
	return out;
}

static void send_message(struct session *s, const Rain__ServerMessage *m)
{
	struct buf *out = begin_answer(s);

	if (out != NULL) {
		frame_put(out, &m->base);
		stream_wrote(&s->stream);
	}
}

static Rain__ServerMessage begin(uint64_t seq,
				 Rain__ServerMessage__BodyCase body)
{
	Rain__ServerMessage m = RAIN__SERVER_MESSAGE__INIT;

	m.seq = seq;
	m.body_case = body;
	return m;
}

void reply_error(struct session *s, uint64_t seq, Rain__ErrorCode code,
		 const char *message, uint32_t retry_ms)
{
	Rain__ServerMessage m = begin(seq, RAIN__SERVER_MESSAGE__BODY_ERROR);
	Rain__Error error = RAIN__ERROR__INIT;

	error.code = code;
	error.message = to_pb_str(message);
	error.retry_after_ms = retry_ms;
	m.error = &error;
	send_message(s, &m);
}

void reply_hello(struct session *s, uint64_t seq)
{
	Rain__ServerMessage m =
		begin(seq, RAIN__SERVER_MESSAGE__BODY_HELLO_REPLY);
	Rain__HelloReply hello = RAIN__HELLO_REPLY__INIT;
	const struct gateway_options *o = s->loop->options;

	hello.user_id = to_pb(session_user(s));
	hello.server_time_ms = loop_server_ms(s->loop);
	hello.ping_every_ms = (uint32_t)(o->idle_ms / 3);
	hello.idle_limit_ms = (uint32_t)o->idle_ms;
	hello.max_in_flight = (uint32_t)session_in_flight_max(s);
	hello.protocol = 1;
	m.hello_reply = &hello;
	send_message(s, &m);
}

void reply_pong(struct session *s, uint64_t seq)
{
	Rain__ServerMessage m = begin(seq, RAIN__SERVER_MESSAGE__BODY_PONG);
	Rain__Pong pong = RAIN__PONG__INIT;

	pong.server_time_ms = loop_server_ms(s->loop);
	m.pong = &pong;
	send_message(s, &m);
}

void reply_grab(struct session *s, uint64_t seq, const Rain__GrabReply *reply)
{
	struct buf *out;

	check((size_t)reply->status < STATUS_COUNT);
	metric_add(&gateway_metrics.replies[reply->status], 1);
	out = begin_answer(s);
	if (out != NULL) {
		grab_frame_put(out, seq, reply);
		stream_wrote(&s->stream);
	}
}

static void reply_result(struct session *s, uint64_t seq,
			 const Rain__GrabReply *reply)
{
	Rain__ServerMessage m =
		begin(seq, RAIN__SERVER_MESSAGE__BODY_RESULT_REPLY);
	Rain__ResultReply result = RAIN__RESULT_REPLY__INIT;

	result.status = reply->status;
	result.red_packet = reply->red_packet;
	result.retry_after_ms = reply->retry_after_ms;
	result.message = reply->message;
	m.result_reply = &result;
	send_message(s, &m);
}

static void reply_balance(struct session *s, uint64_t seq,
			  const Rain__BalanceReply *balance)
{
	Rain__ServerMessage m =
		begin(seq, RAIN__SERVER_MESSAGE__BODY_BALANCE_REPLY);
	Rain__BalanceReply copy = *balance;

	m.balance_reply = &copy;
	send_message(s, &m);
}

static void reply_plain(struct session *s, uint64_t seq, enum request_kind kind,
			Rain__Status status, const char *message,
			uint32_t retry_ms)
{
	Rain__BalanceReply balance = RAIN__BALANCE_REPLY__INIT;
	Rain__GrabReply reply = RAIN__GRAB_REPLY__INIT;

	reply.status = status;
	reply.message = to_pb_str(message);
	reply.retry_after_ms = retry_ms;
	switch (kind) {
	case REQUEST_GRAB:
		reply_grab(s, seq, &reply);
		break;
	case REQUEST_RESULT:
		reply_result(s, seq, &reply);
		break;
	case REQUEST_BALANCE:
		balance.status = reply.status;
		balance.message = reply.message;
		balance.retry_after_ms = reply.retry_after_ms;
		reply_balance(s, seq, &balance);
		break;
	}
}

void reply_status(struct session *s, uint64_t seq, enum request_kind kind,
		  Rain__Status status, const char *message)
{
	bool waits =
		status == RAIN__STATUS__BUSY || status == RAIN__STATUS__PENDING;

	reply_plain(s, seq, kind, status, message,
		    waits ? loop_retry_after(s->loop) : 0);
}

void reply_too_fast(struct session *s, uint64_t seq, enum request_kind kind,
		    const char *message, uint32_t retry_ms)
{
	/* In the answer to QueryResult it would speak of the grab, of which
	 * nothing is known. */
	reply_plain(s, seq, kind,
		    kind == REQUEST_RESULT ? RAIN__STATUS__PENDING
					   : RAIN__STATUS__RATE_LIMITED,
		    message, retry_ms);
}

/* The answer is out: its connection holds it no more. */
static void settle(struct request *r)
{
	struct session *s = r->key.session;

	if (r->kind == REQUEST_GRAB) {
		metric_observe(&gateway_metrics.grab_seconds,
			       loop_now(s->loop)->mono_us - r->arrived_us);
	}
	request_detach(r);
	session_settled(s);
}

void reply_request(struct request *r, const Rain__GrabReply *m)
{
	struct session *s = r->key.session;

	check(s != NULL);
	if (r->kind == REQUEST_GRAB) {
		reply_grab(s, r->key.seq, m);
	} else {
		check(r->kind == REQUEST_RESULT);
		reply_result(s, r->key.seq, m);
	}
	settle(r);
}

void reply_request_balance(struct request *r, int64_t balance_cents,
			   struct bytes currency)
{
	Rain__BalanceReply balance = RAIN__BALANCE_REPLY__INIT;

	check(r->key.session != NULL && r->kind == REQUEST_BALANCE);
	balance.balance_cents = balance_cents;
	balance.currency = to_pb(currency);
	reply_balance(r->key.session, r->key.seq, &balance);
	settle(r);
}

void reply_request_status(struct request *r, Rain__Status status,
			  const char *message)
{
	check(r->key.session != NULL);
	reply_status(r->key.session, r->key.seq, r->kind, status, message);
	settle(r);
}
