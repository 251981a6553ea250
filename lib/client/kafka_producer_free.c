/*
 * The end of a producer and of its instances:
 *
 *   free -> flush, in a thread, while the loop serves the reports
 *        -> shut: the instance goes to a thread that destroys it
 *        -> what is left is reported as failed
 *        -> all handles closed, all jobs done -> free_done
 */
#include "client/kafka_producer.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/log.h"

enum {
	FLUSH_GRACE_MS = 1000, /* rd_kafka_flush() keeps its own deadline */
};

struct end_job {
	struct kafka_producer *p; /* for the loop only */
	rd_kafka_t *rk;
	int timeout_ms; /* of the flush */
};

static void drop_job(void *data)
{
	free(data);
}

static void destroy_work(void *data)
{
	struct end_job *job = data;

	/* Without the purge it would wait for requests under way. */
	(void)rd_kafka_purge(job->rk, RD_KAFKA_PURGE_F_QUEUE |
					      RD_KAFKA_PURGE_F_INFLIGHT |
					      RD_KAFKA_PURGE_F_NON_BLOCKING);
	rd_kafka_destroy(job->rk);
}

static void destroy_done(void *data, bool abandoned)
{
	struct end_job *job = data;

	if (abandoned) {
		log_warn("a Kafka producer does not end, left alone");
	}
	kafka_producer_ended(job->p);
}

static const struct kafka_job_ops destroy_ops = {
	.work = destroy_work,
	.done = destroy_done,
	.drop = drop_job,
};

/* Nothing of ours may refer to the instance when it is destroyed. */
static rd_kafka_t *detach(struct kafka_producer *p)
{
	rd_kafka_t *rk = p->rk;

	for (size_t i = 0; i < p->primed_count; i++) {
		if (p->primed[i] != NULL) {
			rd_kafka_topic_destroy(p->primed[i]);
			p->primed[i] = NULL;
		}
	}
	kafka_wake_unwatch(p->queue);
	rd_kafka_queue_destroy(p->queue);
	p->queue = NULL;
	p->rk = NULL;
	p->up = false;
	return rk;
}

void kafka_producer_shut(struct kafka_producer *p)
{
	struct end_job *job = xcalloc(1, sizeof(*job));

	job->p = p;
	job->rk = detach(p);
	p->open++;
	(void)kafka_job_start(p->loop, KAFKA_DESTROY_MAX_MS, &destroy_ops, job);
}

void kafka_producer_ended(struct kafka_producer *p)
{
	void (*done)(void *ctx) = p->free_done;
	void *ctx = p->free_ctx;

	check(p->open > 0);
	if (--p->open > 0 || !p->freeing) {
		return;
	}
	check(p->sent == NULL && p->calls == NULL);
	for (size_t i = 0; i < p->primed_count; i++) {
		free(p->primed_names[i]);
	}
	rd_kafka_conf_destroy(p->conf);
	free(p);
	if (done != NULL) {
		done(ctx);
	}
}

static void wake_closed(void *ctx)
{
	kafka_producer_ended(ctx);
}

static void retry_closed_cb(uv_handle_t *handle)
{
	kafka_producer_ended(handle->data);
}

static void close_all(struct kafka_producer *p)
{
	if (p->rk != NULL) {
		kafka_producer_shut(p);
	}
	kafka_producer_fail(p, RD_KAFKA_RESP_ERR__DESTROY);
	p->open += 2;
	kafka_wake_close(&p->wake, wake_closed);
	uv_close((uv_handle_t *)&p->retry, retry_closed_cb);
}

/* It returns early when the loop has served the last report. */
static void flush_work(void *data)
{
	struct end_job *job = data;

	(void)rd_kafka_flush(job->rk, job->timeout_ms);
}

static void flush_done(void *data, bool abandoned)
{
	struct end_job *job = data;
	struct kafka_producer *p = job->p;

	if (abandoned) {
		/* A thread is inside of it: it cannot be destroyed. */
		log_warn("a Kafka flush does not end, left alone");
		(void)detach(p);
	}
	if (p->outstanding > 0) {
		log_warn("messages not delivered at the end",
			 log_int("count", (int64_t)p->outstanding));
	}
	close_all(p);
	kafka_producer_ended(p);
}

static const struct kafka_job_ops flush_ops = {
	.work = flush_work,
	.done = flush_done,
	.drop = drop_job,
};

void kafka_producer_free(struct kafka_producer *p, uint64_t timeout_ms,
			 void (*done)(void *ctx), void *ctx)
{
	struct end_job *job;

	check(!p->freeing);
	p->freeing = true;
	p->free_done = done;
	p->free_ctx = ctx;
	(void)uv_timer_stop(&p->retry);
	kafka_admin_cancel(p);
	if (p->rk == NULL) {
		close_all(p);
		return;
	}
	/* Even with nothing to flush: this may be called by a callback, with
	 * an event of the instance still in hand. */
	job = xcalloc(1, sizeof(*job));
	job->p = p;
	job->rk = p->rk;
	job->timeout_ms =
		(int)(timeout_ms < INT32_MAX ? timeout_ms : INT32_MAX);
	p->open++;
	(void)kafka_job_start(p->loop, timeout_ms + FLUSH_GRACE_MS, &flush_ops,
			      job);
}
