#include <inttypes.h>
#include <stdio.h>

#include "lua/scripts.h"
#include "proto/proto_util.h"

#include "activity_op.h"

/* One operation of lua/activity.lua that carries nothing but a reason. */
struct change {
	const char *operation;
	const char *reason;
	int to; /* in this state it was certainly done */
};

static const struct change pausing = { "pause", "an operator paused it",
				       RAIN__STATE__STATE_PAUSED };
static const struct change resuming = { "resume", "an operator resumed it",
					RAIN__STATE__OPEN };
static const struct change closing = { "close", "an operator closed it",
				       RAIN__STATE__CLOSED };
static const struct change cancelling = { "cancel", "an operator cancelled it",
					  RAIN__STATE__CANCELLED };

struct change_op {
	struct activity_op op;
	const struct change *change;
};

static void look_again_cb(void *ctx, const struct activity_view *view,
			  const char *why)
{
	struct activity_op *op = ctx;

	(void)why;
	if (view != NULL && view->known && op->is_done(op, view)) {
		op_told(op->svc, op_id(op), op->operation, RAIN__OUTCOME__DONE,
			"the reply of Redis was lost");
		op_reply(op, view, RAIN__OUTCOME__DONE,
			 "done, although the reply of Redis was lost");
		return;
	}
	op_reply(op, view, RAIN__OUTCOME__UNKNOWN_OUTCOME,
		 "it is not known whether this was done: look again (no "
		 "answer of Redis)");
}

static void change_cb(void *ctx, enum redis_outcome outcome,
		      const struct step_reply *reply, struct bytes error)
{
	struct activity_op *op = ctx;
	char message[OP_MESSAGE_MAX];
	Rain__Outcome told;

	if (reply == NULL && outcome == REDIS_UNKNOWN) {
		view_read(op->svc->deps.redis, op_id(op), op_timeout(op),
			  look_again_cb, op);
		return;
	}
	told = reply != NULL ? op_outcome(reply, message)
			     : op_failure(outcome, error, message);
	op_told(op->svc, op_id(op), op->operation, told, message);
	op_finish(op, told, "%s", message);
}

void op_change(struct activity_op *op, op_is_done is_done, size_t argc,
	       const struct bytes *argv, const char *operation)
{
	op->operation = operation;
	op->is_done = is_done;
	op_step(op, &lua_activity, argc, argv, change_cb, op);
}

/* The state tells, but for a halted activity: PAUSED may be what it is after
 * this resume, or what it was before. */
static bool is_in_state(const struct activity_op *op,
			const struct activity_view *view)
{
	const struct change_op *c = (const void *)op;

	return view->state == c->change->to;
}

static void change(void *ctx, struct dubbo_call *call, struct bytes argument,
		   const struct change *what)
{
	struct change_op *c = op_for_activity(ctx, call, argument, sizeof(*c));

	if (c == NULL) {
		return;
	}
	c->change = what;
	op_change(&c->op, is_in_state, 3,
		  (const struct bytes[]){ bytes_str(what->operation), BYTES(""),
					  bytes_str(what->reason) },
		  what->operation);
}

void activity_pause(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	change(ctx, call, argument, &pausing);
}

void activity_resume(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	change(ctx, call, argument, &resuming);
}

void activity_close(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	change(ctx, call, argument, &closing);
}

void activity_cancel(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	change(ctx, call, argument, &cancelling);
}

static void rewind_cb(void *ctx, enum redis_outcome outcome,
		      const struct step_reply *reply, struct bytes error)
{
	struct activity_op *op = ctx;
	char message[OP_MESSAGE_MAX];
	Rain__Outcome told;

	if (reply == NULL) {
		told = op_failure(outcome, error, message);
	} else if (reply->code == STEP_OK) {
		told = RAIN__OUTCOME__DONE;
		(void)snprintf(message, sizeof(message),
			       "claims after %.*s and all events are "
			       "published again",
			       BYTES_FMT(step_text(reply, 2)));
	} else if (reply->code == STEP_ORDER) {
		told = RAIN__OUTCOME__INVALID;
		(void)snprintf(message, sizeof(message),
			       "there are not that many claims");
	} else {
		struct step_reply bare = *reply;

		/* Its rest has numbers, no sentence. */
		bare.rest_count = 0;
		told = op_outcome(&bare, message);
	}
	op_told(op->svc, op_id(op), "rewind", told, message);
	op_finish(op, told, "%s", message);
}

void activity_rewind(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	Rain__RewindRequest *m = proto_unpack(&rain__rewind_request__descriptor,
					      argument, OP_ARGUMENT_MAX);
	struct activity_op *op;
	struct bytes id;
	char seq[24];

	if (m == NULL) {
		op_malformed(call);
		return;
	}
	op = op_new(ctx, call, sizeof(*op));
	id = from_pb(m->activity_id);
	(void)snprintf(seq, sizeof(seq), "%" PRIu64, m->seq);
	if (!id_valid(id)) {
		proto_free(m);
		op_reply(op, NULL, RAIN__OUTCOME__INVALID,
			 "activity_id must be %s", ID_RULE);
		return;
	}
	memcpy(op->id, id.p, id.n);
	proto_free(m);
	op_step(op, &lua_relay, 4,
		(const struct bytes[]){ BYTES("rewind"), BYTES(""), BYTES(""),
					bytes_str(seq) },
		rewind_cb, op);
}
