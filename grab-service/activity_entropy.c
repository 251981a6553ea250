#include <stdio.h>

#include "base/rand.h"
#include "lua/scripts.h"
#include "proto/proto_util.h"

#include "activity_op.h"

/* A number from outside that is mixed into the seed. */
struct entropy_op {
	struct activity_op op;
	char entropy[2 * PLAN_ENTROPY_MAX + 1]; /* lower-case hex */
	char by[ID_MAX + 1];
};

static void look_again_cb(void *ctx, const struct activity_view *view,
			  const char *why)
{
	struct entropy_op *e = ctx;

	(void)why;
	if (view != NULL && view->known &&
	    strcmp(view->entropy, e->entropy) == 0) {
		op_told(e->op.svc, op_id(&e->op), "entropy",
			RAIN__OUTCOME__DONE, "the reply of Redis was lost");
		op_reply(&e->op, view, RAIN__OUTCOME__DONE,
			 "done, although the reply of Redis was lost");
		return;
	}
	op_reply(&e->op, view, RAIN__OUTCOME__UNKNOWN_OUTCOME,
		 "it is not known whether this was done: look again (no "
		 "answer of Redis)");
}

static void entropy_cb(void *ctx, enum redis_outcome outcome,
		       const struct step_reply *reply, struct bytes error)
{
	struct entropy_op *e = ctx;
	struct activity_op *op = &e->op;
	char message[OP_MESSAGE_MAX];
	Rain__Outcome told;

	if (reply == NULL && outcome == REDIS_UNKNOWN) {
		view_read(op->svc->deps.redis, op_id(op), op_timeout(op),
			  look_again_cb, e);
		return;
	}
	told = reply != NULL ? op_outcome(reply, message)
			     : op_failure(outcome, error, message);
	op_told(op->svc, op_id(op), "entropy", told, message);
	op_finish(op, told, "%s", message);
}

/* Copies what is asked for; false and a sentence if it can't be. */
static bool take(struct entropy_op *e, const Rain__EntropyRequest *m,
		 char why[OP_MESSAGE_MAX])
{
	struct bytes id = from_pb(m->activity_id);
	struct bytes by = from_pb(m->by);
	struct bytes hex = from_pb(m->entropy);
	uint8_t entropy[PLAN_ENTROPY_MAX];
	size_t n = hex.n / 2;

	if (!id_valid(id)) {
		(void)snprintf(why, OP_MESSAGE_MAX, "activity_id must be %s",
			       ID_RULE);
	} else if (!id_valid(by)) {
		(void)snprintf(why, OP_MESSAGE_MAX,
			       "by, who sets it, must be %s", ID_RULE);
	} else if (n < PLAN_ENTROPY_MIN || n > PLAN_ENTROPY_MAX ||
		   hex_decode((const char *)hex.p, hex.n, entropy, n) != 0) {
		(void)snprintf(why, OP_MESSAGE_MAX,
			       "entropy must be %d to %d bytes as hex digits",
			       PLAN_ENTROPY_MIN, PLAN_ENTROPY_MAX);
	} else {
		memcpy(e->op.id, id.p, id.n);
		memcpy(e->by, by.p, by.n);
		hex_encode(entropy, n, e->entropy);
		return true;
	}
	return false;
}

void activity_entropy(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	Rain__EntropyRequest *m = proto_unpack(
		&rain__entropy_request__descriptor, argument, OP_ARGUMENT_MAX);
	struct entropy_op *e;
	char why[OP_MESSAGE_MAX];
	bool good;

	if (m == NULL) {
		op_malformed(call);
		return;
	}
	e = op_new(ctx, call, sizeof(*e));
	good = take(e, m, why);
	proto_free(m);
	if (!good) {
		op_reply(&e->op, NULL, RAIN__OUTCOME__INVALID, "%s", why);
		return;
	}
	op_step(&e->op, &lua_activity, 4,
		(const struct bytes[]){ BYTES("entropy"), BYTES(""),
					bytes_str(e->entropy),
					bytes_str(e->by) },
		entropy_cb, e);
}
