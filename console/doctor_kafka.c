#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <string.h>

#include "console/doctor.h"

enum { TIMEOUT_MS = 2000 };

static rd_kafka_t *client(const struct ctl *ctl, json_t *rows)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char error[256] = "";
	rd_kafka_t *rk;

	for (size_t i = 0; i < ctl->config.pair_count; i++) {
		const struct config_pair *p = &ctl->config.pairs[i];

		if (rd_kafka_conf_set(conf, p->name, p->value, error,
				      sizeof error) != RD_KAFKA_CONF_OK) {
			doctor_add(rows, "Kafka", FINDING_FAIL, error,
				   "correct this key of the section kafka");
			rd_kafka_conf_destroy(conf);
			return NULL;
		}
	}
	rd_kafka_conf_set(conf, "log_level", "2", NULL, 0);
	rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, error, sizeof error);
	if (rk == NULL) {
		doctor_add(rows, "Kafka", FINDING_FAIL, error, "");
		rd_kafka_conf_destroy(conf);
	}
	return rk;
}

static void look_at_topic(json_t *rows, const struct rd_kafka_metadata *meta,
			  const char *name)
{
	char found[192];

	for (int i = 0; i < meta->topic_cnt; i++) {
		const struct rd_kafka_metadata_topic *t = &meta->topics[i];
		int replicas =
			t->partition_cnt > 0 ? t->partitions[0].replica_cnt : 0;

		if (strcmp(t->topic, name) != 0 || t->partition_cnt == 0) {
			continue;
		}
		snprintf(found, sizeof found,
			 "%s: %d partition%s, %d replica%s", name,
			 t->partition_cnt, t->partition_cnt == 1 ? "" : "s",
			 replicas, replicas == 1 ? "" : "s");
		if (replicas < 2) {
			doctor_add(rows, "Kafka", FINDING_WARN, found,
				   "one broker lost is events lost: 3 replicas "
				   "and min.insync.replicas 2 in production");
		} else {
			doctor_add(rows, "Kafka", FINDING_OK, found, "");
		}
		return;
	}
	snprintf(found, sizeof found, "topic %s does not exist", name);
	doctor_add(rows, "Kafka", FINDING_FAIL, found,
		   "the grab-service creates it when it can reach Kafka");
}

void doctor_kafka(struct ctl *ctl, json_t *rows)
{
	const char *bootstrap = ctl_kafka(ctl, "bootstrap.servers");
	const struct rd_kafka_metadata *meta;
	rd_kafka_resp_err_t err;
	rd_kafka_t *rk;
	char found[192];

	if (bootstrap[0] == '\0') {
		doctor_add(rows, "Kafka", FINDING_FAIL, "no address is given",
			   "--set kafka.bootstrap.servers=host:port");
		return;
	}
	rk = client(ctl, rows);
	if (rk == NULL) {
		return;
	}
	err = rd_kafka_metadata(rk, 1, NULL, &meta, TIMEOUT_MS);
	if (err != RD_KAFKA_RESP_ERR_NO_ERROR) {
		snprintf(found, sizeof found, "%s: %s", bootstrap,
			 rd_kafka_err2str(err));
		doctor_add(rows, "Kafka", FINDING_FAIL, found,
			   "start it, or correct kafka.bootstrap.servers");
	} else {
		snprintf(found, sizeof found, "%d broker%s at %s",
			 meta->broker_cnt, meta->broker_cnt == 1 ? "" : "s",
			 bootstrap);
		doctor_add(rows, "Kafka", FINDING_OK, found, "");
		look_at_topic(rows, meta, ctl->options.topic_activities);
		look_at_topic(rows, meta, ctl->options.topic_claims);
		rd_kafka_metadata_destroy(meta);
	}
	rd_kafka_destroy(rk);
}
