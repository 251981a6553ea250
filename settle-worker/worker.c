#include "worker.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "settle_metrics.h"
#include "worker_internal.h"

enum {
	CLUSTER_TIMEOUT_MS = 5000,
	COMMIT_EVERY_MS = 1000,
	LEAVE_TIMEOUT_MS = 5000,
	FLUSH_TIMEOUT_MS = 2000,
	TICK_MS = 500,
};

static const char fallback_bootstrap[] = "127.0.0.1:9092";

static void timer_cb(uv_timer_t *timer);

/* ---- The thread of the ledger: one job at a time ---- */

static int place(struct worker *w)
{
	if (w->cluster_id[0] == '\0') {
		char *id = kafka_consumer_cluster_id(w->consumer,
						     CLUSTER_TIMEOUT_MS);

		if (id == NULL) {
			return ERR_NOT_READY;
		}
		(void)snprintf(w->cluster_id, sizeof w->cluster_id, "%s", id);
		free(id);
	}
	return ledger_positions(w->ledger, bytes_str(w->cluster_id),
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
	rv = uv_timer_start(&w->timer, timer_cb, w->backoff_ms, 0);
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

/* ---- The consumer ---- */

static void assigned_cb(void *ctx, rd_kafka_topic_partition_list_t *list)
{
	struct worker *w = ctx;

	check(w->placing == NULL && !w->assigned);
	free(w->positions);
	free(w->batch.moves);
	w->position_count = (size_t)list->cnt;
	w->positions = xcalloc(w->position_count + 1, sizeof *w->positions);
	w->batch.moves = xcalloc(w->position_count + 1, sizeof *w->batch.moves);
	for (int i = 0; i < list->cnt; i++) {
		(void)snprintf(w->positions[i].topic,
			       sizeof w->positions[i].topic, "%s",
			       list->elems[i].topic);
		w->positions[i].partition = list->elems[i].partition;
	}
	w->placing = list;
	worker_pump(w);
}

static void revoked_cb(void *ctx, bool lost)
{
	struct worker *w = ctx;

	log_info("partitions are taken away", log_int("lost", lost));
	w->revoking = true;
	worker_pump(w);
}

static void readable_cb(void *ctx)
{
	struct worker *w = ctx;

	w->readable = true;
	worker_pump(w);
}

static void failed_cb(void *ctx, rd_kafka_resp_err_t error, const char *why,
		      bool fatal)
{
	struct worker *w = ctx;

	(void)error;
	log_warn("kafka consumer", log_str("why", why),
		 log_int("fatal", fatal));
	if (fatal) {
		w->restart = true;
		worker_pump(w);
	}
}

static const struct kafka_consumer_ops consumer_ops = {
	.assigned = assigned_cb,
	.revoked = revoked_cb,
	.readable = readable_cb,
	.failed = failed_cb,
};

static int make_consumer(struct worker *w)
{
	const char *topics[] = { w->options->topic_activities,
				 w->options->topic_claims };

	return kafka_consumer_new(w->loop, fallback_bootstrap, w->group, topics,
				  2, w->pairs, w->pair_count, &consumer_ops, w,
				  &w->consumer);
}

/* Kafka's copy, for those who watch its lag. */
static void commit(struct worker *w)
{
	rd_kafka_topic_partition_list_t *list;
	uint64_t now = uv_now(w->loop);

	if (!w->commit_due || (now - w->committed_at < COMMIT_EVERY_MS &&
			       !w->stopping && !w->revoking)) {
		return;
	}
	w->commit_due = false;
	w->committed_at = now;
	list = rd_kafka_topic_partition_list_new((int)w->position_count);
	for (size_t i = 0; i < w->position_count; i++) {
		const struct ledger_position *p = &w->positions[i];

		if (p->next_offset > 0) {
			rd_kafka_topic_partition_list_add(list, p->topic,
							  p->partition)
				->offset = p->next_offset;
		}
	}
	if (list->cnt > 0) {
		kafka_consumer_commit(w->consumer, list);
	}
	rd_kafka_topic_partition_list_destroy(list);
}

/* Nothing of the consumer is in our hands any more. */
static void let_go(struct worker *w)
{
	if (w->assigned) {
		commit(w);
	}
	worker_batch_release(w);
	if (w->placing != NULL) {
		rd_kafka_topic_partition_list_destroy(w->placing);
		w->placing = NULL;
	}
	w->assigned = false;
	w->readable = false;
	w->revoking = false;
	w->position_count = 0;
}

static void drop_consumer(struct worker *w, void (*gone)(void *ctx))
{
	struct kafka_consumer *c = w->consumer;

	let_go(w);
	w->restart = false;
	w->leaving = true;
	w->consumer = NULL;
	kafka_consumer_free(c, LEAVE_TIMEOUT_MS, gone, w);
}

/* ---- Stop ---- */

static void closed_cb(uv_handle_t *handle)
{
	struct worker *w = handle->data;
	void (*stopped)(void *ctx) = w->stopped;
	void *ctx = w->stopped_ctx;

	if (--w->handles > 0) {
		return;
	}
	worker_batch_close(w);
	free(w->positions);
	free(w);
	stopped(ctx);
}

static void producer_gone(void *ctx)
{
	struct worker *w = ctx;

	uv_close((uv_handle_t *)&w->timer, closed_cb);
	uv_close((uv_handle_t *)&w->tick, closed_cb);
}

static void left(void *ctx)
{
	struct worker *w = ctx;

	w->leaving = true; /* there will be no other */
	kafka_producer_free(w->producer, FLUSH_TIMEOUT_MS, producer_gone, w);
}

static void consumer_gone(void *ctx)
{
	struct worker *w = ctx;

	w->leaving = false;
	worker_pump(w);
}

void worker_stop(struct worker *w, void (*done)(void *ctx), void *ctx)
{
	check(!w->stopping);
	w->stopping = true;
	w->stopped = done;
	w->stopped_ctx = ctx;
	worker_pump(w);
}

/* ---- What comes next ---- */

static void read_on(struct worker *w)
{
	if (w->dlq.sent_count > 0 && w->dlq.in_flight == 0) {
		worker_begin(w, WORKER_DLQ_MARK);
	} else if (worker_dlq_due(w)) {
		worker_begin(w, WORKER_DLQ_READ);
	} else if (w->assigned && w->readable) {
		if (worker_batch_take(w)) {
			worker_begin(w, WORKER_APPLY);
			return;
		}
		w->readable = false;
		metric_set(&settle_lag_ms, 0);
	}
}

void worker_pump(struct worker *w)
{
	if (w->job != WORKER_IDLE || w->leaving) {
		return;
	}
	if (w->consumer == NULL) {
		if (w->stopping) {
			left(w);
		} else if (make_consumer(w) != 0) {
			w->consumer = NULL; /* the tick tries again */
		}
		return;
	}
	if (w->stopping) {
		drop_consumer(w, left);
		return;
	}
	if (w->revoking) {
		let_go(w);
		kafka_consumer_unassign(w->consumer);
	}
	if (w->restart) {
		drop_consumer(w, consumer_gone);
		return;
	}
	if (w->waiting) {
		return;
	}
	if (w->placing != NULL) {
		worker_begin(w, WORKER_PLACE);
	} else if (w->batch.handle != NULL) {
		worker_begin(w, WORKER_APPLY);
	} else {
		if (w->assigned) {
			commit(w);
		}
		read_on(w);
	}
}

static void timer_cb(uv_timer_t *timer)
{
	struct worker *w = timer->data;

	w->waiting = false;
	worker_pump(w);
}

static void tick_cb(uv_timer_t *timer)
{
	worker_pump(timer->data);
}

static void renewed_cb(void *ctx)
{
	(void)ctx; /* each dead letter had its delivered callback */
}

static void start_timers(struct worker *w)
{
	int rv = uv_timer_init(w->loop, &w->timer);

	check(rv == 0); /* it only fills in the handle */
	rv = uv_timer_init(w->loop, &w->tick);
	check(rv == 0);
	w->timer.data = w;
	w->tick.data = w;
	w->handles = 2;
	rv = uv_timer_start(&w->tick, tick_cb, TICK_MS, TICK_MS);
	check(rv == 0); /* it is not closing */
}

int worker_start(uv_loop_t *loop, struct ledger *l,
		 const struct settle_options *options,
		 const struct config_pair *pairs, size_t pair_count,
		 struct worker **out)
{
	struct worker *w = xcalloc(1, sizeof *w);
	int rv;

	w->loop = loop;
	w->ledger = l;
	w->options = options;
	w->pairs = pairs;
	w->pair_count = pair_count;
	w->dlq.wanted = true; /* some may be left from before */
	(void)snprintf(w->group, sizeof w->group, "redrain-settle-%s",
		       ledger_id(l));
	rv = kafka_producer_new(loop, fallback_bootstrap, pairs, pair_count,
				worker_dlq_delivered, renewed_cb, w,
				&w->producer);
	if (rv != 0) {
		free(w);
		return rv;
	}
	worker_batch_init(w);
	start_timers(w);
	rv = make_consumer(w);
	if (rv != 0) {
		/* The process ends; what has begun is not undone. */
		return rv;
	}
	*out = w;
	return 0;
}

bool worker_ready(const struct worker *w, struct buf *why)
{
	if (w->failing) {
		buf_printf(why, "consumption is paused: %s\n", w->why);
		return false;
	}
	if (!w->assigned) {
		buf_printf(why, "Kafka has assigned no partitions yet\n");
		return false;
	}
	return true;
}

bool worker_caught_up(const struct worker *w)
{
	return w->assigned && !w->readable && !w->failing &&
	       w->job == WORKER_IDLE;
}

const char *worker_cluster_id(const struct worker *w)
{
	return w->cluster_id;
}
