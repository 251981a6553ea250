#include "lib/kafka_broker.h"

#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/check.h"
#include "base/rand.h"

enum {
	WAIT_MS = 20000,
	TEXT_MAX = 256,
};

const char *kafka_broker(void)
{
	const char *address = getenv("KAFKA_BOOTSTRAP");

	cr_assert(address != NULL && address[0] != '\0',
		  "KAFKA_BOOTSTRAP is not set: start a broker with "
		  "deploy/kafka/kafka.sh and name its host:port, or run "
		  "./rain test");
	return address;
}

void kafka_broker_topic(char *out, size_t n, const char *stem)
{
	int length = snprintf(out, n, "%s-%ld-%llx", stem, (long)getpid(),
			      (unsigned long long)rand_below(UINT32_MAX));

	cr_assert(length > 0 && (size_t)length < n);
}

static rd_kafka_t *client(rd_kafka_type_t type)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char text[TEXT_MAX] = "";
	const char *pairs[][2] = {
		{ "bootstrap.servers", kafka_broker() },
		{ "group.id", "tests-reader" },
		{ "enable.partition.eof", "true" },
		{ "enable.auto.commit", "false" },
		{ "auto.offset.reset", "earliest" },
		{ "linger.ms", "0" },
		{ "log.queue", "false" },
		{ "log_level", "2" },
	};
	rd_kafka_t *rk;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		cr_assert_eq(rd_kafka_conf_set(conf, pairs[i][0], pairs[i][1],
					       text, sizeof(text)),
			     RD_KAFKA_CONF_OK, "%s", text);
	}
	rk = rd_kafka_new(type, conf, text, sizeof(text));
	cr_assert_not_null(rk, "%s", text);
	return rk;
}

static const struct rd_kafka_metadata *metadata_of(rd_kafka_t *rk)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_resp_err_t rv =
		rd_kafka_metadata(rk, 1, NULL, &metadata, WAIT_MS);

	cr_assert_eq(rv, 0, "no broker at %s: %s", kafka_broker(),
		     rd_kafka_err2str(rv));
	return metadata;
}

/* Partitions that have a leader. */
static int led(rd_kafka_t *rk, const char *topic)
{
	const struct rd_kafka_metadata *metadata = metadata_of(rk);
	int count = 0;

	for (int i = 0; i < metadata->topic_cnt; i++) {
		const struct rd_kafka_metadata_topic *t = &metadata->topics[i];

		for (int k = 0;
		     strcmp(t->topic, topic) == 0 && k < t->partition_cnt;
		     k++) {
			count += t->partitions[k].leader >= 0;
		}
	}
	rd_kafka_metadata_destroy(metadata);
	return count;
}

void kafka_broker_create(const char *topic, int partitions)
{
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER);
	rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
	rd_kafka_NewTopic_t *spec =
		rd_kafka_NewTopic_new(topic, partitions, 1, NULL, 0);
	rd_kafka_event_t *event;

	rd_kafka_CreateTopics(rk, &spec, 1, NULL, queue);
	event = rd_kafka_queue_poll(queue, WAIT_MS);
	cr_assert_not_null(event, "topic not created within %d ms", WAIT_MS);
	cr_assert_eq(rd_kafka_event_error(event), 0, "%s",
		     rd_kafka_event_error_string(event));
	rd_kafka_event_destroy(event);
	rd_kafka_NewTopic_destroy(spec);
	rd_kafka_queue_destroy(queue);
	for (int tries = 0; led(rk, topic) < partitions; tries++) {
		cr_assert_lt(tries, 1000, "no leader for %s", topic);
		(void)poll(NULL, 0, 10);
	}
	rd_kafka_destroy(rk);
}

static void *unconst(struct bytes b)
{
	return (void *)(uintptr_t)b.p;
}

void kafka_broker_produce(const char *topic, int32_t partition,
			  struct bytes key, struct bytes value)
{
	rd_kafka_t *rk = client(RD_KAFKA_PRODUCER);
	rd_kafka_resp_err_t rv;

	rv = rd_kafka_producev(
		rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
		RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
		RD_KAFKA_V_KEY(unconst(key), key.n),
		RD_KAFKA_V_VALUE(unconst(value), value.n), RD_KAFKA_V_END);
	cr_assert_eq(rv, 0, "%s", rd_kafka_err2str(rv));
	rv = rd_kafka_flush(rk, WAIT_MS);
	cr_assert_eq(rv, 0, "%s", rd_kafka_err2str(rv));
	rd_kafka_destroy(rk);
}

static struct kafka_seen seen_of(const rd_kafka_message_t *m)
{
	struct kafka_seen seen = {
		.partition = m->partition,
		.offset = m->offset,
		.key = xstrndup(m->key, m->key_len),
		.value = xstrndup(m->payload, m->len),
		.value_n = m->len,
	};
	rd_kafka_headers_t *headers;
	const void *header;
	size_t n;

	if (rd_kafka_message_headers(m, &headers) == 0 &&
	    rd_kafka_header_get_last(headers, "content-type", &header, &n) ==
		    0) {
		seen.content_type = xstrndup(header, n);
	}
	return seen;
}

static int assign_all(rd_kafka_t *rk, const char *topic)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new(8);
	int partitions = led(rk, topic);

	cr_assert_gt(partitions, 0, "no topic %s", topic);
	for (int i = 0; i < partitions; i++) {
		rd_kafka_topic_partition_list_add(list, topic, i)->offset =
			RD_KAFKA_OFFSET_BEGINNING;
	}
	cr_assert_eq(rd_kafka_assign(rk, list), 0);
	rd_kafka_topic_partition_list_destroy(list);
	return partitions;
}

size_t kafka_broker_read(const char *topic, struct kafka_seen **out)
{
	rd_kafka_t *rk = client(RD_KAFKA_CONSUMER);
	struct kafka_seen *seen = NULL;
	size_t n = 0;
	size_t size = 0;
	int open = assign_all(rk, topic);

	while (open > 0) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, WAIT_MS);

		cr_assert_not_null(m, "%s: nothing within %d ms", topic,
				   WAIT_MS);
		if (m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
			open--;
		} else {
			cr_assert_eq(m->err, 0, "%s",
				     rd_kafka_message_errstr(m));
			if (n == size) {
				size = size == 0 ? 64 : size * 2;
				seen = xrealloc(seen, size * sizeof(*seen));
			}
			seen[n++] = seen_of(m);
		}
		rd_kafka_message_destroy(m);
	}
	rd_kafka_consumer_close(rk);
	rd_kafka_destroy(rk);
	*out = seen;
	return n;
}

void kafka_broker_forget(struct kafka_seen *seen, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(seen[i].key);
		free(seen[i].value);
		free(seen[i].content_type);
	}
	free(seen);
}
