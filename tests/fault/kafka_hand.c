/*
 * What a stranger's hand does to Kafka, for shell tests:
 *
 *   kafka_hand BOOTSTRAP delete TOPIC      the topic is gone
 *   kafka_hand BOOTSTRAP put TOPIC FILE    its bytes, as one message
 *   kafka_hand BOOTSTRAP count TOPIC       messages that it holds
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>

enum { PATIENCE_MS = 20000, LARGEST = 4 * 1024 * 1024 };

_Noreturn static void stop(const char *what, const char *why)
{
	(void)fprintf(stderr, "kafka_hand: %s: %s\n", what, why);
	exit(1);
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
	(void)rk;
	(void)opaque;
	if (m->err != 0) {
		stop("not delivered", rd_kafka_err2str(m->err));
	}
}

static rd_kafka_t *client(const char *bootstrap)
{
	char why[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *rk;

	if (rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, why,
			      sizeof why) != RD_KAFKA_CONF_OK ||
	    rd_kafka_conf_set(conf, "message.max.bytes", "8000000", why,
			      sizeof why) != RD_KAFKA_CONF_OK) {
		stop(bootstrap, why);
	}
	rd_kafka_conf_set_dr_msg_cb(conf, delivered);
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
	if (rk == NULL) {
		stop(bootstrap, why);
	}
	return rk;
}

static void drop(rd_kafka_t *rk, const char *topic)
{
	rd_kafka_DeleteTopic_t *t = rd_kafka_DeleteTopic_new(topic);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	const rd_kafka_topic_result_t **results;
	rd_kafka_event_t *event;
	size_t n = 0;

	rd_kafka_DeleteTopics(rk, &t, 1, NULL, queue);
	event = rd_kafka_queue_poll(queue, PATIENCE_MS);
	if (event == NULL || rd_kafka_event_error(event) != 0) {
		stop(topic, "no answer to DeleteTopics");
	}
	results = rd_kafka_DeleteTopics_result_topics(
		rd_kafka_event_DeleteTopics_result(event), &n);
	if (n != 1 || rd_kafka_topic_result_error(results[0]) != 0) {
		stop(topic,
		     rd_kafka_err2str(rd_kafka_topic_result_error(results[0])));
	}
	rd_kafka_event_destroy(event);
	rd_kafka_queue_destroy(queue);
	rd_kafka_DeleteTopic_destroy(t);
}

static void put(rd_kafka_t *rk, const char *topic, const char *path)
{
	char *bytes = malloc(LARGEST);
	FILE *in = fopen(path, "rb");
	rd_kafka_resp_err_t rv;
	size_t n;

	if (in == NULL || bytes == NULL) {
		stop(path, "cannot be read");
	}
	n = fread(bytes, 1, LARGEST, in);
	(void)fclose(in);
	rv = rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic),
			       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
			       RD_KAFKA_V_VALUE(bytes, n),
			       RD_KAFKA_V_KEY("stranger", 8), RD_KAFKA_V_END);
	free(bytes);
	if (rv != 0) {
		stop(topic, rd_kafka_err2str(rv));
	}
	rv = rd_kafka_flush(rk, PATIENCE_MS);
	if (rv != 0) {
		stop(topic, rd_kafka_err2str(rv));
	}
}

static void count(rd_kafka_t *rk, const char *topic)
{
	const struct rd_kafka_metadata *m = NULL;
	long long sum = 0;
	rd_kafka_topic_t *t = rd_kafka_topic_new(rk, topic, NULL);

	if (rd_kafka_metadata(rk, 0, t, &m, PATIENCE_MS) != 0) {
		stop(topic, "no metadata");
	}
	for (int i = 0; i < m->topics[0].partition_cnt; i++) {
		int64_t low = 0;
		int64_t high = 0;

		if (rd_kafka_query_watermark_offsets(
			    rk, topic, m->topics[0].partitions[i].id, &low,
			    &high, PATIENCE_MS) != 0) {
			stop(topic, "no offsets");
		}
		sum += high - low;
	}
	(void)printf("%lld\n", sum);
	rd_kafka_metadata_destroy(m);
	rd_kafka_topic_destroy(t);
}

int main(int argc, char **argv)
{
	rd_kafka_t *rk;

	if (argc < 4) {
		stop("usage", "BOOTSTRAP delete|put|count TOPIC [FILE]");
	}
	rk = client(argv[1]);
	if (strcmp(argv[2], "delete") == 0) {
		drop(rk, argv[3]);
	} else if (strcmp(argv[2], "put") == 0 && argc == 5) {
		put(rk, argv[3], argv[4]);
	} else if (strcmp(argv[2], "count") == 0) {
		count(rk, argv[3]);
	} else {
		stop(argv[2], "not a word that is known");
	}
	rd_kafka_destroy(rk);
	return 0;
}
