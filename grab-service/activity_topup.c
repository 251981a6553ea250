/*
 * Another tranche while people grab:
 *
 *   announce, which has an event -> wait until the ledger has funded it
 *     -> push its packets, each chunk a step of its own
 *
 * Whatever ends in between is gone on from by the same request: meta has the
 * seed of what is announced, and how far it is loaded.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/rand.h"
#include "lua/scripts.h"
#include "proto/proto_util.h"

#include "activity_room.h"
#include "activity_topup.h"

static const struct topup_op *topup_of(const struct activity_op *op)
{
	return (const struct topup_op *)(const void *)op;
}

const struct tranche *topup_wanted(const struct activity_job *job)
{
	return &topup_of(job->ops)->wanted;
}

const struct view_topup *topup_announced(const struct activity_job *job)
{
	size_t i = topup_wanted(job)->number - 2;

	return i < job->view.topup_count ? &job->view.topups[i] : NULL;
}

static bool same(const struct activity_op *first,
		 const struct activity_op *other)
{
	char a[TRANCHE_TEXT_MAX], b[TRANCHE_TEXT_MAX];

	(void)tranche_text(&topup_of(first)->wanted, a);
	(void)tranche_text(&topup_of(other)->wanted, b);
	return strcmp(a, b) == 0;
}

static void go_on(struct activity_job *job)
{
	const struct view_topup *t = topup_announced(job);
	char why[PLAN_WHY];

	tranche_difference(&t->tranche, topup_wanted(job), why);
	if (why[0] != '\0') {
		job_end(job, RAIN__OUTCOME__CONFLICT,
			"tranche %" PRIu32 " is another one: %s",
			t->tranche.number, why);
	} else if (job->view.tranches >= t->tranche.number) {
		job_end(job, RAIN__OUTCOME__ALREADY,
			"tranche %" PRIu32 " is there already",
			t->tranche.number);
	} else if (job->view.state != RAIN__STATE__OPEN &&
		   job->view.state != RAIN__STATE__STATE_PAUSED) {
		char message[OP_MESSAGE_MAX];

		op_wrong_state("topup", job->view.state, message);
		job_end(job, RAIN__OUTCOME__CONFLICT, "%s", message);
	} else {
		topup_load(job);
	}
}

static void announced_cb(void *ctx, const struct activity_view *view,
			 const char *why)
{
	struct activity_job *job = ctx;

	if (view == NULL) {
		job_end(job, RAIN__OUTCOME__UNKNOWN_OUTCOME,
			"tranche %" PRIu32 " may be announced: ask again (%s)",
			topup_wanted(job)->number, why);
		return;
	}
	job->view = *view;
	if (!view->known || view->problem[0] != '\0' ||
	    topup_announced(job) == NULL || !view_is_committed(view)) {
		job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW,
			"tranche %" PRIu32 " in Redis is not as announced: %s",
			topup_wanted(job)->number,
			view->problem[0] != '\0' ? view->problem
						 : "it was changed");
		return;
	}
	go_on(job);
}

static void announce(struct activity_job *job);

static void announce_cb(void *ctx, enum redis_outcome outcome,
			const struct step_reply *reply, struct bytes error)
{
	struct activity_job *job = ctx;
	char message[OP_MESSAGE_MAX];
	Rain__Outcome told;

	if (reply == NULL) {
		if (job_again(job, outcome, error)) {
			announce(job);
		}
		return;
	}
	if (reply->code != STEP_OK && reply->code != STEP_ALREADY) {
		told = op_outcome(reply, message);
		job_end(job, told, "%s", message);
		return;
	}
	job->tries = 0;
	op_told(job->svc, bytes_str(job->id), "topup", RAIN__OUTCOME__DONE,
		"announced");
	/* Another seed may have been faster: what lies in Redis counts. */
	view_read(job->svc->deps.redis, bytes_str(job->id),
		  job->svc->deps.timeout_ms, announced_cb, job);
}

/* Whether so many ids from base on are ids of other tranches. */
static bool ids_taken(const struct activity_view *v, uint64_t base,
		      uint64_t count)
{
	bool taken = base < v->id_base + v->plan.rule.count &&
		     v->id_base < base + count;

	for (size_t i = 0; i < v->topup_count; i++) {
		const struct view_topup *t = &v->topups[i];

		taken = taken || (base < t->id_base + t->tranche.rule.count &&
				  t->id_base < base + count);
	}
	return taken;
}

static void announce(struct activity_job *job)
{
	const struct tranche *t = topup_wanted(job);
	char text[TRANCHE_TEXT_MAX], commitment[PLAN_COMMITMENT];
	char hex[2 * ALLOCATE_SEED + 1], number[16], base[24];
	uint8_t seed[ALLOCATE_SEED];
	uint64_t first;

	do {
		first = activity_random_base(t->rule.count);
	} while (ids_taken(&job->view, first, t->rule.count));
	rand_bytes(seed, sizeof(seed));
	hex_encode(seed, sizeof(seed), hex);
	tranche_commitment(seed, t, commitment);
	(void)tranche_text(t, text);
	(void)snprintf(number, sizeof(number), "%" PRIu32, t->number);
	(void)snprintf(base, sizeof(base), "%" PRIu64, first);
	job_step(job, &lua_topup, 6,
		 (const struct bytes[]){ BYTES("announce"), bytes_str(number),
					 bytes_str(text), bytes_str(hex),
					 bytes_str(commitment),
					 bytes_str(base) },
		 announce_cb);
}

static void room_told(void *ctx, bool fits, const char *why)
{
	struct activity_job *job = ctx;

	if (!fits) {
		job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW,
			"nothing more was loaded: %s", why);
	} else if (job_stopped(job)) {
		return;
	} else if (topup_announced(job) != NULL) {
		go_on(job);
	} else {
		announce(job);
	}
}

static void begin(struct activity_job *job)
{
	const struct view_topup *there = topup_announced(job);

	job->rule = &topup_wanted(job)->rule;
	if (there != NULL && job->view.tranches >= there->tranche.number) {
		go_on(job);
		return;
	}
	room_ask(job->svc->deps.redis,
		 plan_memory(job->rule->count,
			     there != NULL ? there->loaded : 0),
		 job->svc->deps.timeout_ms, room_told, job);
}

static const struct activity_job_kind topup = {
	.operation = "topup",
	.doing = "being topped up with another tranche",
	.begin = begin,
	.allocated = job_go_on,
	.send = topup_push,
	.whole = topup_whole,
	.same = same,
};

void activity_topup(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	Rain__TopUpRequest *m = proto_unpack(&rain__top_up_request__descriptor,
					     argument, OP_ARGUMENT_MAX);
	char why[PLAN_WHY] = "there is no plan in the request";
	struct topup_op *t;
	struct bytes id;
	bool good = false;

	if (m == NULL) {
		op_malformed(call);
		return;
	}
	t = op_new(ctx, call, sizeof(*t));
	id = from_pb(m->activity_id);
	if (!id_valid(id)) {
		(void)snprintf(why, sizeof(why), "activity_id must be %s",
			       ID_RULE);
	} else if (m->plan != NULL) {
		memcpy(t->op.id, id.p, id.n);
		good = tranche_make(id, m->tranche, m->plan, &t->wanted, why);
	}
	proto_free(m);
	if (!good) {
		op_reply(&t->op, NULL, RAIN__OUTCOME__INVALID, "%s", why);
		return;
	}
	job_start(&t->op, &topup);
}
