#include <stdio.h>

#include "base/rand.h"
#include "proto/proto_util.h"

#include "activity_op.h"

/* A number from outside that is mixed into the seed. */
struct entropy_op {
	struct activity_op op;
	char entropy[2 * PLAN_ENTROPY_MAX + 1]; /* lower-case hex */
	char by[ID_MAX + 1];
};

static bool is_mixed_in(const struct activity_op *op,
			const struct activity_view *view)
{
	const struct entropy_op *e = (const void *)op;

	return strcmp(view->entropy, e->entropy) == 0;
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
	op_change(&e->op, is_mixed_in, 4,
		  (const struct bytes[]){ BYTES("entropy"), BYTES(""),
					  bytes_str(e->entropy),
					  bytes_str(e->by) },
		  "entropy");
}
