#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua/scripts.h"

#include "activity_job.h"
#include "activity_room.h"

static void end_with_code(struct activity_job *job,
			  const struct step_reply *reply)
{
	char message[OP_MESSAGE_MAX];
	Rain__Outcome outcome = op_outcome(reply, message);

	/* The operator asked for a preload, whichever step it was. */
	if (reply->code == STEP_STATE) {
		op_wrong_state("preload", reply->state, message);
	}
	job_end(job, outcome, "%s", message);
}

static void loaded_cb(void *ctx, enum redis_outcome outcome,
		      const struct step_reply *reply, struct bytes error);

static void finish_loading(struct activity_job *job)
{
	char total[24];

	(void)snprintf(total, sizeof(total), "%" PRId64,
		       job->view.plan.rule.total_cents);
	job_step(job, &lua_activity, 3,
		 (const struct bytes[]){ BYTES("loaded"), BYTES(""),
					 bytes_str(total) },
		 loaded_cb);
}

static void loaded_cb(void *ctx, enum redis_outcome outcome,
		      const struct step_reply *reply, struct bytes error)
{
	struct activity_job *job = ctx;

	if (reply == NULL) {
		if (job_again(job, outcome, error)) {
			finish_loading(job);
		}
	} else if (reply->code == STEP_OK || reply->code == STEP_ALREADY) {
		job_end(job, RAIN__OUTCOME__DONE,
			job->view.plan.rule.live
				? "all %" PRIu64 " packets can be drawn"
				: "all %" PRIu64 " packets are in Redis",
			job->view.plan.rule.count);
	} else {
		end_with_code(job, reply);
	}
}

static void push_cb(void *ctx, enum redis_outcome outcome,
		    const struct step_reply *reply, struct bytes error)
{
	struct activity_job *job = ctx;
	int64_t length = 0;

	if (!job_landed(job)) {
		return;
	}
	if (reply == NULL) {
		if (job_again(job, outcome, error)) {
			job_go_on(job);
		}
		return;
	}
	/* Another process has loaded it to the end meanwhile. */
	if (reply->code == STEP_STATE && reply->state == RAIN__STATE__LOADED &&
	    step_number(reply, 0, &length) &&
	    (uint64_t)length == job->view.plan.rule.count) {
		job_land(job, finish_loading);
		return;
	}
	if ((reply->code != STEP_OK && reply->code != STEP_ORDER) ||
	    !step_number(reply, 0, &length)) {
		end_with_code(job, reply);
		return;
	}
	job->tries = 0;
	job->done = (uint64_t)length;
	if (job->done > job->view.plan.rule.count) {
		job_end(job, RAIN__OUTCOME__CONFLICT,
			"there are %" PRIu64 " packets in Redis, and %" PRIu64
			" in the plan: cancel it",
			job->done, job->view.plan.rule.count);
	} else if (reply->code == STEP_OK) {
		job_send(job);
	} else {
		/* ORDER: a chunk whose reply was lost, or another process that
		 * loads the same plan. The list says where to go on. */
		job_go_on(job);
	}
}

static void push(struct activity_job *job, uint64_t from, uint64_t n)
{
	struct bytes *packets = xcalloc(n, sizeof(*packets));
	void *texts = job_packets(job, from, n, packets);

	step_preload(job->svc->deps.redis, bytes_str(job->id), from, n, packets,
		     job->svc->deps.timeout_ms, push_cb, job);
	free(texts);
	free(packets);
}

static void allocated(struct activity_job *job)
{
	/* What a preload before this one left off with. */
	job->done = job->view.loaded;
	if (job->done > job->view.plan.rule.count) {
		job->done = 0; /* the first chunk is told the truth */
	}
	job_go_on(job);
}

static void start_loading(struct activity_job *job);

/* Entropy was added since the activity was read, or another process has loaded
 * it: what was read tells no more. */
static bool changed_meanwhile(const struct step_reply *reply)
{
	return reply->code == STEP_REVISION ||
	       (reply->code == STEP_STATE &&
		reply->state == RAIN__STATE__LOADED);
}

static void start_loading_cb(void *ctx, enum redis_outcome outcome,
			     const struct step_reply *reply, struct bytes error)
{
	struct activity_job *job = ctx;

	if (reply == NULL) {
		if (job_again(job, outcome, error)) {
			start_loading(job);
		}
	} else if (reply->code == STEP_OK || reply->code == STEP_ALREADY) {
		job->tries = 0;
		op_told(job->svc, bytes_str(job->id), "loading",
			RAIN__OUTCOME__DONE, "");
		if (!plan_has_list(&job->view.plan)) {
			finish_loading(job); /* nothing is pushed here */
		} else {
			job_allocate(job);
		}
	} else if (changed_meanwhile(reply) && job->tries + 1 < JOB_TRIES) {
		job->tries++;
		job_read(job);
	} else {
		end_with_code(job, reply);
	}
}

static void start_loading(struct activity_job *job)
{
	const struct activity_view *v = &job->view;
	char revision[24] = "";

	/* The entropy may be another by now. */
	if (v->state == RAIN__STATE__CREATED) {
		(void)snprintf(revision, sizeof(revision), "%" PRIu64,
			       v->revision);
	}
	job_step(
		job, &lua_activity, 2,
		(const struct bytes[]){ BYTES("loading"), bytes_str(revision) },
		start_loading_cb);
}

/* It may have fitted when it was created. */
static void room_told(void *ctx, bool fits, const char *why)
{
	struct activity_job *job = ctx;

	if (!fits) {
		job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW,
			"nothing more was loaded: %s", why);
	} else if (!job_stopped(job)) {
		start_loading(job);
	}
}

static void begin(struct activity_job *job)
{
	const struct activity_view *v = &job->view;

	if (v->state == RAIN__STATE__LOADED) {
		job_end(job, RAIN__OUTCOME__ALREADY, "it is LOADED already");
	} else if (v->state == RAIN__STATE__CREATED ||
		   v->state == RAIN__STATE__LOADING) {
		room_ask(job->svc->deps.redis,
			 plan_memory(v->plan.rule.count, v->loaded),
			 job->svc->deps.timeout_ms, room_told, job);
	} else {
		/* Whether the state allows it, the step decides. */
		start_loading(job);
	}
}

static const struct activity_job_kind preload = {
	.operation = "preload",
	.doing = "being loaded",
	.begin = begin,
	.allocated = allocated,
	.send = push,
	.whole = finish_loading,
};

void activity_preload(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct activity_op *op =
		op_for_activity(ctx, call, argument, sizeof(*op));

	if (op != NULL) {
		job_start(op, &preload);
	}
}
