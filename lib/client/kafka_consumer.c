#include "client/kafka_consumer.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "client/kafka_conf.h"
#include "client/kafka_metrics.h"

enum {
	TURN_EVENTS_MAX = 256, /* events served in a turn of the loop */
	TICK_MS = 1000,
};

/*
 * Offsets are the owner's affair: nothing is committed by itself, and where
 * the owner knows none it starts at the earliest. The assignor is eager: whole
 * assignments come and go. A worker that is killed keeps its partitions for
 * the session of 6 s, the least that a broker grants by default. Ahead of the
 * owner librdkafka holds 50,000 messages or 32 MiB, whichever comes first; few
 * would do, but 2.0.2 sleeps up to a second whenever the bound is reached.
 */
const struct kafka_setting kafka_consumer_defaults[] = {
	{ "client.id", "redrain", false }, /* long ones crash before 2.5 */
	{ "enable.auto.commit", "false", false },
	{ "enable.auto.offset.store", "false", false },
	{ "auto.offset.reset", "earliest", false },
	{ "isolation.level", "read_committed", false },
	{ "partition.assignment.strategy", "range", false },
	{ "session.timeout.ms", "6000", false },
	{ "heartbeat.interval.ms", "2000", false },
	{ "max.poll.interval.ms", "300000", false },
	{ "queued.min.messages", "50000", false },
	{ "queued.max.messages.kbytes", "32768", false },
	{ "fetch.queue.backoff.ms", "100", true },
	/* Not an answer of the broker for each few messages. */
	{ "fetch.min.bytes", "65536", false },
	{ "fetch.wait.max.ms", "50", false },
	{ "socket.nagle.disable", "true", false },
	{ "socket.keepalive.enable", "true", false },
	{ "reconnect.backoff.ms", "100", false },
	{ "reconnect.backoff.max.ms", "1000", false },
	/* Topics that do not exist yet are found within this time. */
	{ "topic.metadata.refresh.interval.ms", "2000", false },
	{ "log.connection.close", "false", false },
	{ 0 },
};

static const char *const bounds[] = { "queued.min.messages",
				      "queued.max.messages.kbytes", NULL };

static void serve_rebalance(struct kafka_consumer *c, rd_kafka_event_t *event)
{
	rd_kafka_resp_err_t kind = rd_kafka_event_error(event);
	rd_kafka_topic_partition_list_t *list;
	bool lost;

	c->all_down = false;
	if (kind == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
		metric_add(&kafka_rebalances_in, 1);
		list = rd_kafka_topic_partition_list_copy(
			rd_kafka_event_topic_partition_list(event));
		for (int i = 0; i < list->cnt; i++) {
			list->elems[i].offset = RD_KAFKA_OFFSET_BEGINNING;
		}
		c->await = KAFKA_AWAIT_ASSIGN;
		c->ops.assigned(c->ctx, list);
		return;
	}
	/* Anything else is an error, after which nothing is ours for sure. */
	if (kind != RD_KAFKA_RESP_ERR__REVOKE_PARTITIONS) {
		log_error("rebalance failed",
			  log_str("why", rd_kafka_err2str(kind)));
		lost = true;
	} else {
		lost = rd_kafka_assignment_lost(c->rk) != 0;
	}
	metric_add(lost ? &kafka_rebalances_lost : &kafka_rebalances_out, 1);
	c->await = KAFKA_AWAIT_UNASSIGN;
	c->ops.revoked(c->ctx, lost);
}

static void serve_failure(struct kafka_consumer *c, rd_kafka_event_t *event)
{
	rd_kafka_resp_err_t error = rd_kafka_event_error(event);
	bool fatal = error == RD_KAFKA_RESP_ERR__FATAL ||
		     rd_kafka_event_error_is_fatal(event) != 0;

	switch (error) {
	case RD_KAFKA_RESP_ERR__PARTITION_EOF:
		return; /* only if the operator asked for it */
	case RD_KAFKA_RESP_ERR__TRANSPORT:
	case RD_KAFKA_RESP_ERR__RESOLVE:
		log_warn("kafka consumer",
			 log_str("why", rd_kafka_event_error_string(event)));
		return; /* one broker; it reconnects by itself */
	case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
		c->all_down = true;
		break;
	default:
		break;
	}
	c->ops.failed(c->ctx, error, rd_kafka_event_error_string(event), fatal);
}

static void serve_event(struct kafka_consumer *c, rd_kafka_event_t *event)
{
	switch (rd_kafka_event_type(event)) {
	case RD_KAFKA_EVENT_FETCH:
		if (kafka_consumer_keep(c, event)) {
			c->all_down = false;
			return; /* waiting owns it now */
		}
		serve_failure(c, event);
		break;
	case RD_KAFKA_EVENT_REBALANCE:
		serve_rebalance(c, event);
		break;
	case RD_KAFKA_EVENT_ERROR:
		serve_failure(c, event);
		break;
	default:
		break; /* the result of a commit, which is a copy only */
	}
	rd_kafka_event_destroy(event);
}

/* While messages wait the queue is left alone; but a pause may last, and
 * librdkafka throws us out of the group if we stay silent. */
static bool may_read(const struct kafka_consumer *c)
{
	return !c->freeing && (c->waiting.count == 0 || c->paused);
}

static void serve(void *ctx)
{
	struct kafka_consumer *c = ctx;
	size_t served = 0;

	while (may_read(c)) {
		rd_kafka_event_t *event;

		if (served++ == TURN_EVENTS_MAX) {
			kafka_wake_arm(&c->wake);
			break;
		}
		event = kafka_consumer_next(c);
		if (event == NULL) {
			break;
		}
		serve_event(c, event);
	}
	if (c->waiting.count > 0 && !c->told && !c->paused && !c->freeing) {
		c->told = true;
		c->ops.readable(c->ctx);
	}
}

/* Nothing arrives on an idle topic, and only reading shows that we live. */
static void tick_cb(uv_timer_t *timer)
{
	serve(timer->data);
}

static int subscribe(struct kafka_consumer *c, const char *const *topics,
		     size_t topic_count)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new((int)topic_count);
	rd_kafka_resp_err_t rv;

	for (size_t i = 0; i < topic_count; i++) {
		(void)rd_kafka_topic_partition_list_add(list, topics[i],
							RD_KAFKA_PARTITION_UA);
	}
	rv = rd_kafka_subscribe(c->rk, list);
	rd_kafka_topic_partition_list_destroy(list);
	if (rv != 0) {
		log_error("cannot subscribe",
			  log_str("why", rd_kafka_err2str(rv)));
		return ERR_CONFIG;
	}
	return 0;
}

static rd_kafka_t *open_client(const char *bootstrap, const char *group,
			       const struct config_pair *pairs,
			       size_t pair_count)
{
	rd_kafka_conf_t *conf;
	rd_kafka_conf_res_t set;
	rd_kafka_t *rk;

	if (kafka_conf_make(kafka_consumer_defaults, bootstrap, pairs,
			    pair_count, &conf) != 0) {
		return NULL;
	}
	set = rd_kafka_conf_set(conf, "group.id", group, NULL, 0);
	check(set == RD_KAFKA_CONF_OK); /* any text is a name */
	rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_FETCH |
					       RD_KAFKA_EVENT_REBALANCE |
					       RD_KAFKA_EVENT_ERROR |
					       RD_KAFKA_EVENT_OFFSET_COMMIT);
	rk = kafka_client_new(RD_KAFKA_CONSUMER, conf);
	kafka_conf_show(conf, "kafka consumer bound", bounds);
	rd_kafka_conf_destroy(conf);
	return rk;
}

int kafka_consumer_new(uv_loop_t *loop, const char *bootstrap,
		       const char *group, const char *const *topics,
		       size_t topic_count, const struct config_pair *pairs,
		       size_t pair_count, const struct kafka_consumer_ops *ops,
		       void *ctx, struct kafka_consumer **out)
{
	struct kafka_consumer *c = xcalloc(1, sizeof(*c));
	int rv = ERR_CONFIG;

	kafka_metrics_init();
	c->loop = loop;
	c->ops = *ops;
	c->ctx = ctx;
	c->rk = open_client(bootstrap, group, pairs, pair_count);
	if (c->rk == NULL) {
		goto err_after_alloc;
	}
	/* Errors of the client come by the consumer's queue too. */
	(void)rd_kafka_poll_set_consumer(c->rk);
	rv = subscribe(c, topics, topic_count);
	if (rv != 0) {
		goto err_after_client;
	}
	rv = kafka_wake_init(&c->wake, loop, serve, c);
	if (rv != 0) {
		log_error("no eventfd for Kafka", log_err(rv));
		goto err_after_client;
	}
	c->queue = rd_kafka_queue_get_consumer(c->rk);
	kafka_wake_watch(&c->wake, c->queue);
	rv = uv_timer_init(loop, &c->tick);
	check(rv == 0); /* it only fills in the handle */
	c->tick.data = c;
	rv = uv_timer_start(&c->tick, tick_cb, TICK_MS, TICK_MS);
	check(rv == 0); /* it is not closing */
	*out = c;
	return 0;

err_after_client:
	rd_kafka_destroy(c->rk);
err_after_alloc:
	free(c);
	return rv;
}
