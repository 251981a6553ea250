/*
 * What the owner says about its partitions. rd_kafka_assign() and its like
 * wait for librdkafka's main thread to take note, never for the network.
 */
#include "client/kafka_consumer.h"

#include "base/log.h"

static void log_failure(const char *what, rd_kafka_resp_err_t error)
{
	if (error != 0) {
		log_warn(what, log_str("why", rd_kafka_err2str(error)));
	}
}

static void keep_assigned(struct kafka_consumer *c,
			  const rd_kafka_topic_partition_list_t *list)
{
	if (c->assigned != NULL) {
		rd_kafka_topic_partition_list_destroy(c->assigned);
	}
	c->assigned =
		list == NULL ? NULL : rd_kafka_topic_partition_list_copy(list);
}

void kafka_consumer_assign(struct kafka_consumer *c,
			   rd_kafka_topic_partition_list_t *list)
{
	/* The partitions may have been taken away before the owner knew where
	 * to begin; then this answer is of no use. */
	if (c->await != KAFKA_AWAIT_ASSIGN || c->freeing) {
		return;
	}
	c->await = KAFKA_AWAIT_NOTHING;
	log_failure("cannot assign", rd_kafka_assign(c->rk, list));
	keep_assigned(c, list);
	if (c->paused) {
		log_failure("cannot pause",
			    rd_kafka_pause_partitions(c->rk, c->assigned));
	}
}

void kafka_consumer_unassign(struct kafka_consumer *c)
{
	if (c->await != KAFKA_AWAIT_UNASSIGN || c->freeing) {
		return;
	}
	c->await = KAFKA_AWAIT_NOTHING;
	/* What waits here is somebody else's to read now. */
	kafka_consumer_forget(c);
	c->told = false;
	log_failure("cannot unassign", rd_kafka_assign(c->rk, NULL));
	keep_assigned(c, NULL);
}

void kafka_consumer_pause(struct kafka_consumer *c)
{
	if (c->paused || c->freeing) {
		return;
	}
	c->paused = true;
	if (c->assigned != NULL) {
		log_failure("cannot pause",
			    rd_kafka_pause_partitions(c->rk, c->assigned));
	}
	kafka_wake_arm(&c->wake);
}

void kafka_consumer_resume(struct kafka_consumer *c)
{
	if (!c->paused || c->freeing) {
		return;
	}
	c->paused = false;
	c->told = false;
	if (c->assigned != NULL) {
		log_failure("cannot resume",
			    rd_kafka_resume_partitions(c->rk, c->assigned));
	}
	kafka_wake_arm(&c->wake);
}

void kafka_consumer_commit(struct kafka_consumer *c,
			   const rd_kafka_topic_partition_list_t *offsets)
{
	(void)rd_kafka_commit(c->rk, offsets, 1);
}
