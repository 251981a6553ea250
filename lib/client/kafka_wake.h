/**
 * From librdkafka's threads into the loop: an eventfd that librdkafka writes
 * when its queue stops being empty, polled by the loop.
 *
 * It tells an edge, not a level: whoever stops before the queue is empty must
 * call kafka_wake_arm(), or the rest lies there until something else arrives.
 */
#ifndef CLIENT_KAFKA_WAKE_H
#define CLIENT_KAFKA_WAKE_H

#include <librdkafka/rdkafka.h>
#include <uv.h>

#include "base/check.h"

struct kafka_wake {
	int fd;                 /* the eventfd; -1 once closed */
	uv_poll_t poll;         /* on fd */
	void (*serve)(void *);  /* the queue may have something */
	void (*closed)(void *); /* the handle is gone */
	void *ctx;              /* of both */
};

/** 0, or a code when there is no file descriptor left. serve(ctx) comes on the
 * loop, once for any number of events. */
must_check int kafka_wake_init(struct kafka_wake *w, uv_loop_t *loop,
			       void (*serve)(void *), void *ctx);

/** Be woken by queue from now on, and once for what lies in it already. */
void kafka_wake_watch(struct kafka_wake *w, rd_kafka_queue_t *queue);

/** librdkafka does not touch the eventfd after this. */
void kafka_wake_unwatch(rd_kafka_queue_t *queue);

/** Have serve() called again on the next turn of the loop. */
void kafka_wake_arm(struct kafka_wake *w);

/** No queue is watched any more. closed(ctx) comes on the loop, later; serve()
 * does not. */
void kafka_wake_close(struct kafka_wake *w, void (*closed)(void *));

#endif
