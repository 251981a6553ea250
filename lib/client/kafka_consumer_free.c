/*
 * The end of a consumer: leave the group, so that others need not wait for the
 * session to time out, then destroy the client; both in a thread.
 */
#include "client/kafka_consumer.h"

#include <stdlib.h>

#include "base/log.h"
#include "client/kafka_job.h"

struct end_job {
	struct kafka_consumer *c; /* for the loop only */
	rd_kafka_t *rk;
	bool leave; /* say goodbye to the group */
};

static void end_work(void *data)
{
	struct end_job *job = data;

	if (job->leave) {
		(void)rd_kafka_consumer_close(job->rk);
		rd_kafka_destroy(job->rk);
		return;
	}
	rd_kafka_destroy_flags(job->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
}

static void end_done(void *data, bool abandoned)
{
	struct end_job *job = data;
	struct kafka_consumer *c = job->c;
	void (*done)(void *ctx) = c->free_done;
	void *ctx = c->free_ctx;

	if (abandoned) {
		log_warn("a Kafka consumer does not end, left alone");
	}
	free(c);
	if (done != NULL) {
		done(ctx);
	}
}

static void end_drop(void *data)
{
	free(data);
}

static const struct kafka_job_ops end_ops = {
	.work = end_work,
	.done = end_done,
	.drop = end_drop,
};

/* The client waits for an answer to a rebalance, and the owner will not give
 * it any more. */
static void answer(struct kafka_consumer *c)
{
	if (c->deferred != NULL &&
	    rd_kafka_event_type(c->deferred) == RD_KAFKA_EVENT_REBALANCE) {
		c->await = KAFKA_AWAIT_UNASSIGN;
	}
	rd_kafka_event_destroy(c->deferred);
	if (c->await != KAFKA_AWAIT_NOTHING) {
		(void)rd_kafka_assign(c->rk, NULL);
	}
	if (c->assigned != NULL) {
		rd_kafka_topic_partition_list_destroy(c->assigned);
	}
}

/* On a later turn than the call, which may have come from a callback with an
 * event of the client still in hand. */
static void closed(void *ctx)
{
	struct kafka_consumer *c = ctx;
	struct end_job *job;

	if (--c->open > 0) {
		return;
	}
	kafka_consumer_forget(c);
	answer(c);
	rd_kafka_queue_destroy(c->queue);
	job = xcalloc(1, sizeof(*job));
	job->c = c;
	job->rk = c->rk;
	/* Nobody to say goodbye to; and to try can crash librdkafka when the
	 * coordinator is away. */
	job->leave = !c->all_down;
	(void)kafka_job_start(c->loop, c->free_timeout_ms, &end_ops, job);
}

static void tick_closed_cb(uv_handle_t *handle)
{
	closed(handle->data);
}

void kafka_consumer_free(struct kafka_consumer *c, uint64_t timeout_ms,
			 void (*done)(void *ctx), void *ctx)
{
	check(!c->freeing);
	check(c->batches == 0); /* the client would wait for them for ever */
	c->freeing = true;
	c->free_timeout_ms = timeout_ms;
	c->free_done = done;
	c->free_ctx = ctx;
	kafka_wake_unwatch(c->queue);
	c->open = 2;
	kafka_wake_close(&c->wake, closed);
	uv_close((uv_handle_t *)&c->tick, tick_closed_cb);
}

char *kafka_consumer_cluster_id(struct kafka_consumer *c, int timeout_ms)
{
	char *id = rd_kafka_clusterid(c->rk, timeout_ms);
	char *copy;

	if (id == NULL) {
		return NULL;
	}
	copy = xstrndup(id, strlen(id));
	rd_kafka_mem_free(c->rk, id);
	return copy;
}
