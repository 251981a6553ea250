/**
 * Reads what lies in a topic, blocking, for a test that looks afterwards.
 */
#ifndef TESTS_LIB_KAFKA_READ_H
#define TESTS_LIB_KAFKA_READ_H

#include <librdkafka/rdkafka.h>
#include <stddef.h>

/** Hand every message that is in the topic now to each(); returns how many.
 * Within a partition they come in order. Fails the test after 20 s. */
size_t kafka_read(const char *bootstrap, const char *topic, int partitions,
		  void (*each)(void *ctx, const rd_kafka_message_t *m),
		  void *ctx);

#endif
