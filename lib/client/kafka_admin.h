/**
 * What is asked of the cluster off the loop: each call has a client of its own
 * for as long as it lasts, so that it neither waits for the producer nor keeps
 * a dying one alive.
 *
 * The thread writes rk and what it found (error, why, ends); the loop reads
 * that once the thread is done, and not after it was abandoned.
 */
#ifndef CLIENT_KAFKA_ADMIN_H
#define CLIENT_KAFKA_ADMIN_H

#include "client/kafka_producer.h"

struct kafka_admin_call {
	struct kafka_producer *p; /* for the loop only */
	struct kafka_job *job;    /* likewise */
	struct kafka_admin_call *prev;
	struct kafka_admin_call *next;

	void (*work)(struct kafka_admin_call *call); /* in the thread */
	void (*done)(struct kafka_admin_call *call, int error, const char *why);
	union {
		void (*created)(void *ctx, int error, const char *why);
		void (*ended)(void *ctx, int error,
			      const struct kafka_end *ends, size_t n);
	} user;    /* the caller's callback */
	void *ctx; /* of it */

	rd_kafka_conf_t *conf;
	rd_kafka_t *rk;                 /* the call's own client */
	uint64_t deadline_ms;           /* monotonic */
	char **names;                   /* of topics */
	struct kafka_topic_spec *specs; /* of topics to create; name is NULL */
	size_t topic_count;
	struct kafka_end *ends; /* found; topic points into names */
	size_t end_count;
	int error;     /* 0 while all is well */
	char why[256]; /* a sentence, with error */
};

/** Run call->work in a thread for at most timeout_ms, then call->done on the
 * loop. Takes call, with names, specs and ends, all from malloc. */
void kafka_admin_start(struct kafka_producer *p, struct kafka_admin_call *call,
		       uint64_t timeout_ms);

/** For work(): milliseconds left. */
int kafka_admin_left(const struct kafka_admin_call *call);

/** For work(): note what went wrong. */
void printf_like(3, 4) kafka_admin_failed(struct kafka_admin_call *call,
					  int error, const char *fmt, ...);

/** For work(): what the cluster has, to be given to
 * rd_kafka_metadata_destroy(); NULL after kafka_admin_failed(). */
must_check const struct rd_kafka_metadata *kafka_admin_metadata(
	struct kafka_admin_call *call);

#endif
