/**
 * The properties that a client of librdkafka starts with: our defaults, then
 * the operator's own, which win.
 */
#ifndef CLIENT_KAFKA_CONF_H
#define CLIENT_KAFKA_CONF_H

#include <librdkafka/rdkafka.h>

#include "base/config.h"

struct kafka_setting {
	const char *name; /* NULL ends a list */
	const char *value;
	bool optional; /* older versions of librdkafka do not know it */
};

/** What our producer and our consumer start with. */
extern const struct kafka_setting kafka_producer_defaults[];
extern const struct kafka_setting kafka_consumer_defaults[];

/**
 * 0 and a conf that the caller owns, with librdkafka's log going to ours; or
 * ERR_CONFIG after logging which of the pairs is bad and why.
 */
must_check int kafka_conf_make(const struct kafka_setting *defaults,
			       const char *bootstrap,
			       const struct config_pair *pairs,
			       size_t pair_count, rd_kafka_conf_t **out);

/** For a configuration: append a line to problems, with the key and what is
 * allowed, for every pair that kafka_conf_make() would refuse, and one if none
 * of them says where Kafka is. If each is fine for itself, also what a client
 * says about all of them; no broker is asked. */
void kafka_conf_check(const struct config_pair *pairs, size_t pair_count,
		      struct buf *problems);

/** Log the values of these properties, the bounds of what a client holds: for
 * people, at start-up. NULL ends names. */
void kafka_conf_show(const rd_kafka_conf_t *conf, const char *event,
		     const char *const *names);

/** A client with a copy of conf, or NULL after logging why: properties that
 * contradict each other, or no memory or threads left. */
must_check rd_kafka_t *kafka_client_new(rd_kafka_type_t type,
					const rd_kafka_conf_t *conf);

#endif
