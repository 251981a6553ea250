/**
 * Inside of the Kafka producer, for its own files and tests.
 *
 * One struct kafka_producer outlives several instances of librdkafka's: a
 * fatal error makes one useless for ever, and the next takes its place.
 */
#ifndef CLIENT_KAFKA_PRODUCER_H
#define CLIENT_KAFKA_PRODUCER_H

#include "client/kafka.h"
#include "client/kafka_job.h"
#include "client/kafka_wake.h"

enum {
	KAFKA_PRIMED_MAX = 16,       /* topics asked for before the first use */
	KAFKA_DESTROY_MAX_MS = 3000, /* for an instance to let go */
};

/* A message that librdkafka has and has not reported. */
struct kafka_sent {
	void *opaque; /* the caller's */
	struct kafka_sent *prev;
	struct kafka_sent *next;
};

struct kafka_admin_call;

struct kafka_producer {
	uv_loop_t *loop;
	kafka_delivered_cb delivered;
	kafka_renewed_cb renewed;
	void *ctx;             /* of both */
	rd_kafka_conf_t *conf; /* every instance gets a copy */

	rd_kafka_t *rk;          /* the instance; NULL between two */
	rd_kafka_queue_t *queue; /* its events; NULL with rk */
	bool up;                 /* a broker is connected, as far as we know */
	bool fatal;              /* rk has met a fatal error */
	struct kafka_wake wake;  /* on queue */
	uv_timer_t retry;        /* to make an instance, if that failed */

	struct kafka_sent *sent; /* oldest first (utlist) */
	size_t outstanding;      /* its length */

	rd_kafka_topic_t *primed[KAFKA_PRIMED_MAX];
	char *primed_names[KAFKA_PRIMED_MAX]; /* to prime the next instance */
	size_t primed_count;

	struct kafka_admin_call *calls; /* not done yet (utlist) */
	int open;                       /* handles and jobs under way */
	bool freeing;                   /* kafka_producer_free() was called */
	void (*free_done)(void *ctx);
	void *free_ctx;
};

/** Make an instance of conf and watch it. 0, or ERR_CONFIG after logging. */
must_check int kafka_producer_open(struct kafka_producer *p);

/** Let go of the instance without waiting; a thread of its own ends it. Reports
 * nothing. */
void kafka_producer_shut(struct kafka_producer *p);

/** Report every outstanding message with error, oldest first. */
void kafka_producer_fail(struct kafka_producer *p, rd_kafka_resp_err_t error);

/** Ask for the metadata of topic now, so that the first message to it does not
 * wait for them. */
void kafka_producer_prime(struct kafka_producer *p, const char *topic);

/** End every admin call with UV_ECANCELED, soon, on the loop. */
void kafka_admin_cancel(struct kafka_producer *p);

/** Something has ended that freeing p waits for: p may be gone after this. */
void kafka_producer_ended(struct kafka_producer *p);

#endif
