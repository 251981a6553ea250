#include <inttypes.h>
#include <stdio.h>

#include "lua/scripts.h"

#include "activity_job.h"

/*
 * Whether the element is packet number i (from 0) of the plan. The ids follow
 * by one and the amounts come from the seed, so each of the plan's packets is
 * there once, and their sum is the plan's, if every element is what it must
 * be. Else why says what it is instead.
 */
static bool is_packet(const struct activity_job *job, uint64_t i,
		      struct bytes element, char *why, size_t size)
{
	const struct allocate_rule *rule = &job->view.plan.rule;
	char text[PACKET_TEXT_MAX], amount[AMOUNT_TEXT_MAX];
	char has[AMOUNT_TEXT_MAX];
	struct bytes exact = bytes_make(text, job_packet(job, i, text));
	const char *wrong = NULL;
	struct packet p;

	if (bytes_eq(element, exact)) {
		return true;
	}
	(void)amount_format(job->amounts[i], amount);
	if (!packet_parse(element, &p, &wrong)) {
		(void)snprintf(why, size, "is no packet: %s", wrong);
		return false;
	}
	(void)amount_format(p.amount_cents, has);
	if (p.amount_cents < rule->min_cents ||
	    (rule->max_cents != 0 && p.amount_cents > rule->max_cents)) {
		(void)snprintf(why, size,
			       "has %s, which is out of the plan's bounds",
			       has);
	} else if (p.amount_cents != job->amounts[i]) {
		(void)snprintf(why, size, "has %s, and %s in the plan", has,
			       amount);
	} else {
		(void)snprintf(why, size,
			       "is %.*s, and %" PRIu64 " with %s in the plan",
			       BYTES_FMT(p.red_packet_id),
			       job->view.id_base + i, amount);
	}
	return false;
}

static void open_cb(void *ctx, enum redis_outcome outcome,
		    const struct step_reply *reply, struct bytes error);

static void open_it(struct activity_job *job)
{
	char length[24];

	(void)snprintf(length, sizeof(length), "%" PRIu64, job->done);
	job_step(job, &lua_activity, job->adopt != NULL ? 4 : 3,
		 (const struct bytes[]){ BYTES("open"), BYTES(""),
					 bytes_str(length),
					 bytes_str(job->list) },
		 open_cb);
}

static void open_cb(void *ctx, enum redis_outcome outcome,
		    const struct step_reply *reply, struct bytes error)
{
	struct activity_job *job = ctx;
	char message[OP_MESSAGE_MAX];
	Rain__Outcome told;

	if (reply == NULL) {
		if (job_again(job, outcome, error)) {
			open_it(job);
		}
		return;
	}
	/* ALREADY after a lost reply was most likely our own doing. */
	if (reply->code == STEP_OK ||
	    (reply->code == STEP_ALREADY && job->tries > 0)) {
		job_end(job, RAIN__OUTCOME__DONE,
			job->view.plan.rule.live
				? "%" PRIu64 " packets wait to be drawn"
				: "all %" PRIu64 " packets were checked",
			job->done);
		return;
	}
	told = op_outcome(reply, message);
	job_end(job, told, "%s", message);
}

static struct bytes text_of(const redisReply *e)
{
	return e->type == REDIS_REPLY_STRING
		       ? bytes_make(e->str, (size_t)e->len)
		       : (struct bytes){ 0 };
}

/* No reply, or an error: whether the same may be asked once more. A page that
 * was not read changed nothing. */
static bool ask_again(struct activity_job *job, const redisReply *reply)
{
	struct bytes error = { 0 };

	if (reply != NULL && reply->type == REDIS_REPLY_ERROR) {
		error = bytes_make(reply->str, (size_t)reply->len);
	}
	return job_again(job, REDIS_NOT_EXECUTED, error);
}

static void look_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply);

/* The id may be that of a packet that was read before. */
static void look(struct activity_job *job)
{
	char key[ID_MAX + 24], at[24];

	(void)snprintf(key, sizeof(key), "rain:{%s}:packets", job->id);
	(void)snprintf(at, sizeof(at), "-%" PRIu64, adopt_like(job->adopt));
	redis_command(job->svc->deps.redis, 3,
		      (const struct bytes[]){ BYTES("LINDEX"), bytes_str(key),
					      bytes_str(at) },
		      job->svc->deps.timeout_ms, look_cb, job);
}

static void look_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct activity_job *job = ctx;
	char why[ADOPT_WHY];

	if (outcome != REDIS_DONE) {
		if (ask_again(job, reply)) {
			look(job);
		}
		return;
	}
	job->tries = 0;
	if (adopt_look(job->adopt, text_of(reply), why) == ADOPT_WRONG) {
		job_end(job, RAIN__OUTCOME__CONFLICT, "%s", why);
	} else {
		job_go_on(job); /* again, from the packet in question on */
	}
}

/* Check the next element. False if the job does not go on to the one behind it:
 * it has ended, or reads elsewhere first. */
static bool check_element(struct activity_job *job, struct bytes text)
{
	char why[256];

	if (job->adopt == NULL) {
		if (!is_packet(job, job->done, text, why, sizeof(why))) {
			job_end(job, RAIN__OUTCOME__CONFLICT,
				"packet %" PRIu64 " in Redis %s", job->done + 1,
				why);
			return false;
		}
		job->done++;
		return true;
	}
	switch (adopt_next(job->adopt, text, why)) {
	case ADOPT_GOOD:
		job->done++;
		return true;
	case ADOPT_LOOK:
		job_land(job, look);
		return false;
	default:
		job_end(job, RAIN__OUTCOME__CONFLICT, "%s", why);
		return false;
	}
}

/* Every element was good. */
static void all_checked(struct activity_job *job)
{
	char why[ADOPT_WHY];

	if (job->adopt != NULL && !adopt_whole(job->adopt, job->list, why)) {
		job_end(job, RAIN__OUTCOME__CONFLICT, "%s", why);
		return;
	}
	open_it(job); /* against this length: one more is refused */
}

static void page_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct activity_job *job = ctx;
	uint64_t page = job->svc->deps.chunk;

	if (!job_landed(job)) {
		return;
	}
	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY) {
		if (ask_again(job, reply)) {
			job_go_on(job);
		}
		return;
	}
	job->tries = 0;
	/* The tail of the list is the first packet. */
	for (size_t i = (size_t)reply->elements; i > 0; i--) {
		if (!check_element(job, text_of(reply->element[i - 1]))) {
			return;
		}
	}
	if (reply->elements < page && job->done < job->rule->count) {
		job_end(job, RAIN__OUTCOME__CONFLICT,
			"there are %" PRIu64 " packets in Redis, and %" PRIu64
			" in the plan",
			job->done, job->rule->count);
	} else {
		job_send(job);
	}
}

static void read_page(struct activity_job *job, uint64_t from, uint64_t n)
{
	char key[ID_MAX + 24], first[24], last[24];

	(void)snprintf(key, sizeof(key), "rain:{%s}:packets", job->id);
	(void)snprintf(first, sizeof(first), "-%" PRIu64, from + n);
	(void)snprintf(last, sizeof(last), "-%" PRIu64, from + 1);
	redis_command(job->svc->deps.redis, 4,
		      (const struct bytes[]){ BYTES("LRANGE"), bytes_str(key),
					      bytes_str(first),
					      bytes_str(last) },
		      job->svc->deps.timeout_ms, page_cb, job);
}

static void begin(struct activity_job *job)
{
	if (job->view.state == RAIN__STATE__OPEN) {
		job_end(job, RAIN__OUTCOME__ALREADY, "it is OPEN already");
	} else if (job->view.state != RAIN__STATE__LOADED) {
		char message[OP_MESSAGE_MAX];

		op_wrong_state("open", job->view.state, message);
		job_end(job, RAIN__OUTCOME__CONFLICT, "%s", message);
	} else if (job->view.plan.rule.live) {
		job->done = job->view.plan.rule.count;
		open_it(job); /* the step knows all that is to be checked */
	} else if (plan_is_adopted(&job->view.plan)) {
		job->adopt = adopt_new(&job->view.plan.rule, UINT64_MAX);
		job_go_on(job);
	} else {
		job_allocate(job);
	}
}

static const struct activity_job_kind opening = {
	.operation = "open",
	.doing = "being checked",
	.begin = begin,
	.allocated = job_go_on,
	.send = read_page,
	.whole = all_checked,
};

void activity_open(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct activity_op *op =
		op_for_activity(ctx, call, argument, sizeof(*op));

	if (op != NULL) {
		job_start(op, &opening);
	}
}
