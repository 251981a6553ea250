#include "fence.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/metrics.h"
#include "lua/scripts.h"
#include "rain/activity_service.pb-c.h"

#include "halt.h"
#include "ledger.h"
#include "track.h"

enum {
	NUMBER_MAX = 24,
	REASON_MAX = 256,
	AGAIN_MS = 200,    /* between two questions about evidence */
	WITNESS_MS = 1000, /* between two words of one who only watches */
	HALTED_MS = 5000,  /* between two looks at what was lost */
};

static struct metric fenced = METRIC_GAUGE(
	"rain_fenced_activities",
	"Activities that give nothing out until Redis is verified", "");

void fence_metrics(void)
{
	static bool done;

	if (!done) {
		metrics_register(&fenced);
		done = true;
	}
}

void fence_needed(struct grab_env *env, struct activity *a)
{
	struct track *t = a->track;

	if (t == NULL) {
		/* The relay's next look at the set makes one. */
		return;
	}
	if (!t->fence.needed) {
		log_warn("activity fenced", log_str("activity", a->id),
			 log_str("reason",
				 "Redis was restarted or failed over: nothing "
				 "is given out until it is shown that nothing "
				 "was lost"));
		metric_add(&fenced, 1);
		t->fence.needed = true;
		t->fence.since_ms = uv_now(env->loop);
		t->fence.until_ms = 0;
		t->fence.phase = FENCE_CONFIRM;
		t->fence.confirmed_on = 0;
		t->wanted = true;
		t->due_ms = uv_now(env->loop);
		relay_kick(t->relay);
	}
}

void fence_forget(struct track *t)
{
	if (t->fence.needed) {
		t->fence.needed = false;
		metric_add(&fenced, -1);
	}
}

void fence_over(struct track *t)
{
	if (t->fence.needed) {
		log_info("fence lifted, Redis is verified",
			 log_str("activity", t->activity->id),
			 log_int("took_ms",
				 (int64_t)(uv_now(t->relay->env->loop) -
					   t->fence.since_ms)));
	}
	fence_forget(t);
}

bool fence_must_confirm(const struct track *t)
{
	uint64_t connection = redis_connection(t->relay->redis);

	return connection != 0 && t->activity->seen.revision > 0 &&
	       t->fence.confirmed_on != connection;
}

static uint64_t now_of(const struct track *t)
{
	return uv_now(t->relay->env->loop);
}

static void wait_then(struct track *t, enum fence_phase phase, uint64_t ms)
{
	t->fence.phase = phase;
	t->fence.due_ms = now_of(t) + ms;
}

/* Something that was there is not: a person must look. */
static void accuse(struct track *t, struct bytes what)
{
	char reason[REASON_MAX];

	wait_then(t, FENCE_CONFIRM, HALTED_MS);
	if (t->state == RAIN__STATE__HALTED) {
		return;
	}
	(void)snprintf(reason, sizeof reason, "Redis lost something: %.*s",
		       BYTES_FMT(what));
	halt_evidence(t->relay->env, t->activity, reason);
	t->due_ms = now_of(t);
}

/* ---- CONFIRM ---- */

static void confirm_cb(void *ctx, enum redis_outcome outcome,
		       const struct step_reply *reply, struct bytes error)
{
	struct track *t = ctx;
	struct fence *f = &t->fence;

	(void)error;
	f->busy = false;
	if (outcome != REDIS_DONE) {
		wait_then(t, FENCE_CONFIRM, AGAIN_MS);
	} else if (reply->code == STEP_LOST) {
		accuse(t, step_text(reply, 0));
	} else if (reply->code == STEP_OK || reply->code == STEP_UNLINKED) {
		f->confirmed_on = f->round;
		if (f->told_on != f->round) {
			f->told_on = f->round;
			log_info(
				"confirmed what was seen last",
				log_str("activity", t->activity->id),
				log_int("seq", (int64_t)t->activity->seen.seq));
		}
	} else {
		log_error("can't confirm what was seen last",
			  log_str("activity", t->activity->id),
			  log_str("code", step_code_name(reply->code)));
		wait_then(t, FENCE_CONFIRM, HALTED_MS);
	}
	relay_kick(t->relay);
}

static struct bytes print(char out[NUMBER_MAX], uint64_t n)
{
	int len = snprintf(out, NUMBER_MAX, "%" PRIu64, n);

	return bytes_make(out, (size_t)len);
}

static void run(struct track *t, const struct bytes *argv, size_t argc,
		step_cb done)
{
	t->fence.busy = true;
	step_run(t->relay->redis, &lua_fence, activity_id(t->activity), argc,
		 argv, (uint64_t)t->relay->env->options->redis_timeout_ms, done,
		 t);
}

static void confirm(struct track *t)
{
	const struct seen *seen = &t->activity->seen;
	char text[3][NUMBER_MAX];
	struct bytes argv[6] = {
		BYTES("confirm"),
		bytes_str(t->relay->env->witness),
		print(text[0], seen->seq),
		bytes_str(seen->user),
		print(text[1], seen->revision),
		print(text[2], seen->events),
	};

	/* It makes us a witness, also if we never grabbed. */
	t->activity->seen.served = true;
	run(t, argv, 6, confirm_cb);
}

/* ---- TOTALS ---- */

static void totals_cb(void *ctx, const Rain__TotalsReply *reply)
{
	struct track *t = ctx;
	struct fence *f = &t->fence;

	f->busy = false;
	if (reply == NULL) {
		wait_then(t, FENCE_TOTALS, AGAIN_MS);
		return;
	}
	f->claims = reply->known ? reply->max_seq : 0;
	f->revision = reply->known ? reply->revision : 0;
	wait_then(t, FENCE_STAMP, 0);
	relay_kick(t->relay);
}

/* A replica that is attached or promoted changes the incarnation under a
 * connection that stays: the word given before is about another one, and it
 * may be ours that is missing. */
static void confirm_again(struct track *t, uint64_t ms)
{
	t->fence.confirmed_on = 0;
	wait_then(t, FENCE_CONFIRM, ms);
}

/* ---- STAMP ---- */

static void stamped(struct track *t)
{
	fence_over(t);
	t->fence.phase = FENCE_IDLE;
	track_drop(t, "Redis is verified again");
	relay_kick(t->relay);
}

/* Where they are in the rest of a reply that says WITNESS. */
enum { WITNESS_LEFT = 1, WITNESS_COUNT, WITNESS_ID };

static void await_witness(struct track *t, const struct step_reply *reply)
{
	struct fence *f = &t->fence;
	struct bytes id = step_text(reply, WITNESS_ID);
	bool first = f->until_ms == 0;
	uint64_t left = 0;

	(void)track_number(reply, WITNESS_LEFT, &left);
	(void)track_number(reply, WITNESS_COUNT, &f->silent);
	(void)snprintf(f->witness, sizeof f->witness, "%.*s", BYTES_FMT(id));
	f->until_ms = now_of(t) + left;
	if (first) {
		log_warn("waits for a grab-service that served the activity",
			 log_str("activity", t->activity->id),
			 log_bytes("witness", id),
			 log_int("witnesses", (int64_t)f->silent),
			 log_int("at_most_ms", (int64_t)left));
	}
}

static void stamp_cb(void *ctx, enum redis_outcome outcome,
		     const struct step_reply *reply, struct bytes error)
{
	struct track *t = ctx;

	(void)error;
	t->fence.busy = false;
	if (outcome != REDIS_DONE) {
		wait_then(t, FENCE_TOTALS, AGAIN_MS);
		return;
	}
	switch (reply->code) {
	case STEP_OK:
	case STEP_ALREADY:
		stamped(t);
		return;
	case STEP_WITNESS:
		await_witness(t, reply);
		confirm_again(t, AGAIN_MS);
		return;
	case STEP_LOST:
	case STEP_COUNTS:
		accuse(t, step_text(reply, 0));
		return;
	case STEP_LEASE:
		wait_then(t, FENCE_FLUSH, AGAIN_MS);
		return;
	default:
		log_error("can't verify Redis",
			  log_str("activity", t->activity->id),
			  log_str("code", step_code_name(reply->code)));
		wait_then(t, FENCE_TOTALS, HALTED_MS);
	}
}

static void stamp(struct track *t)
{
	char text[4][NUMBER_MAX];
	struct bytes argv[6] = {
		BYTES("stamp"),
		bytes_str(t->relay->owner),
		print(text[0], t->generation),
		print(text[1], t->fence.claims),
		print(text[2], t->fence.revision),
		print(text[3], (uint64_t)t->relay->env->options->patience_ms),
	};

	run(t, argv, 6, stamp_cb);
}

/* ---- All together ---- */

static void begin(struct track *t, uint64_t connection)
{
	struct fence *f = &t->fence;

	/* What was gathered on another connection says nothing about the
	 * process behind this one. */
	if (f->phase > FENCE_CONFIRM && f->round != connection) {
		f->phase = FENCE_CONFIRM;
		f->due_ms = 0;
	}
	if (f->phase == FENCE_IDLE && (f->needed || fence_must_confirm(t))) {
		f->phase = FENCE_CONFIRM;
	}
	if (f->phase != FENCE_IDLE && !f->needed && !fence_must_confirm(t)) {
		f->phase = FENCE_IDLE;
	}
}

void fence_step(struct track *t)
{
	struct fence *f = &t->fence;
	struct grab_env *env = t->relay->env;
	uint64_t connection = redis_connection(t->relay->redis);

	if (f->busy || connection == 0) {
		return;
	}
	begin(t, connection);
	if (f->phase == FENCE_IDLE || now_of(t) < f->due_ms) {
		return;
	}
	if (f->phase == FENCE_CONFIRM) {
		f->round = connection;
		if (fence_must_confirm(t)) {
			confirm(t);
			return;
		}
		f->phase = FENCE_FLUSH;
	}
	/* From here on only under the lease. */
	if (!t->ours) {
		if (f->needed) {
			confirm_again(t, WITNESS_MS);
		}
		return;
	}
	switch (f->phase) {
	case FENCE_FLUSH:
		/* What is on its way to Kafka would come behind its end. */
		if (t->outstanding > 0) {
			return;
		}
		f->phase = FENCE_EVIDENCE;
		f->evidence = evidence_want(&t->relay->evidence);
		return;
	case FENCE_EVIDENCE:
		if (t->relay->evidence.round >= f->evidence) {
			f->phase = FENCE_TOTALS;
			relay_kick(t->relay);
		}
		return;
	case FENCE_TOTALS:
		f->busy = true;
		ledger_totals(env->ledger, activity_id(t->activity), totals_cb,
			      t);
		return;
	case FENCE_STAMP:
		stamp(t);
		return;
	default:
		return;
	}
}
