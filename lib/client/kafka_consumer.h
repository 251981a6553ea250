/**
 * Inside of the Kafka consumer, for its own files.
 *
 * librdkafka has one queue for messages and for what happens to the group.
 * Messages wait here until somebody takes them, and nothing more is read from
 * the queue meanwhile: so a revocation comes after the messages before it, and
 * librdkafka's bounds hold.
 */
#ifndef CLIENT_KAFKA_CONSUMER_H
#define CLIENT_KAFKA_CONSUMER_H

#include "client/kafka.h"
#include "client/kafka_wake.h"

struct kafka_item {
	rd_kafka_event_t *event; /* owns message */
	const rd_kafka_message_t *message;
};

/* Messages in the order of the queue. */
struct kafka_batch {
	size_t count;
	size_t size; /* room in items */
	struct kafka_item *items;
};

enum kafka_await {
	KAFKA_AWAIT_NOTHING,
	KAFKA_AWAIT_ASSIGN,   /* kafka_consumer_assign() by the owner */
	KAFKA_AWAIT_UNASSIGN, /* kafka_consumer_unassign() by the owner */
};

struct kafka_consumer {
	uv_loop_t *loop;
	struct kafka_consumer_ops ops;
	void *ctx; /* of ops */

	rd_kafka_t *rk;
	rd_kafka_queue_t *queue;    /* messages and events of the group */
	struct kafka_wake wake;     /* on queue */
	uv_timer_t tick;            /* tells librdkafka that we are alive */
	struct kafka_batch waiting; /* read, and not yet taken */
	rd_kafka_event_t *deferred; /* met by take(), for serve(); or NULL */
	bool told;                  /* readable() came, take() did not yet */
	size_t batches;             /* taken and not released */

	enum kafka_await await; /* librdkafka waits for this answer */
	rd_kafka_topic_partition_list_t *assigned; /* NULL if none */
	bool paused;
	bool all_down; /* no broker is connected */

	int open;     /* handles that freeing waits for */
	bool freeing; /* kafka_consumer_free() was called */
	uint64_t free_timeout_ms;
	void (*free_done)(void *ctx);
	void *free_ctx;
};

/** The event as a message, to be put into waiting; false if it is none. */
bool kafka_consumer_keep(struct kafka_consumer *c, rd_kafka_event_t *event);

/** The next event of the queue, the deferred one first; NULL if none. */
rd_kafka_event_t *kafka_consumer_next(struct kafka_consumer *c);

/** Let go of messages that nobody has taken. */
void kafka_consumer_forget(struct kafka_consumer *c);

#endif
