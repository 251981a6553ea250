/* The thread of the ledger: one job at a time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "settle_metrics.h"
#include "worker_internal.h"

enum { CLUSTER_TIMEOUT_MS = 5000 };

static int place(struct worker *w)
{
	if (w->cluster_heard[0] == '\0') {
		char *id = kafka_consumer_cluster_id(w->consumer,
						     CLUSTER_TIMEOUT_MS);

		if (id == NULL) {
			return ERR_NOT_READY;
		}
		(void)snprintf(w->cluster_heard, sizeof w->cluster_heard, "%s",
			       id);
		free(id);
	}
	return ledger_positions(w->ledger, bytes_str(w->cluster_heard),
				w->positions, w->position_count);
}

static void work_cb(uv_work_t *work)
{
	struct worker *w = work->data;

	switch (w->job) {
	case WORKER_PLACE:
		w->job_rv = place(w);
		break;
	case WORKER_APPLY:
		w->job_rv = worker_batch_apply(w);
		break;
	case WORKER_DLQ_READ:
		w->job_rv = worker_dlq_read(w);
		break;
	case WORKER_DLQ_MARK:
		w->job_rv = worker_dlq_mark(w);
		break;
	case WORKER_IDLE:
		break;
	}
}

static void placed(struct worker *w)
{
	rd_kafka_topic_partition_list_t *list = w->placing;

	/* Here, where whoever asks for it reads it too. */
	memcpy(w->cluster_id, w->cluster_heard, sizeof w->cluster_id);
	w->placing = NULL;
	for (int i = 0; i < list->cnt; i++) {
		int64_t next = w->positions[i].next_offset;

		/* The first message that Kafka still has, if none was seen. */
		list->elems[i].offset =
			next > 0 ? next : RD_KAFKA_OFFSET_BEGINNING;
	}
	if (!w->revoking) {
		kafka_consumer_assign(w->consumer, list);
		w->assigned = true;
		log_info("assigned", log_int("partitions", list->cnt),
			 log_str("cluster", w->cluster_id));
	}
	rd_kafka_topic_partition_list_destroy(list);
}

static void waited_cb(uv_timer_t *timer)
{
	struct worker *w = timer->data;

	w->waiting = false;
	worker_pump(w);
}

/* The database, or Kafka's word about its cluster, is away: wait, then try the
 * same again. */
static void job_failed(struct worker *w)
{
	int rv;

	metric_add(&settle_failures, 1);
	(void)snprintf(w->why, sizeof w->why, "%s",
		       w->job_rv == ERR_STORE
			       ? ledger_why(w->ledger)
			       : "Kafka's cluster id is not known");
	if (!w->failing) {
		w->failing = true;
		log_error("consumption is paused", log_str("why", w->why));
		kafka_consumer_pause(w->consumer);
	}
	w->backoff_ms = w->backoff_ms == 0
				? (uint64_t)w->options->backoff_min_ms
				: w->backoff_ms * 2;
	if (w->backoff_ms > (uint64_t)w->options->backoff_max_ms) {
		w->backoff_ms = (uint64_t)w->options->backoff_max_ms;
	}
	w->waiting = true;
	rv = uv_timer_start(&w->timer, waited_cb, w->backoff_ms, 0);
	check(rv == 0); /* it is not closing */
}

static void job_done(struct worker *w, enum worker_job job)
{
	w->backoff_ms = 0;
	if (w->failing) {
		w->failing = false;
		log_info("consumption goes on");
		kafka_consumer_resume(w->consumer);
		w->readable = true;
	}
	if (job == WORKER_PLACE) {
		placed(w);
	} else if (job == WORKER_APPLY) {
		worker_batch_applied(w);
	} else if (job == WORKER_DLQ_READ) {
		worker_dlq_send(w);
	}
}

static void work_done_cb(uv_work_t *work, int status)
{
	struct worker *w = work->data;
	enum worker_job job = w->job;

	check(status == 0); /* nothing cancels it */
	w->job = WORKER_IDLE;
	if (w->job_rv != 0) {
		job_failed(w);
	} else {
		job_done(w, job);
	}
	worker_pump(w);
}

void worker_begin(struct worker *w, enum worker_job job)
{
	int rv;

	check(w->job == WORKER_IDLE);
	w->job = job;
	w->work.data = w;
	rv = uv_queue_work(w->loop, &w->work, work_cb, work_done_cb);
	check(rv == 0); /* it only queues */
}
