#include "halt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"
#include "lua/scripts.h"
#include "rain/activity_service.pb-c.h"

#include "step.h"

enum { AGAIN_MS = 500 }; /* between two halts of the same activity */

static struct metric halts =
	METRIC_COUNTER("rain_halts_total", "Activities halted by a check", "");

void halt_metrics(void)
{
	static bool done;

	if (!done) {
		metrics_register(&halts);
		done = true;
	}
}

struct halt {
	const char *kind; /* static: the check */
	struct grab_env *env;
	struct activity *activity;
};

static void halt_cb(void *ctx, enum redis_outcome outcome,
		    const struct step_reply *reply, struct bytes error)
{
	struct halt *h = ctx;
	struct activity *a = h->activity;

	a->halting = false;
	a->halt_after_ms = uv_now(h->env->loop) + AGAIN_MS;
	if (outcome == REDIS_DONE && reply->code == STEP_OK) {
		metric_add(&halts, 1);
		activity_saw(a, reply->state, reply->revision);
		log_error("activity halted", log_str("activity", a->id),
			  log_str("check", h->kind),
			  log_bytes("reason", step_text(reply, 0)));
	} else if (outcome == REDIS_DONE) {
		log_warn("activity not halted", log_str("activity", a->id),
			 log_str("code", step_code_name(reply->code)));
	} else {
		log_error("halt failed", log_str("activity", a->id),
			  log_bytes("error", error));
	}
	activity_unpin(a);
	free(h);
}

/* Not one that is halted already, as far as we know. */
static bool due(const struct grab_env *env, const struct activity *a)
{
	return !a->halting && uv_now(env->loop) >= a->halt_after_ms &&
	       a->state != RAIN__STATE__HALTED;
}

/* What made us halt is found again by the next reply if this one is lost, so
 * nothing is repeated here. */
static void halt(struct grab_env *env, struct activity *a, const char *kind,
		 struct bytes detail)
{
	struct bytes argv[4] = {
		BYTES("halt"),
		BYTES(""),
		bytes_str(kind),
		detail,
	};
	struct halt *h;

	if (!due(env, a)) {
		return;
	}
	h = xmalloc(sizeof *h);
	h->kind = kind;
	h->env = env;
	h->activity = a;
	a->halting = true;
	activity_pin(a);
	step_run(env->redis, &lua_activity, activity_id(a), 4, argv,
		 (uint64_t)env->options->redis_timeout_ms, halt_cb, h);
}

void halt_counts(struct grab_env *env, struct activity *a)
{
	halt(env, a, "counts", BYTES(""));
}

void halt_element(struct grab_env *env, struct activity *a, uint64_t seq)
{
	char number[24];

	(void)snprintf(number, sizeof number, "%" PRIu64, seq);
	halt(env, a, "element", bytes_str(number));
}

void halt_user(struct grab_env *env, struct activity *a, struct bytes user)
{
	halt(env, a, "user", user);
}

void halt_evidence(struct grab_env *env, struct activity *a, const char *reason)
{
	if (due(env, a)) {
		log_error("evidence against an activity",
			  log_str("activity", a->id),
			  log_str("reason", reason));
	}
	halt(env, a, "evidence", bytes_str(reason));
}
