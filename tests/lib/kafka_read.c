#include "lib/kafka_read.h"

#include <criterion/criterion.h>

#include "base/clock.h"

enum { LIMIT_MS = 20000 };

static rd_kafka_t *connect_to(const char *bootstrap)
{
	char text[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *rk;

	cr_assert_eq(rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap,
				       text, sizeof text),
		     RD_KAFKA_CONF_OK);
	cr_assert_eq(
		rd_kafka_conf_set(conf, "group.id", "test", text, sizeof text),
		RD_KAFKA_CONF_OK);
	cr_assert_eq(rd_kafka_conf_set(conf, "enable.auto.commit", "false",
				       text, sizeof text),
		     RD_KAFKA_CONF_OK);
	cr_assert_eq(rd_kafka_conf_set(conf, "auto.offset.reset", "earliest",
				       text, sizeof text),
		     RD_KAFKA_CONF_OK);
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
	cr_assert_not_null(rk, "%s", text);
	rd_kafka_poll_set_consumer(rk);
	return rk;
}

static size_t count_messages(rd_kafka_t *rk, const char *topic, int partitions)
{
	size_t n = 0;

	for (int i = 0; i < partitions; i++) {
		int64_t low;
		int64_t high;
		rd_kafka_resp_err_t rv = rd_kafka_query_watermark_offsets(
			rk, topic, i, &low, &high, LIMIT_MS);

		cr_assert_eq(rv, RD_KAFKA_RESP_ERR_NO_ERROR, "%s",
			     rd_kafka_err2str(rv));
		n += (size_t)(high - low);
	}
	return n;
}

static void assign(rd_kafka_t *rk, const char *topic, int partitions)
{
	rd_kafka_topic_partition_list_t *list =
		rd_kafka_topic_partition_list_new(partitions);

	for (int i = 0; i < partitions; i++) {
		rd_kafka_topic_partition_list_add(list, topic, i)->offset =
			RD_KAFKA_OFFSET_BEGINNING;
	}
	cr_assert_eq(rd_kafka_assign(rk, list), RD_KAFKA_RESP_ERR_NO_ERROR);
	rd_kafka_topic_partition_list_destroy(list);
}

size_t kafka_read(const char *bootstrap, const char *topic, int partitions,
		  void (*each)(void *ctx, const rd_kafka_message_t *m),
		  void *ctx)
{
	rd_kafka_t *rk = connect_to(bootstrap);
	size_t want = count_messages(rk, topic, partitions);
	uint64_t end = clock_mono_ms() + LIMIT_MS;
	size_t n = 0;

	assign(rk, topic, partitions);
	while (n < want && clock_mono_ms() < end) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, 100);

		if (m == NULL) {
			continue;
		}
		if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
			each(ctx, m);
			n++;
		}
		rd_kafka_message_destroy(m);
	}
	cr_assert_eq(n, want, "%zu of %zu messages", n, want);
	rd_kafka_consumer_close(rk);
	rd_kafka_destroy(rk);
	return n;
}
