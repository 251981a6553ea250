/**
 * A Kafka consumer as a test's member of a group: it takes what it is told of,
 * at most budget messages each time, and checks that offsets have no holes and
 * every value is "value".
 *
 *   struct member m = { .first_offset = -1 };
 *   member_join(&m, &loop, kafka_broker(), topic, NULL, 0);
 *   RUN_UNTIL(&loop, m.taken == 5);
 *   member_leave(&m, &loop);
 */
#ifndef TESTS_LIB_KAFKA_MEMBER_H
#define TESTS_LIB_KAFKA_MEMBER_H

#include "client/kafka_consumer.h"

enum {
	TAKE_MAX = 64,
	PARTITIONS_MAX = 8,
};

struct member {
	struct kafka_consumer *c;
	size_t budget;
	int64_t first_offset; /* to assign, if not negative */
	bool answer_late;     /* leave assigned() to the test */
	bool hold;            /* keep the batch until unassigned */
	rd_kafka_topic_partition_list_t *unanswered;
	void *held;
	int partitions; /* assigned now */
	int assignments;
	int revocations;
	int failures;
	size_t taken;
	int64_t next[PARTITIONS_MAX]; /* offset expected, 0 for any */
	int64_t lowest;
	bool freed;
};

/** Join a group called as the topic, which is nobody else's. */
void member_join(struct member *m, uv_loop_t *loop, const char *bootstrap,
		 const char *topic, const struct config_pair *pairs, size_t n);

/** Join a group of its own, to see what there is in the topic. */
void member_watch(struct member *m, uv_loop_t *loop, const char *topic);

/** Assign list, from first_offset on; takes list. For answer_late. */
void member_answer(struct member *m, rd_kafka_topic_partition_list_t *list);

/** Free the consumer and wait for that. */
void member_leave(struct member *m, uv_loop_t *loop);

/** Put count messages into the partition; delivered when this returns. */
void member_fill(const char *topic, int32_t partition, size_t count);

/** The same for many at once, into all partitions, by our own producer. */
void member_fill_many(uv_loop_t *loop, const char *topic, size_t count);

/** Create a topic and write its name to topic, of n bytes. */
void member_topic(char *topic, size_t n, int partitions);

#endif
