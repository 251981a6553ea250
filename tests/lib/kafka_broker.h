/**
 * A real Kafka broker for tests: the one that KAFKA_BOOTSTRAP names, which all
 * tests share, so each makes topics of its own.
 *
 *   char topic[64];
 *   kafka_broker_topic(topic, sizeof(topic), "claims");
 *   kafka_broker_create(topic, 3);
 *   ... what is tested produces ...
 *   n = kafka_broker_read(topic, &seen);
 *
 * Everything here blocks, and uses librdkafka directly rather than our own
 * wrapper, so that it can judge it. A failure fails the test with a sentence.
 */
#ifndef TESTS_LIB_KAFKA_BROKER_H
#define TESTS_LIB_KAFKA_BROKER_H

#include "base/bytes.h"

/** The address; fails the test if the variable is not set. */
const char *kafka_broker(void);

/** A name that no other test has: stem, process id and some random digits. */
void kafka_broker_topic(char *out, size_t n, const char *stem);

/** Create the topic and wait until every partition has its leader. */
void kafka_broker_create(const char *topic, int partitions);

/** Produce one message and wait until it is acknowledged. partition may be -1
 * for the partitioner's choice. */
void kafka_broker_produce(const char *topic, int32_t partition,
			  struct bytes key, struct bytes value);

/* A message as the broker has it; everything is a copy. */
struct kafka_seen {
	int32_t partition;
	int64_t offset;
	char *key;          /* NUL-terminated */
	char *value;        /* likewise, value_n may be more than strlen */
	size_t value_n;     /* bytes of value */
	char *content_type; /* the header, NULL if there is none */
};

/** Everything in the topic from the earliest to the present end, in order
 * within each partition; to be freed by kafka_broker_forget(). */
size_t kafka_broker_read(const char *topic, struct kafka_seen **out);
void kafka_broker_forget(struct kafka_seen *seen, size_t n);

#endif
