#include "elsewhere.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "base/log.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

#include "answer.h"
#include "ledger.h"

/* Redis was looked through so long ago at most, or it counts as not looked. */
enum { SCAN_FRESH_MS = 5000 };

static void tell(struct grab_env *env, struct ask *ask, int status,
		 uint64_t revision)
{
	struct answer answer = {
		.status = status,
		.retry_after_ms = answer_retry_ms(status, 0),
		.revision = revision,
		.message = answer_message(status),
	};

	check(env->elsewhere > 0);
	env->elsewhere--;
	lane_answer(ask, &answer);
}

static void refuse(struct grab_env *env, struct ask *ask, const char *why)
{
	check(env->elsewhere > 0);
	env->elsewhere--;
	lane_refuse(ask, 0, why);
}

/* ---- No such activity in Redis ---- */

/* In the set, or known to this service from before: then Redis lost it. */
static bool somewhere(const struct activity *a)
{
	return a->listed || a->seen.revision > 0;
}

static bool nowhere(const struct grab_env *env, const struct activity *a)
{
	return !somewhere(a) &&
	       uv_now(env->loop) < a->elsewhere.absent_until_ms;
}

struct absent {
	struct grab_env *env;
	struct activity *activity;
};

static void absent_cb(void *ctx, const Rain__TotalsReply *reply)
{
	struct absent *q = ctx;
	struct grab_env *env = q->env;
	struct activity *a = q->activity;
	struct elsewhere *e = &a->elsewhere;
	struct ask *asks = e->asks;
	struct ask *ask;
	struct ask *next;

	e->asks = NULL;
	e->asking = false;
	if (reply != NULL && !reply->known && !somewhere(a)) {
		e->absent_until_ms = uv_now(env->loop) + ELSEWHERE_KEEP_MS;
	} else if (reply != NULL && reply->known &&
		   activity_may_log(a, uv_now(env->loop))) {
		log_error("the ledger knows an activity that Redis lost",
			  log_str("activity", a->id));
	}
	DL_FOREACH_SAFE(asks, ask, next)
	{
		DL_DELETE(asks, ask);
		if (nowhere(env, a)) {
			tell(env, ask, RAIN__STATUS__NO_SUCH_ACTIVITY, 0);
		} else {
			refuse(env, ask, "the activity is not in Redis now");
		}
	}
	activity_unpin(a);
	free(q);
}

void elsewhere_absent(struct grab_env *env, struct ask *ask)
{
	struct activity *a = ask->activity;
	struct elsewhere *e = &a->elsewhere;
	struct absent *q;

	env->elsewhere++;
	if (nowhere(env, a)) {
		tell(env, ask, RAIN__STATUS__NO_SUCH_ACTIVITY, 0);
		return;
	}
	if (somewhere(a) || env->elsewhere > ELSEWHERE_MAX ||
	    env->scanned_ms == 0 ||
	    uv_now(env->loop) - env->scanned_ms > SCAN_FRESH_MS) {
		refuse(env, ask, "the activity is not in Redis now");
		return;
	}
	DL_APPEND(e->asks, ask);
	if (e->asking) {
		return;
	}
	e->asking = true;
	q = xmalloc(sizeof *q);
	q->env = env;
	q->activity = a;
	activity_pin(a);
	ledger_totals(env->ledger, activity_id(a), absent_cb, q);
}

/* ---- Unlinked ---- */

bool elsewhere_refunded(const Rain__TotalsReply *totals)
{
	if (totals == NULL || !totals->known) {
		return false;
	}
	return totals->refund_done ||
	       (bytes_eq(from_pb(totals->state), BYTES("CANCELLED")) &&
		totals->funded_cents == totals->refunded_cents);
}

struct unlinked {
	struct grab_env *env;
	struct ask *ask;
	uint64_t revision;
};

static void record_cb(void *ctx, const Rain__RecordsReply *reply)
{
	struct unlinked *q = ctx;
	struct grab_env *env = q->env;

	if (reply == NULL) {
		tell(env, q->ask, RAIN__STATUS__PENDING, q->revision);
	} else if (reply->n_records > 0) {
		const Rain__LedgerRecord *r = reply->records[0];
		struct answer answer = {
			.status = RAIN__STATUS__ALREADY_GRABBED,
			.red_packet_id = from_pb(r->red_packet_id),
			.amount_cents = r->amount_cents,
			.at_ms = r->at_ms,
			.revision = q->revision,
			.message =
				answer_message(RAIN__STATUS__ALREADY_GRABBED),
		};

		check(env->elsewhere > 0);
		env->elsewhere--;
		lane_answer(q->ask, &answer);
	} else {
		tell(env, q->ask,
		     q->ask->activity->elsewhere.refunded
			     ? RAIN__STATUS__ENDED
			     : RAIN__STATUS__PENDING,
		     q->revision);
	}
	free(q);
}

static void ask_record(struct unlinked *q)
{
	ledger_record(q->env->ledger, activity_id(q->ask->activity),
		      bytes_make(q->ask->user, q->ask->user_len), record_cb, q);
}

static void refund_cb(void *ctx, const Rain__TotalsReply *reply)
{
	struct unlinked *q = ctx;

	if (elsewhere_refunded(reply)) {
		q->ask->activity->elsewhere.refunded = true;
	}
	ask_record(q);
}

/* The refund first, then the record: a record that is missing after the refund
 * will never come. */
void elsewhere_unlinked(struct grab_env *env, struct ask *ask,
			uint64_t revision)
{
	struct unlinked *q;

	env->elsewhere++;
	if (env->elsewhere > ELSEWHERE_MAX) {
		tell(env, ask, RAIN__STATUS__PENDING, revision);
		return;
	}
	q = xmalloc(sizeof *q);
	q->env = env;
	q->ask = ask;
	q->revision = revision;
	if (ask->activity->elsewhere.refunded) {
		ask_record(q);
		return;
	}
	ledger_totals(env->ledger, activity_id(ask->activity), refund_cb, q);
}
