#include "reads.h"

#include <stdlib.h>

#include <utlist.h>

#include "base/err.h"
#include "settle_metrics.h"

struct slot {
	struct reads *reads;
	struct ledger_reader *reader;
	struct read_job *job; /* under way, or NULL */
	uv_work_t work;
};

struct reads {
	uv_loop_t *loop;
	struct slot *slots;
	size_t slot_count;
	size_t busy;
	struct read_job *queue;
	size_t waiting;
	size_t queue_max;
	void (*freed)(void *ctx); /* set: no new jobs */
	void *freed_ctx;
	bool freeing;
};

int reads_new(uv_loop_t *loop, struct ledger *l, size_t connections,
	      size_t queue_max, struct reads **out)
{
	struct reads *r = xcalloc(1, sizeof *r);
	int rv = 0;

	r->loop = loop;
	r->queue_max = queue_max;
	r->slots = xcalloc(connections, sizeof *r->slots);
	while (rv == 0 && r->slot_count < connections) {
		struct slot *s = &r->slots[r->slot_count];

		s->reads = r;
		rv = ledger_reader_open(l, &s->reader);
		r->slot_count += rv == 0 ? 1 : 0;
	}
	if (rv != 0) {
		for (size_t i = 0; i < r->slot_count; i++) {
			ledger_reader_close(r->slots[i].reader);
		}
		free(r->slots);
		free(r);
		return rv;
	}
	*out = r;
	return 0;
}

static void work_cb(uv_work_t *work)
{
	struct slot *s = work->data;

	s->job->rv = s->job->work(s->job, s->reader);
}

static void close_all(struct reads *r)
{
	void (*freed)(void *ctx) = r->freed;
	void *ctx = r->freed_ctx;

	for (size_t i = 0; i < r->slot_count; i++) {
		ledger_reader_close(r->slots[i].reader);
	}
	free(r->slots);
	free(r);
	if (freed != NULL) {
		freed(ctx);
	}
}

static void pump(struct reads *r);

static void work_done_cb(uv_work_t *work, int status)
{
	struct slot *s = work->data;
	struct reads *r = s->reads;
	struct read_job *job = s->job;

	check(status == 0); /* nothing cancels it */
	s->job = NULL;
	/* Still busy: done() may call reads_free(), which must not free us. */
	job->done(job, job->rv);
	r->busy--;
	pump(r);
}

static struct slot *free_slot(struct reads *r)
{
	for (size_t i = 0; i < r->slot_count; i++) {
		if (r->slots[i].job == NULL) {
			return &r->slots[i];
		}
	}
	return NULL;
}

static void begin(struct reads *r, struct slot *s, struct read_job *job)
{
	int rv;

	s->job = job;
	s->work.data = s;
	r->busy++;
	rv = uv_queue_work(r->loop, &s->work, work_cb, work_done_cb);
	check(rv == 0); /* it only queues */
}

static void pump(struct reads *r)
{
	struct slot *s;

	while (r->queue != NULL && (s = free_slot(r)) != NULL) {
		struct read_job *job = r->queue;

		DL_DELETE(r->queue, job);
		r->waiting--;
		if (job->deadline != 0 && uv_now(r->loop) > job->deadline) {
			r->busy++; /* as above */
			job->done(job, ERR_TIMEOUT);
			r->busy--;
		} else {
			begin(r, s, job);
		}
	}
	if (r->freeing && r->busy == 0 && r->queue == NULL) {
		close_all(r);
	}
}

bool reads_submit(struct reads *r, struct read_job *job)
{
	struct slot *s = free_slot(r);

	if (r->freeing || (s == NULL && r->waiting == r->queue_max)) {
		metric_add(&settle_reads_refused, 1);
		return false;
	}
	if (s != NULL) {
		begin(r, s, job);
		return true;
	}
	DL_APPEND(r->queue, job);
	r->waiting++;
	return true;
}

void reads_free(struct reads *r, void (*done)(void *ctx), void *ctx)
{
	check(!r->freeing);
	r->freeing = true;
	r->freed = done;
	r->freed_ctx = ctx;
	pump(r);
}
