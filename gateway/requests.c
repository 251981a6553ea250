#include "gateway/requests.h"

#include "gateway/admission.h"
#include "gateway/ask.h"
#include "gateway/loop.h"
#include "gateway/reply.h"
#include "gateway/throttle.h"
#include "proto/proto_util.h"

enum { EDGE_SPREAD_MS = 50 };

static bool bad(struct session *s, uint64_t seq, const char *message)
{
	gateway_refused(REFUSAL_MESSAGE);
	reply_error(s, seq, RAIN__ERROR_CODE__BAD_MESSAGE, message, 0);
	return false;
}

/* For whom it is asked: the user of the token, or the one that a front
 * names. */
static bool find_user(struct session *s, uint64_t seq, struct bytes named,
		      struct bytes *user)
{
	if (!s->front) {
		*user = session_user(s);
		return named.n == 0 ||
		       bad(s, seq,
			   "user_id is only for tokens with the scope front");
	}
	*user = named;
	return id_valid(named) || bad(s, seq, "user_id must be " ID_RULE);
}

static bool check_activity(struct session *s, uint64_t seq, struct bytes id)
{
	return id_valid(id) || bad(s, seq, "activity_id must be " ID_RULE);
}

static enum admission admission_of(struct session *s, enum request_kind kind)
{
	struct gateway_loop *l = s->loop;
	/* The loop's with those whose app is gone or has its answer: the call
	 * that is under way for them still costs us and the services. */
	struct admission_view v = {
		.now_ms = loop_now(l)->wall_ms,
		.expires_ms = s->expires_ms,
		.key_removed = !session_key_holds(s),
		.in_flight = s->in_flight,
		.in_flight_max = session_in_flight_max(s),
		.loop_in_flight = l->alive,
		.loop_in_flight_max = l->in_flight_max,
		.for_ledger = kind == REQUEST_BALANCE,
		.ledger_in_flight = l->ledger_alive,
		.window = l->window.size,
	};

	return admission_decide(&v);
}

/* BUSY in the answer to QueryResult would speak of the grab, which we know
 * nothing about. */
static Rain__Status busy(enum request_kind kind)
{
	return kind == REQUEST_RESULT ? RAIN__STATUS__PENDING
				      : RAIN__STATUS__BUSY;
}

/* A token may be for one activity only. */
static bool check_scope(struct session *s, uint64_t seq, enum request_kind kind,
			struct bytes activity)
{
	if (s->only == NULL || bytes_eq(bytes_str(s->only), activity)) {
		return true;
	}
	gateway_refused(REFUSAL_OTHER_ACTIVITY);
	reply_status(s, seq, kind, RAIN__STATUS__DENIED,
		     "the token is for another activity");
	return false;
}

static bool too_fast(struct session *s, uint64_t seq, enum request_kind kind,
		     const struct throttle_hit *hit)
{
	gateway_refused(hit->why);
	reply_too_fast(s, seq, kind, hit->message, hit->retry_ms);
	return false;
}

static bool admit_user(struct session *s, uint64_t seq, enum request_kind kind,
		       struct bytes user)
{
	struct throttle_hit hit;

	return throttle_user(s, user, &hit) || too_fast(s, seq, kind, &hit);
}

static bool admit_activity(struct session *s, uint64_t seq,
			   enum request_kind kind, struct bytes activity)
{
	struct throttle_hit hit;

	return throttle_activity(s, activity, &hit) ||
	       too_fast(s, seq, kind, &hit);
}

static bool admit(struct session *s, uint64_t seq, enum request_kind kind)
{
	switch (admission_of(s, kind)) {
	case ADMITTED:
		break;
	case TOKEN_EXPIRED:
		gateway_refused(REFUSAL_EXPIRED);
		reply_status(s, seq, kind, RAIN__STATUS__DENIED,
			     "the token has expired; say Hello with a new one");
		return false;
	case KEY_REMOVED:
		gateway_refused(REFUSAL_KEY_REMOVED);
		reply_status(s, seq, kind, RAIN__STATUS__DENIED,
			     "the key of the token is no longer valid; say "
			     "Hello with a new one");
		return false;
	case CONNECTION_FULL:
		gateway_refused(REFUSAL_IN_FLIGHT);
		reply_status(s, seq, kind, busy(kind),
			     "too many requests of this connection in flight");
		return false;
	case GATEWAY_FULL:
		gateway_refused(REFUSAL_IN_FLIGHT_TOTAL);
		reply_status(s, seq, kind, busy(kind),
			     "too many requests in flight");
		return false;
	case LEDGER_FULL:
		gateway_refused(REFUSAL_LEDGER);
		reply_status(s, seq, kind, busy(kind),
			     "too many questions are with the ledger");
		return false;
	case SERVICES_SLOW:
		gateway_refused(REFUSAL_SLOW);
		reply_status(s, seq, kind, busy(kind),
			     "it would take too long");
		return false;
	}
	return true;
}

/* What the connection knows its user to have. */
static bool remembered(struct session *s, uint64_t seq, const Rain__Grab *m)
{
	Rain__GrabReply reply = RAIN__GRAB_REPLY__INIT;
	Rain__RedPacket packet;

	if (s->front || m->attempt > 0 ||
	    !memory_find(s->memory, from_pb(m->activity_id), &packet)) {
		return false;
	}
	reply.status = RAIN__STATUS__ALREADY_GRABBED;
	reply.red_packet = &packet;
	reply_grab(s, seq, &reply);
	metric_add(&gateway_metrics.remembered, 1);
	return true;
}

/* What the service told this user and would tell it again. */
static bool told_before(struct session *s, uint64_t seq, const Rain__Grab *m,
			const struct request_options *o)
{
	struct gateway_loop *l = s->loop;
	Rain__GrabReply reply;

	if (m->attempt > 0 || !edge_answer(l->edge, o->activity, o->user,
					   uv_now(&l->uv), &reply)) {
		return false;
	}
	if (reply.retry_after_ms > 0) {
		/* Many are told the same: not all at once. */
		reply.retry_after_ms += loop_chance(l, EDGE_SPREAD_MS);
	}
	reply_grab(s, seq, &reply);
	metric_add(&gateway_metrics.edge[reply.status], 1);
	return true;
}

/* Whether it is in time; a first tap that is not can't be executed any more,
 * one that may have won already is still told what it won. */
static bool in_time(struct session *s, uint64_t seq, const Rain__Grab *m,
		    int64_t *resolved_ms, uint64_t *left_ms)
{
	switch (admission_not_after(loop_server_ms(s->loop), m->not_after_ms,
				    resolved_ms, left_ms)) {
	case NOT_AFTER_AHEAD:
		return true;
	case NOT_AFTER_PASSED:
		if (m->attempt > 0) {
			return true;
		}
		gateway_refused(REFUSAL_NOT_AFTER);
		reply_status(s, seq, REQUEST_GRAB, RAIN__STATUS__BUSY,
			     "not_after_ms has passed");
		return false;
	case NOT_AFTER_TOO_FAR:
		return bad(s, seq,
			   "not_after_ms is a server time at most 10 s ahead");
	case NOT_AFTER_NEGATIVE:
		return bad(s, seq, "not_after_ms must not be negative");
	}
	return false;
}

void requests_grab(struct session *s, uint64_t seq, const Rain__Grab *m)
{
	struct gateway_loop *l = s->loop;
	uint64_t now = uv_now(&l->uv);
	struct request_options o = { .kind = REQUEST_GRAB,
				     .seq = seq,
				     .activity = from_pb(m->activity_id) };
	int64_t resolved_ms;
	uint64_t left_ms;
	struct request *r;

	if (!find_user(s, seq, from_pb(m->user_id), &o.user) ||
	    !check_activity(s, seq, o.activity) ||
	    !in_time(s, seq, m, &resolved_ms, &left_ms) ||
	    !admit(s, seq, REQUEST_GRAB) ||
	    !check_scope(s, seq, REQUEST_GRAB, o.activity) ||
	    !admit_user(s, seq, REQUEST_GRAB, o.user) ||
	    remembered(s, seq, m) || told_before(s, seq, m, &o) ||
	    !admit_activity(s, seq, REQUEST_GRAB, o.activity)) {
		return;
	}
	o.until_ms = now + left_ms;
	o.due_ms = o.until_ms + (uint64_t)l->options->grace_ms;
	r = request_new(s, &o);
	r->not_after_ms = resolved_ms;
	r->attempt = m->attempt;
	edge_asks(l->edge, o.activity, o.user, now);
	loop_watch_deadlines(l);
	batcher_add(&l->batcher, r);
}

void requests_query_result(struct session *s, uint64_t seq,
			   const Rain__QueryResult *m)
{
	struct gateway_loop *l = s->loop;
	struct request_options o = { .kind = REQUEST_RESULT,
				     .seq = seq,
				     .activity = from_pb(m->activity_id) };
	struct request *r;

	if (!find_user(s, seq, from_pb(m->user_id), &o.user) ||
	    !check_activity(s, seq, o.activity)) {
		return;
	}
	if (m->not_after_ms < 0) {
		(void)bad(s, seq, "not_after_ms must not be negative");
		return;
	}
	if (!admit(s, seq, REQUEST_RESULT) ||
	    !check_scope(s, seq, REQUEST_RESULT, o.activity) ||
	    !admit_user(s, seq, REQUEST_RESULT, o.user) ||
	    !admit_activity(s, seq, REQUEST_RESULT, o.activity)) {
		return;
	}
	o.until_ms = uv_now(&l->uv) + (uint64_t)l->options->query_ms;
	o.due_ms = o.until_ms + (uint64_t)l->options->grace_ms;
	r = request_new(s, &o);
	r->not_after_ms = m->not_after_ms;
	loop_watch_deadlines(l);
	metric_add(&gateway_metrics.queries, 1);
	ask_services(r);
}

void requests_query_balance(struct session *s, uint64_t seq,
			    const Rain__QueryBalance *m)
{
	struct gateway_loop *l = s->loop;
	struct request_options o = { .kind = REQUEST_BALANCE, .seq = seq };
	struct request *r;

	if (!find_user(s, seq, from_pb(m->user_id), &o.user) ||
	    !admit(s, seq, REQUEST_BALANCE) ||
	    !admit_user(s, seq, REQUEST_BALANCE, o.user)) {
		return;
	}
	o.until_ms = uv_now(&l->uv) + (uint64_t)l->options->query_ms;
	o.due_ms = o.until_ms + (uint64_t)l->options->grace_ms;
	r = request_new(s, &o);
	loop_watch_deadlines(l);
	metric_add(&gateway_metrics.balances, 1);
	ask_services(r);
}

void requests_late(struct request *r)
{
	metric_add(&gateway_metrics.late, 1);
	if (r->kind == REQUEST_BALANCE) {
		reply_request_status(r, RAIN__STATUS__BUSY,
				     "the ledger did not answer in time");
	} else {
		reply_request_status(r, RAIN__STATUS__PENDING,
				     "no answer came in time");
	}
}
