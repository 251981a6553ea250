#include "console/topic_reader.h"

#include <librdkafka/rdkafka.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"

enum { WAIT_MS = 10000, SILENCE_MS = 15000 };

struct reading {
	rd_kafka_t *rk;
	rd_kafka_topic_partition_list_t *list; /* offset: where to begin */
	int64_t *ends;                         /* by index in list */
	size_t open;                           /* partitions not at their end */
};

static rd_kafka_t *consumer(const struct config_pair *pairs, size_t count,
			    struct buf *why)
{
	/* No group is joined: the id is only a word that librdkafka demands. */
	static const struct config_pair ours[] = {
		{ "group.id", "rainctl" },
		{ "enable.auto.commit", "false" },
		{ "enable.partition.eof", "false" },
		{ "client.id", "rainctl" },
	};
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char error[256] = "";
	rd_kafka_t *rk;

	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
		rd_kafka_conf_res_t res = rd_kafka_conf_set(
			conf, ours[i].name, ours[i].value, error, sizeof error);

		check(res == RD_KAFKA_CONF_OK);
	}
	for (size_t i = 0; i < count; i++) {
		if (rd_kafka_conf_set(conf, pairs[i].name, pairs[i].value,
				      error,
				      sizeof error) != RD_KAFKA_CONF_OK) {
			buf_printf(why, "kafka.%s: %s", pairs[i].name, error);
			rd_kafka_conf_destroy(conf);
			return NULL;
		}
	}
	rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, error, sizeof error);
	if (rk == NULL) {
		buf_printf(why, "Kafka: %s", error);
		rd_kafka_conf_destroy(conf);
		return NULL;
	}
	rd_kafka_poll_set_consumer(rk);
	return rk;
}

/* Fill r with the partitions that have messages. */
static rd_kafka_resp_err_t find_ends(struct reading *r, const char *topic)
{
	const struct rd_kafka_metadata *meta;
	rd_kafka_topic_t *rkt = rd_kafka_topic_new(r->rk, topic, NULL);
	rd_kafka_resp_err_t err =
		rd_kafka_metadata(r->rk, 0, rkt, &meta, WAIT_MS);

	rd_kafka_topic_destroy(rkt);
	if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
		return err;
	}
	err = meta->topics[0].err;
	r->list = rd_kafka_topic_partition_list_new(
		meta->topics[0].partition_cnt);
	r->ends = xcalloc((size_t)meta->topics[0].partition_cnt + 1,
			  sizeof *r->ends);
	for (int i = 0; i < meta->topics[0].partition_cnt && err == 0; i++) {
		int32_t partition = meta->topics[0].partitions[i].id;
		int64_t low;
		int64_t high;

		err = rd_kafka_query_watermark_offsets(r->rk, topic, partition,
						       &low, &high, WAIT_MS);
		if (err == 0 && high > low) {
			r->ends[r->list->cnt] = high;
			rd_kafka_topic_partition_list_add(r->list, topic,
							  partition)
				->offset = low;
			r->open++;
		}
	}
	rd_kafka_metadata_destroy(meta);
	return err;
}

static int read_all(struct reading *r, topic_message_cb message, void *ctx,
		    struct buf *why)
{
	uint64_t last = clock_mono_ms();

	while (r->open > 0) {
		rd_kafka_message_t *m = rd_kafka_consumer_poll(r->rk, 200);

		if (m == NULL) {
			if (clock_mono_ms() - last > SILENCE_MS) {
				buf_printf(why, "Kafka stopped answering");
				return ERR_TIMEOUT;
			}
			continue;
		}
		for (int i = 0; m->err == 0 && i < r->list->cnt; i++) {
			if (r->list->elems[i].partition != m->partition ||
			    m->offset >= r->ends[i]) {
				continue;
			}
			message(ctx, bytes_make(m->key, m->key_len),
				bytes_make(m->payload, m->len));
			r->open -= m->offset + 1 == r->ends[i];
			last = clock_mono_ms();
		}
		rd_kafka_message_destroy(m);
	}
	return 0;
}

int topic_read(const struct config_pair *pairs, size_t pair_count,
	       const char *topic, topic_message_cb message, void *ctx,
	       struct buf *why)
{
	struct reading r = { .rk = consumer(pairs, pair_count, why) };
	rd_kafka_resp_err_t err;
	int rv = 0;

	if (r.rk == NULL) {
		return ERR_CONFIG;
	}
	err = find_ends(&r, topic);
	if (err == 0 && r.open > 0) {
		err = rd_kafka_assign(r.rk, r.list);
	}
	if (err != 0) {
		buf_printf(why, "Kafka topic %s: %s", topic,
			   rd_kafka_err2str(err));
		rv = ERR_NOT_READY;
	} else {
		rv = read_all(&r, message, ctx, why);
	}
	if (r.list != NULL) {
		rd_kafka_topic_partition_list_destroy(r.list);
	}
	free(r.ends);
	rd_kafka_consumer_close(r.rk);
	rd_kafka_destroy(r.rk);
	return rv;
}
