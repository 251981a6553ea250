#include "activity_job.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <utlist.h>

static void read_cb(void *ctx, const struct activity_view *view,
		    const char *why)
{
	struct activity_job *job = ctx;

	if (view == NULL) {
		job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s", why);
	} else if (!view->known) {
		job_end(job, RAIN__OUTCOME__NOT_FOUND,
			"there is no such activity");
	} else if (view->problem[0] != '\0') {
		job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
			view->problem);
	} else if (!view_is_committed(view)) {
		job_end(job, RAIN__OUTCOME__CONFLICT,
			"seed and plan in Redis are not those of the "
			"commitment %s: cancel it",
			view->commitment);
	} else {
		job->view = *view;
		job->rule = &job->view.plan.rule;
		job->seed = job->view.mixed;
		job->id_base = job->view.id_base;
		job->kind->begin(job);
	}
}

void job_start(struct activity_op *op, const struct activity_job_kind *kind)
{
	struct activity_service *svc = op->svc;
	struct activity_job *job = NULL;

	HASH_FIND_STR(svc->jobs, op->id, job);
	if (job != NULL && job->kind == kind &&
	    (kind->same == NULL || kind->same(job->ops, op))) {
		LL_APPEND(job->ops, op);
		return;
	}
	if (job != NULL) {
		op_finish(op, RAIN__OUTCOME__CONFLICT, "it is %s right now",
			  job->kind->doing);
		return;
	}
	if (svc->stopping || HASH_COUNT(svc->jobs) >= JOBS_MAX) {
		op_finish(op, RAIN__OUTCOME__UNAVAILABLE_NOW,
			  svc->stopping ? "this grab-service is stopping"
					: "too many activities are being "
					  "loaded or opened");
		return;
	}
	job = xcalloc(1, sizeof(*job));
	*job = (struct activity_job){ .kind = kind, .svc = svc };
	memcpy(job->id, op->id, sizeof(job->id));
	LL_APPEND(job->ops, op);
	HASH_ADD_STR(svc->jobs, id, job);
	job_read(job);
}

void job_read(struct activity_job *job)
{
	view_read(job->svc->deps.redis, bytes_str(job->id),
		  job->svc->deps.timeout_ms, read_cb, job);
}

static void answer_all(struct activity_job *job)
{
	struct activity_op *op, *next;

	HASH_DEL(job->svc->jobs, job);
	op_told(job->svc, bytes_str(job->id), job->kind->operation,
		job->outcome, job->message);
	/* The last answer may free the service. */
	LL_FOREACH_SAFE(job->ops, op, next)
	{
		op_finish(op, job->outcome, "%s", job->message);
	}
	free(job->amounts);
	adopt_free(job->adopt);
	free(job);
}

void job_end(struct activity_job *job, Rain__Outcome outcome, const char *fmt,
	     ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(job->message, sizeof(job->message), fmt, args);
	va_end(args);
	job->outcome = outcome;
	job_land(job, answer_all);
}

bool job_again(struct activity_job *job, enum redis_outcome outcome,
	       struct bytes error)
{
	char message[OP_MESSAGE_MAX];
	Rain__Outcome told;

	job->tries++;
	/* Both kinds of step may be repeated: their replies tell where the
	 * list stands. An error will not go away by itself. */
	if (error.n == 0 && outcome != REDIS_PARTIAL &&
	    job->tries < JOB_TRIES) {
		return true;
	}
	told = op_failure(outcome, error, message);
	job_end(job, told, "after %" PRIu64 " of %" PRIu64 " packets: %s",
		job->done, job->rule->count, message);
	return false;
}

bool job_stopped(struct activity_job *job)
{
	if (!job->svc->stopping) {
		return false;
	}
	job_end(job, RAIN__OUTCOME__UNAVAILABLE_NOW,
		"this grab-service is stopping; %" PRIu64 " of %" PRIu64
		" packets are done, ask again",
		job->done, job->rule->count);
	return true;
}

void job_step(struct activity_job *job, const struct redis_script *script,
	      size_t argc, const struct bytes *argv, step_cb done)
{
	step_run(job->svc->deps.redis, script, bytes_str(job->id), argc, argv,
		 job->svc->deps.timeout_ms, done, job);
}

/* ---- Chunks in flight ---- */

void job_land(struct activity_job *job, void (*then)(struct activity_job *job))
{
	check(job->then == NULL); /* nobody looks at what lands meanwhile */
	if (job->flying == 0) {
		then(job);
	} else {
		job->then = then;
	}
}

bool job_landed(struct activity_job *job)
{
	void (*then)(struct activity_job * job) = job->then;

	check(job->flying > 0);
	job->flying--;
	if (then == NULL) {
		return true;
	}
	if (job->flying == 0) {
		job->then = NULL;
		then(job);
	}
	return false;
}

void job_send(struct activity_job *job)
{
	const uint64_t count = job->rule->count;

	if (job->done == count) {
		job_land(job, job->kind->whole);
		return;
	}
	/* Whoever stops still hears of what is in flight. */
	if (job->flying == 0 && job_stopped(job)) {
		return;
	}
	while (!job->svc->stopping && job->sent < count &&
	       job->flying < JOB_CHUNKS_MAX) {
		uint64_t n = count - job->sent;

		if (n > job->svc->deps.chunk) {
			n = job->svc->deps.chunk;
		}
		job->flying++;
		job->kind->send(job, job->sent, n);
		job->sent += n;
	}
}

static void send_behind(struct activity_job *job)
{
	job->sent = job->done;
	job_send(job);
}

void job_go_on(struct activity_job *job)
{
	job_land(job, send_behind);
}

/* ---- The packets ---- */

static void allocate_work(uv_work_t *work)
{
	struct activity_job *job = work->data;

	allocate(job->seed, job->rule, job->amounts);
}

static void allocate_work_cb(uv_work_t *work, int status)
{
	struct activity_job *job = work->data;

	check(status == 0); /* nobody cancels it */
	if (!job_stopped(job)) {
		job->kind->allocated(job);
	}
}

void job_allocate(struct activity_job *job)
{
	int rv;

	check(job->amounts == NULL);
	job->amounts = xcalloc(job->rule->count, sizeof(*job->amounts));
	job->work.data = job;
	rv = uv_queue_work(job->svc->deps.loop, &job->work, allocate_work,
			   allocate_work_cb);
	check(rv == 0); /* the work is there */
}

size_t job_packet(const struct activity_job *job, uint64_t i,
		  char out[PACKET_TEXT_MAX])
{
	char id[U64_DIGITS];
	size_t n = bytes_from_u64(job->id_base + i, id);
	struct packet p = { .red_packet_id = bytes_make(id, n) };

	check(i < job->rule->count);
	p.amount_cents = job->amounts[i];
	return packet_format(&p, out);
}

void *job_packets(const struct activity_job *job, uint64_t from, uint64_t n,
		  struct bytes *out)
{
	char(*texts)[PACKET_TEXT_MAX] = xcalloc(n, sizeof(*texts));

	for (uint64_t i = 0; i < n; i++) {
		out[i] = bytes_make(texts[i],
				    job_packet(job, from + i, texts[i]));
	}
	return texts;
}
