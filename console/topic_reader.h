/**
 * Reads a Kafka topic from its first to its last message, as it stood when the
 * reading began. Blocks; for command line tools only.
 */
#ifndef CONSOLE_TOPIC_READER_H
#define CONSOLE_TOPIC_READER_H

#include "base/config.h"

/** key and value are valid during the call. */
typedef void (*topic_message_cb)(void *ctx, struct bytes key,
				 struct bytes value);

/**
 * pairs are librdkafka properties with bootstrap.servers among them. 0, or a
 * negative code with a sentence appended to why.
 */
must_check int topic_read(const struct config_pair *pairs, size_t pair_count,
			  const char *topic, topic_message_cb message,
			  void *ctx, struct buf *why);

#endif
