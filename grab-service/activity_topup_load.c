/*
 * The tranche is announced: its packets are pushed as soon as the ledger has
 * funded it, while people grab.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lua/scripts.h"
#include "proto/proto_util.h"

#include "activity_topup.h"

enum {
	FUNDED_POLL_MS = 100,
	REPLY_MS = 300, /* before the caller's deadline it is answered */
};

/* ---- Pushing ---- */

void topup_whole(struct activity_job *job)
{
	char cents[AMOUNT_TEXT_MAX];

	(void)amount_format(job->rule->total_cents, cents);
	job_end(job, RAIN__OUTCOME__DONE,
		"tranche %" PRIu32 " is there: %" PRIu64 " packets, %s",
		topup_wanted(job)->number, job->rule->count, cents);
}

static void refused(struct activity_job *job, const struct step_reply *reply)
{
	struct step_reply said = *reply;
	char message[OP_MESSAGE_MAX];
	Rain__Outcome outcome;

	/* The sentence is behind the number. */
	if (said.rest_count > 0) {
		said.rest++;
		said.rest_count--;
	}
	outcome = op_outcome(&said, message);
	job_end(job, outcome,
		"%s (%" PRIu64 " of the %" PRIu64 " packets of tranche %" PRIu32
		" are there)",
		message, job->done, job->rule->count,
		topup_wanted(job)->number);
}

static void push_cb(void *ctx, enum redis_outcome outcome,
		    const struct step_reply *reply, struct bytes error)
{
	struct activity_job *job = ctx;
	int64_t there = 0;

	if (!job_landed(job)) {
		return;
	}
	if (reply == NULL) {
		if (job_again(job, outcome, error)) {
			job_go_on(job);
		}
		return;
	}
	if (step_number(reply, 0, &there)) {
		job->done = (uint64_t)there;
	}
	if (reply->code == STEP_ALREADY) {
		topup_whole(job);
	} else if (reply->code == STEP_OK && job->done <= job->rule->count) {
		job->tries = 0;
		job_send(job);
	} else if (reply->code == STEP_ORDER && job->done < job->rule->count) {
		/* A chunk whose reply was lost, or another process that loads
		 * the same tranche. */
		job->tries = 0;
		job_go_on(job);
	} else {
		refused(job, reply);
	}
}

void topup_push(struct activity_job *job, uint64_t from, uint64_t n)
{
	struct bytes *argv = xcalloc(3 + n, sizeof(*argv));
	void *texts = job_packets(job, from, n, argv + 3);
	char number[16];
	char offset[24];

	(void)snprintf(number, sizeof(number), "%" PRIu32,
		       topup_wanted(job)->number);
	(void)snprintf(offset, sizeof(offset), "%" PRIu64, from);
	argv[0] = BYTES("load");
	argv[1] = bytes_str(number);
	argv[2] = bytes_str(offset);
	job_step(job, &lua_topup, 3 + n, argv, push_cb);
	free(texts);
	free(argv);
}

/* ---- Waiting for the money ---- */

struct wait {
	uv_timer_t timer;
	struct activity_job *job;
};

static void wait_closed(uv_handle_t *handle)
{
	free(container_of(handle, struct wait, timer));
}

static void wait_over(uv_timer_t *timer)
{
	struct wait *w = container_of(timer, struct wait, timer);
	struct activity_job *job = w->job;

	uv_close((uv_handle_t *)timer, wait_closed);
	if (!job_stopped(job)) {
		topup_load(job);
	}
}

static void ask_later(struct activity_job *job)
{
	struct wait *w = xcalloc(1, sizeof(*w));

	w->job = job;
	check(uv_timer_init(job->svc->deps.loop, &w->timer) == 0);
	check(uv_timer_start(&w->timer, wait_over, FUNDED_POLL_MS, 0) == 0);
}

/* Whether nobody waits for the answer much longer. */
static bool out_of_time(const struct activity_job *job)
{
	uint64_t now = uv_now(job->svc->deps.loop);

	for (const struct activity_op *op = job->ops; op != NULL;
	     op = op->next) {
		if (dubbo_call_deadline(op->call) > now + REPLY_MS) {
			return false;
		}
	}
	return true;
}

static void funded(struct activity_job *job)
{
	const struct view_topup *t = topup_announced(job);

	job->rule = &t->tranche.rule;
	job->seed = t->seed;
	job->id_base = t->id_base;
	job->done = t->loaded;
	job_allocate(job);
}

static void ledger_cb(void *ctx, const Rain__TotalsReply *reply)
{
	struct activity_job *job = ctx;
	const uint32_t number = topup_wanted(job)->number;
	int64_t cents = view_cents(&job->view);

	/* It is the last one: no tranche follows before it is whole. */
	if (reply != NULL && reply->funded_cents >= cents &&
	    reply->funded_packets >= view_packets(&job->view)) {
		if (!job_stopped(job)) {
			funded(job);
		}
	} else if (!out_of_time(job)) {
		ask_later(job);
	} else if (reply == NULL) {
		job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW,
			"tranche %" PRIu32
			" is announced, and the ledger does not answer whether "
			"it is funded: ask again",
			number);
	} else {
		job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW,
			"tranche %" PRIu32
			" is announced, not funded yet (the ledger has %s of "
			"%s%s%.*s): ask again",
			number, amount_text(reply->funded_cents).text,
			amount_text(cents).text,
			reply->alarm.len > 0 ? "; " : "",
			BYTES_FMT(from_pb(reply->alarm)));
	}
}

void topup_load(struct activity_job *job)
{
	ledger_totals(job->svc->deps.ledger, bytes_str(job->id), ledger_cb,
		      job);
}
