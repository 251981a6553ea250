#include "client/kafka_topics.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "client/kafka_admin.h"

enum {
	CREATE_MAX_MS = 15000,
	LOOK_AGAIN_MS = 50, /* until a new topic has its leaders */
};

static int lower_of(int a, int b)
{
	return a < b ? a : b;
}

struct kafka_topic_spec kafka_topic_fit(const struct kafka_topic_spec *spec,
					int brokers)
{
	struct kafka_topic_spec fit = *spec;

	fit.replication = lower_of(spec->replication, brokers);
	fit.replication = fit.replication < 1 ? 1 : fit.replication;
	fit.min_insync_replicas =
		lower_of(spec->min_insync_replicas, fit.replication);
	if (fit.min_insync_replicas < 1) {
		fit.min_insync_replicas = 1;
	}
	return fit;
}

const struct rd_kafka_metadata_topic *kafka_topic_find(
	const struct rd_kafka_metadata *metadata, const char *topic)
{
	for (int i = 0; i < metadata->topic_cnt; i++) {
		if (strcmp(metadata->topics[i].topic, topic) == 0 &&
		    metadata->topics[i].err == 0) {
			return &metadata->topics[i];
		}
	}
	return NULL;
}

bool kafka_topic_usable(const struct rd_kafka_metadata *metadata,
			const char *topic)
{
	const struct rd_kafka_metadata_topic *t =
		kafka_topic_find(metadata, topic);

	if (t == NULL || t->partition_cnt == 0) {
		return false;
	}
	for (int i = 0; i < t->partition_cnt; i++) {
		if (t->partitions[i].leader < 0) {
			return false;
		}
	}
	return true;
}

static rd_kafka_NewTopic_t *new_topic(struct kafka_admin_call *call, size_t i,
				      int brokers)
{
	struct kafka_topic_spec fit = kafka_topic_fit(&call->specs[i], brokers);
	rd_kafka_NewTopic_t *topic;
	char number[32];

	topic = rd_kafka_NewTopic_new(call->names[i], fit.partitions,
				      fit.replication, call->why,
				      sizeof(call->why));
	if (topic == NULL) {
		call->error = ERR_CONFIG;
		return NULL;
	}
	(void)snprintf(number, sizeof(number), "%lld",
		       (long long)fit.retention_ms);
	(void)rd_kafka_NewTopic_set_config(topic, "retention.ms", number);
	(void)snprintf(number, sizeof(number), "%d", fit.min_insync_replicas);
	(void)rd_kafka_NewTopic_set_config(topic, "min.insync.replicas",
					   number);
	return topic;
}

/* Another process that creates the same topics may be quicker. */
static void read_results(struct kafka_admin_call *call, rd_kafka_event_t *event)
{
	const rd_kafka_topic_result_t **results;
	size_t count = 0;

	results = rd_kafka_CreateTopics_result_topics(
		rd_kafka_event_CreateTopics_result(event), &count);
	for (size_t i = 0; i < count; i++) {
		rd_kafka_resp_err_t rv =
			rd_kafka_topic_result_error(results[i]);
		const char *why =
			rd_kafka_topic_result_error_string(results[i]);

		if (rv == 0) {
			log_info("topic created",
				 log_str("topic", rd_kafka_topic_result_name(
							  results[i])));
		} else if (rv != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) {
			kafka_admin_failed(
				call, ERR_DENIED, "topic %s: %s",
				rd_kafka_topic_result_name(results[i]),
				why != NULL ? why : rd_kafka_err2str(rv));
		}
	}
}

static void create(struct kafka_admin_call *call, rd_kafka_NewTopic_t **topics,
		   size_t count)
{
	rd_kafka_AdminOptions_t *options = rd_kafka_AdminOptions_new(
		call->rk, RD_KAFKA_ADMIN_OP_CREATETOPICS);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(call->rk);
	int left = kafka_admin_left(call);
	rd_kafka_event_t *event;

	(void)rd_kafka_AdminOptions_set_request_timeout(options, left, NULL, 0);
	rd_kafka_CreateTopics(call->rk, topics, count, options, queue);
	event = rd_kafka_queue_poll(queue, left + LOOK_AGAIN_MS);
	if (event == NULL) {
		kafka_admin_failed(call, ERR_TIMEOUT, "no answer in time");
	} else if (rd_kafka_event_error(event) != 0) {
		kafka_admin_failed(call, ERR_NOT_READY, "topics: %s",
				   rd_kafka_event_error_string(event));
	} else {
		read_results(call, event);
	}
	rd_kafka_event_destroy(event);
	rd_kafka_queue_destroy(queue);
	rd_kafka_AdminOptions_destroy(options);
}

static void create_missing(struct kafka_admin_call *call,
			   const struct rd_kafka_metadata *metadata)
{
	rd_kafka_NewTopic_t **topics =
		xcalloc(call->topic_count, sizeof(*topics));
	size_t count = 0;

	for (size_t i = 0; i < call->topic_count && call->error == 0; i++) {
		if (kafka_topic_find(metadata, call->names[i]) != NULL) {
			continue;
		}
		topics[count] = new_topic(call, i, metadata->broker_cnt);
		count += topics[count] != NULL;
	}
	if (count > 0 && call->error == 0) {
		create(call, topics, count);
	}
	rd_kafka_NewTopic_destroy_array(topics, count);
	free(topics);
}

static bool all_usable(const struct kafka_admin_call *call,
		       const struct rd_kafka_metadata *metadata)
{
	for (size_t i = 0; i < call->topic_count; i++) {
		if (!kafka_topic_usable(metadata, call->names[i])) {
			return false;
		}
	}
	return true;
}

static void create_work(struct kafka_admin_call *call)
{
	bool asked = false;

	while (call->error == 0) {
		const struct rd_kafka_metadata *metadata =
			kafka_admin_metadata(call);
		bool usable;

		if (metadata == NULL) {
			return;
		}
		if (!asked) {
			create_missing(call, metadata);
			asked = true;
		}
		usable = all_usable(call, metadata);
		rd_kafka_metadata_destroy(metadata);
		if (usable) {
			return;
		}
		if (kafka_admin_left(call) == 0) {
			kafka_admin_failed(call, ERR_TIMEOUT,
					   "topics have no leader yet");
		}
		uv_sleep(LOOK_AGAIN_MS); /* in a thread of our own */
	}
}

static void create_done(struct kafka_admin_call *call, int error,
			const char *why)
{
	struct kafka_producer *p = call->p;

	for (size_t i = 0; error == 0 && i < call->topic_count; i++) {
		kafka_producer_prime(p, call->names[i]);
	}
	call->user.created(call->ctx, error, why);
}

void kafka_create_topics(struct kafka_producer *p,
			 const struct kafka_topic_spec *specs, size_t count,
			 void (*done)(void *ctx, int error, const char *why),
			 void *ctx)
{
	struct kafka_admin_call *call = xcalloc(1, sizeof(*call));

	check(count > 0);
	call->names = xcalloc(count, sizeof(*call->names));
	call->specs = xcalloc(count, sizeof(*call->specs));
	call->topic_count = count;
	for (size_t i = 0; i < count; i++) {
		call->names[i] = xstrndup(specs[i].name, strlen(specs[i].name));
		call->specs[i] = specs[i];
		call->specs[i].name = NULL;
	}
	call->work = create_work;
	call->done = create_done;
	call->user.created = done;
	call->ctx = ctx;
	kafka_admin_start(p, call, CREATE_MAX_MS);
}
