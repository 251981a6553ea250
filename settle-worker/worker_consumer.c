/* The consumer: what it tells us, its beginning and its end. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "worker_internal.h"

enum {
	COMMIT_EVERY_MS = 1000,
	LEAVE_TIMEOUT_MS = 5000,
};

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

int worker_consumer_make(struct worker *w)
{
	const char *topics[] = { w->options->topic_activities,
				 w->options->topic_claims };

	return kafka_consumer_new(w->loop, WORKER_BOOTSTRAP, w->group, topics,
				  2, w->pairs, w->pair_count, &consumer_ops, w,
				  &w->consumer);
}

/* Kafka's copy, for those who watch its lag. */
void worker_commit(struct worker *w)
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
void worker_let_go(struct worker *w)
{
	if (w->assigned) {
		worker_commit(w);
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

void worker_consumer_drop(struct worker *w, void (*gone)(void *ctx))
{
	struct kafka_consumer *c = w->consumer;

	worker_let_go(w);
	w->restart = false;
	w->leaving = true;
	w->consumer = NULL;
	kafka_consumer_free(c, LEAVE_TIMEOUT_MS, gone, w);
}
