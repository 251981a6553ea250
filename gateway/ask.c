#include "gateway/ask.h"

#include "base/log.h"
#include "gateway/loop.h"
#include "gateway/reply.h"
#include "gateway/verdict.h"
#include "proto/proto_util.h"
#include "rain/grab_service.pb-c.h"
#include "rain/ledger_service.pb-c.h"

enum { ARENA_MAX = 64 * 1024 };

static const struct dubbo_target result_target = {
	.path = "rain.GrabService",
	.version = "1.0.0",
	.method = "result",
	.types = "Lrain/ResultRequest;",
};
static const struct dubbo_target balance_target = {
	.path = "rain.LedgerService",
	.version = "1.0.0",
	.method = "balance",
	.types = "Lrain/BalanceRequest;",
};

static void ask(struct request *r, int avoid);

/* Nothing came that could be passed on. */
static void give_up(struct request *r)
{
	if (!request_open(r)) {
		return;
	}
	if (r->kind == REQUEST_RESULT) {
		reply_request_status(r, RAIN__STATUS__PENDING,
				     "the grab-service did not answer");
	} else {
		reply_request_status(r, RAIN__STATUS__BUSY,
				     "the ledger did not answer");
	}
}

static void answer_result(struct request *r, struct bytes value)
{
	Rain__GrabResponse *m = proto_unpack(&rain__grab_response__descriptor,
					     value, ARENA_MAX);
	Rain__GrabReply reply;

	if (m == NULL || m->reply == NULL) {
		log_warn("result is no GrabResponse");
		give_up(r);
	} else if (request_open(r)) {
		uint64_t moves = 0;

		edge_learn(r->loop->edge,
			   &(struct edge_news){
				   .activity = request_activity(r),
				   .user = request_user(r),
				   .response = m,
				   .asked_ms = r->asked_ms,
				   .now_ms = uv_now(&r->loop->uv),
				   .moves = &moves,
			   });
		verdict_reply(m->reply, false, loop_retry_after(r->loop),
			      &reply);
		reply_request(r, &reply);
	}
	proto_free(m);
}

static void answer_balance(struct request *r, struct bytes value)
{
	Rain__LedgerBalanceReply *m = proto_unpack(
		&rain__ledger_balance_reply__descriptor, value, ARENA_MAX);

	if (m == NULL) {
		log_warn("balance is no LedgerBalanceReply");
		give_up(r);
	} else if (request_open(r)) {
		reply_request_balance(r, m->balance_cents,
				      from_pb(m->currency));
	}
	proto_free(m);
}

static bool may_ask_again(struct request *r, enum verdict verdict)
{
	if (!request_open(r) || r->loop->stopping ||
	    r->tries >= REQUEST_TRIES_MAX ||
	    uv_now(&r->loop->uv) >= r->until_ms) {
		return false;
	}
	if (verdict == VERDICT_LOST && !retry_budget_take(&r->loop->budget)) {
		metric_add(&gateway_metrics.no_budget, 1);
		return false;
	}
	return verdict == VERDICT_LOST || verdict == VERDICT_NOT_SENT;
}

static void asked(void *ctx, enum dubbo_outcome outcome,
		  const struct dubbo_result *result, int provider)
{
	struct request *r = ctx;
	enum verdict verdict = verdict_of(outcome, result);

	if (verdict == VERDICT_VALUE) {
		if (r->kind == REQUEST_RESULT) {
			answer_result(r, result->value);
		} else {
			answer_balance(r, result->value);
		}
	} else if (may_ask_again(r, verdict)) {
		metric_add(&gateway_metrics.retried, 1);
		ask(r, provider);
		return;
	} else {
		if (outcome == DUBBO_DONE && loop_may_warn(r->loop)) {
			log_warn("a service refused a question",
				 log_int("status", result->status),
				 log_bytes("message", result->message));
		}
		give_up(r);
	}
	request_free(r);
}

static void ask(struct request *r, int avoid)
{
	struct gateway_loop *l = r->loop;
	uint64_t timeout = (uint64_t)l->options->try_ms;
	uint64_t now = uv_now(&l->uv);
	uint64_t left = r->due_ms > now ? r->due_ms - now : 1;

	if (timeout > left) {
		timeout = left;
	}
	r->tries++;
	r->asked_ms = now;
	if (r->kind == REQUEST_RESULT) {
		Rain__ResultRequest m = RAIN__RESULT_REQUEST__INIT;

		m.activity_id = to_pb(request_activity(r));
		m.user_id = to_pb(request_user(r));
		m.not_after_ms = r->not_after_ms;
		dubbo_client_call(l->grabs, &result_target, &m.base, timeout,
				  avoid, asked, r);
	} else {
		Rain__BalanceRequest m = RAIN__BALANCE_REQUEST__INIT;

		m.user_id = to_pb(request_user(r));
		dubbo_client_call(l->ledger, &balance_target, &m.base, timeout,
				  avoid, asked, r);
	}
}

void ask_services(struct request *r)
{
	retry_budget_earn(&r->loop->budget);
	ask(r, -1);
}
