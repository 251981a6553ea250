/*
 * Redis gives out what lies there; a packet that the plan does not have, or
 * that was another user's, is told to nobody and published by nobody.
 */
#include <inttypes.h>
#include <stdio.h>

#include "roll.h"

#include "base/log.h"
#include "rain/gateway.pb-c.h"

#include "answer.h"
#include "claim.h"
#include "env.h"
#include "halt.h"

static void foreign(struct grab_env *env, struct activity *a,
		    const struct verdict *v)
{
	char reason[ID_MAX + 60];

	if (activity_may_log(a, uv_now(env->loop))) {
		log_error("claim unreadable", log_str("activity", a->id),
			  log_bytes("user", v->user),
			  log_bytes("text", v->claim));
	}
	(void)snprintf(reason, sizeof reason,
		       "what is stored for user %.*s is no claim of his",
		       BYTES_FMT(v->user));
	halt_evidence(env, a, reason);
}

/* Once more the user is told that there is no packet, or something else than
 * this user's claim is there. */
static void without_claim(struct grab_env *env, struct activity *a,
			  const struct verdict *v, struct answer *answer)
{
	if (v->claim.n > 0) {
		foreign(env, a, v);
	} else if (roll_has_user(a->roll, v->user)) {
		/* A claim may have been read before this older reply was: the
		 * step of the halt looks again. */
		halt_user(env, a, v->user);
		*answer = answer_unproven(v);
	}
}

bool roll_judge_claim(struct grab_env *env, struct activity *a,
		      const struct claim *c, uint64_t revision)
{
	char why[ROLL_WHY];
	char reason[ROLL_WHY + ID_MAX + 40];
	struct roll_entry e = {
		.seq = c->seq,
		.red_packet_id = c->packet.red_packet_id,
		.amount_cents = c->packet.amount_cents,
		.tranche = c->tranche,
		.user = c->user_id,
	};

	if (!roll_knows(a->roll, e.seq, revision) ||
	    roll_fits(a->roll, &e, why)) {
		return true;
	}
	(void)snprintf(reason, sizeof reason,
		       "claim %" PRIu64 " of user %.*s: %s", e.seq,
		       BYTES_FMT(e.user), why);
	halt_evidence(env, a, reason);
	return false;
}

void roll_judge(struct grab_env *env, struct activity *a, const struct claim *c,
		const struct verdict *v, struct answer *answer)
{
	if (c->seq == 0) {
		without_claim(env, a, v, answer);
		return;
	}
	if (a->roll_awaited || !roll_judge_claim(env, a, c, v->revision)) {
		*answer = answer_unproven(v);
		return;
	}
	activity_saw_claim(a, c->seq, v->user);
}
