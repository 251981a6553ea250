#include "client/kafka_producer.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/err.h"
#include "base/log.h"
#include "client/kafka_conf.h"
#include "client/kafka_metrics.h"

enum {
	TURN_MESSAGES_MAX = 2000, /* reports served in a turn of the loop */
	RETRY_MS = 1000,          /* between two attempts at an instance */
};

/*
 * Idempotent, so that a retry inside librdkafka neither doubles nor reorders.
 * A message waits in the queue for up to ten minutes, longer than a broker
 * needs to come back: one that times out while in flight leaves a gap in the
 * sequence, which is fatal for the instance. The queue holds 50,000 messages
 * or 64 MiB, whichever comes first; then kafka_produce() says ERR_BUSY.
 */
const struct kafka_setting kafka_producer_defaults[] = {
	{ "client.id", "redrain", false }, /* long ones crash before 2.5 */
	{ "enable.idempotence", "true", false },
	{ "acks", "all", false },
	{ "max.in.flight.requests.per.connection", "5", false },
	{ "compression.codec", "lz4", false },
	/* A request has one partition only: with 50 a broker takes 1.7 times
	 * the processor's time for a message. */
	{ "linger.ms", "100", false },
	{ "partitioner", "murmur2_random", false }, /* as Java's */
	{ "message.timeout.ms", "600000", false },
	{ "queue.buffering.max.messages", "50000", false },
	{ "queue.buffering.max.kbytes", "65536", false },
	{ "socket.nagle.disable", "true", false },
	{ "socket.keepalive.enable", "true", false },
	{ "retry.backoff.ms", "100", false },
	{ "reconnect.backoff.ms", "100", false },
	{ "reconnect.backoff.max.ms", "1000", false },
	{ "topic.metadata.refresh.interval.ms", "10000", false },
	{ "statistics.interval.ms", "1000", false }, /* for ready() */
	{ "log.connection.close", "false", false },
	{ 0 },
};

static const char *const bounds[] = { "queue.buffering.max.messages",
				      "queue.buffering.max.kbytes", NULL };

static void renew(struct kafka_producer *p);

static void report(struct kafka_producer *p, struct kafka_sent *sent,
		   rd_kafka_resp_err_t error)
{
	void *opaque = sent->opaque;

	DL_DELETE(p->sent, sent);
	p->outstanding--;
	free(sent);
	metric_add(&kafka_outstanding, -1);
	metric_add(error == 0 ? &kafka_delivered : &kafka_undelivered, 1);
	p->delivered(p->ctx, opaque, error);
}

void kafka_producer_fail(struct kafka_producer *p, rd_kafka_resp_err_t error)
{
	check(p->rk == NULL); /* so that no callback can add to the list */
	while (p->sent != NULL) {
		report(p, p->sent, error);
	}
	check(p->outstanding == 0);
}

static size_t serve_reports(struct kafka_producer *p, rd_kafka_event_t *event)
{
	const rd_kafka_message_t *m;
	size_t count = 0;

	while ((m = rd_kafka_event_message_next(event)) != NULL) {
		p->up = p->up || m->err == 0;
		report(p, m->_private, m->err);
		count++;
	}
	return count;
}

static void serve_error(struct kafka_producer *p, rd_kafka_event_t *event)
{
	rd_kafka_resp_err_t error = rd_kafka_event_error(event);

	if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
		p->up = false;
	}
	if (error == RD_KAFKA_RESP_ERR__FATAL ||
	    rd_kafka_event_error_is_fatal(event)) {
		p->fatal = true;
	}
	log_write(p->fatal ? LOG_ERROR : LOG_WARN, "kafka producer",
		  log_str("error", rd_kafka_err2name(error)),
		  log_str("why", rd_kafka_event_error_string(event)), LOG_LAST);
}

/* The statistics are the only place that tells of a connection made. */
static void serve_statistics(struct kafka_producer *p, rd_kafka_event_t *event)
{
	const char *json = rd_kafka_event_stats(event);

	p->up = json != NULL && strstr(json, "\"state\":\"UP\"") != NULL;
}

static size_t serve_event(struct kafka_producer *p, rd_kafka_event_t *event)
{
	switch (rd_kafka_event_type(event)) {
	case RD_KAFKA_EVENT_DR:
		return serve_reports(p, event);
	case RD_KAFKA_EVENT_ERROR:
		serve_error(p, event);
		return 1;
	case RD_KAFKA_EVENT_STATS:
		serve_statistics(p, event);
		return 1;
	default:
		return 1;
	}
}

static void serve(void *ctx)
{
	struct kafka_producer *p = ctx;
	size_t served = 0;

	while (p->queue != NULL && served < TURN_MESSAGES_MAX) {
		rd_kafka_event_t *event = rd_kafka_queue_poll(p->queue, 0);

		if (event == NULL) {
			return;
		}
		served += serve_event(p, event);
		rd_kafka_event_destroy(event);
		if (p->fatal && !p->freeing) {
			renew(p);
			return;
		}
	}
	if (p->queue != NULL) {
		kafka_wake_arm(&p->wake);
	}
}

int kafka_producer_open(struct kafka_producer *p)
{
	check(p->rk == NULL && p->queue == NULL);
	p->rk = kafka_client_new(RD_KAFKA_PRODUCER, p->conf);
	if (p->rk == NULL) {
		return ERR_CONFIG;
	}
	p->fatal = false;
	p->up = false;
	p->queue = rd_kafka_queue_get_main(p->rk);
	kafka_wake_watch(&p->wake, p->queue);
	for (size_t i = 0; i < p->primed_count; i++) {
		p->primed[i] =
			rd_kafka_topic_new(p->rk, p->primed_names[i], NULL);
	}
	return 0;
}

void kafka_producer_prime(struct kafka_producer *p, const char *topic)
{
	size_t i = p->primed_count;

	for (size_t k = 0; k < i; k++) {
		if (strcmp(p->primed_names[k], topic) == 0) {
			return;
		}
	}
	if (i == KAFKA_PRIMED_MAX || p->rk == NULL) {
		return;
	}
	p->primed_names[i] = xstrndup(topic, strlen(topic));
	p->primed[i] = rd_kafka_topic_new(p->rk, topic, NULL);
	p->primed_count++;
}

static void retry_cb(uv_timer_t *timer)
{
	struct kafka_producer *p = timer->data;
	int rv = kafka_producer_open(p);

	if (rv != 0) {
		rv = uv_timer_start(&p->retry, retry_cb, RETRY_MS, 0);
		check(rv == 0); /* it is not closing: free stops it first */
		return;
	}
	metric_add(&kafka_renewals, 1);
	log_info("kafka producer renewed", LOG_LAST);
	p->renewed(p->ctx);
}

/* Messages that were delivered but whose report we have not read yet are
 * failed too: they will be sent again, which whoever reads them endures. */
static void renew(struct kafka_producer *p)
{
	kafka_producer_shut(p);
	kafka_producer_fail(p, RD_KAFKA_RESP_ERR__FATAL);
	if (!p->freeing) { /* a callback may have called it */
		retry_cb(&p->retry);
	}
}

int kafka_producer_new(uv_loop_t *loop, const char *bootstrap,
		       const struct config_pair *pairs, size_t pair_count,
		       kafka_delivered_cb delivered, kafka_renewed_cb renewed,
		       void *ctx, struct kafka_producer **out)
{
	struct kafka_producer *p = xcalloc(1, sizeof(*p));
	int rv;

	kafka_metrics_init();
	p->loop = loop;
	p->delivered = delivered;
	p->renewed = renewed;
	p->ctx = ctx;
	rv = kafka_conf_make(kafka_producer_defaults, bootstrap, pairs,
			     pair_count, &p->conf);
	if (rv != 0) {
		goto err_after_alloc;
	}
	rd_kafka_conf_set_events(p->conf, RD_KAFKA_EVENT_DR |
						  RD_KAFKA_EVENT_ERROR |
						  RD_KAFKA_EVENT_STATS);
	rv = kafka_wake_init(&p->wake, loop, serve, p);
	if (rv != 0) {
		log_error("no eventfd for Kafka", log_err(rv));
		goto err_after_conf;
	}
	rv = uv_timer_init(loop, &p->retry);
	check(rv == 0); /* it only fills in the handle */
	p->retry.data = p;
	rv = kafka_producer_open(p);
	if (rv != 0) {
		/* The loop knows the handles: the way out is the usual one. */
		kafka_producer_free(p, 0, NULL, NULL);
		return rv;
	}
	kafka_conf_show(p->conf, "kafka producer bound", bounds);
	*out = p;
	return 0;

err_after_conf:
	rd_kafka_conf_destroy(p->conf);
err_after_alloc:
	free(p);
	return rv;
}

/* producev() takes what it does not write to without const. */
static void *unconst(struct bytes b)
{
	return (void *)(uintptr_t)b.p;
}

static rd_kafka_resp_err_t hand_over(rd_kafka_t *rk,
				     const struct kafka_message *m,
				     struct kafka_sent *sent)
{
	if (m->content_type == NULL) {
		return rd_kafka_producev(
			rk, RD_KAFKA_V_TOPIC(m->topic),
			RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
			RD_KAFKA_V_KEY(unconst(m->key), m->key.n),
			RD_KAFKA_V_VALUE(unconst(m->value), m->value.n),
			RD_KAFKA_V_OPAQUE(sent), RD_KAFKA_V_END);
	}
	return rd_kafka_producev(
		rk, RD_KAFKA_V_TOPIC(m->topic),
		RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
		RD_KAFKA_V_KEY(unconst(m->key), m->key.n),
		RD_KAFKA_V_VALUE(unconst(m->value), m->value.n),
		RD_KAFKA_V_HEADER("content-type", m->content_type, -1),
		RD_KAFKA_V_OPAQUE(sent), RD_KAFKA_V_END);
}

static int refuse(const struct kafka_message *m, rd_kafka_resp_err_t error)
{
	if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL ||
	    error == RD_KAFKA_RESP_ERR__FATAL) {
		return ERR_BUSY; /* fatal: the event is on its way */
	}
	log_error("message not produced", log_str("topic", m->topic),
		  log_str("why", rd_kafka_err2str(error)));
	return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ? ERR_TOO_BIG
							     : ERR_NOT_READY;
}

int kafka_produce(struct kafka_producer *p, const struct kafka_message *m,
		  void *opaque)
{
	struct kafka_sent *sent;
	rd_kafka_resp_err_t error;

	if (p->freeing) {
		return ERR_CLOSED;
	}
	if (p->rk == NULL || p->fatal) {
		return ERR_BUSY; /* renewed() will come */
	}
	sent = xmalloc(sizeof(*sent));
	sent->opaque = opaque;
	error = hand_over(p->rk, m, sent);
	if (error != 0) {
		free(sent);
		return refuse(m, error);
	}
	DL_APPEND(p->sent, sent);
	p->outstanding++;
	metric_add(&kafka_produced, 1);
	metric_add(&kafka_outstanding, 1);
	return 0;
}

bool kafka_producer_ready(const struct kafka_producer *p)
{
	return p->rk != NULL && !p->fatal && p->up;
}
