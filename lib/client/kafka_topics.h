/**
 * Topics as the cluster has them, and as it could have them. Pure functions.
 */
#ifndef CLIENT_KAFKA_TOPICS_H
#define CLIENT_KAFKA_TOPICS_H

#include "client/kafka.h"

/** A topic as a cluster of that many brokers can hold it: replication and
 * min_insync_replicas are lowered to what is there, and are at least 1. */
struct kafka_topic_spec kafka_topic_fit(const struct kafka_topic_spec *spec,
					int brokers);

/** Whether the topic is there with a leader for each partition. */
bool kafka_topic_usable(const struct rd_kafka_metadata *metadata,
			const char *topic);

/** The topic's entry, or NULL if the cluster does not have it. */
const struct rd_kafka_metadata_topic *kafka_topic_find(
	const struct rd_kafka_metadata *metadata, const char *topic);

#endif
