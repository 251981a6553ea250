/**
 * The keys of the section `topics`, which every service that creates topics
 * has in the same words. Beside base/config_table.h, whose AT() says where the
 * fields are: topic_activities, topic_claims, topic_dlq, topic_retention_ms,
 * topic_min_insync, topic_replication.
 */
#ifndef CLIENT_KAFKA_TOPIC_KEYS_H
#define CLIENT_KAFKA_TOPIC_KEYS_H

#include "base/config_table.h"

#define KAFKA_TOPIC_NAMES                                                \
	NEEDED("topics.activities", topic_activities, "rain.activities", \
	       "topic of what happens to activities"),                   \
		NEEDED("topics.claims", topic_claims, "rain.claims",     \
		       "topic of claims"),                               \
		NEEDED("topics.dlq", topic_dlq, "rain.claims.dlq",       \
		       "topic of what could not be settled")

/* Ten years at most. */
#define KAFKA_TOPIC_MAKING                                                     \
	SPAN("topics.retention", topic_retention_ms, "720h", 60000,            \
	     INT64_C(3650) * 24 * 3600 * 1000,                                 \
	     "retention of a topic that is created"),                          \
		NUMBER("topics.min_insync_replicas", topic_min_insync, "2", 1, \
		       10,                                                     \
		       "of a topic that is created; lowered to what there "    \
		       "is"),                                                  \
		NUMBER("topics.replication", topic_replication, "3", 1, 10,    \
		       "of a topic that is created; lowered to what there "    \
		       "is")

#endif
