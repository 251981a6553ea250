/**
 * Kafka through librdkafka, woken through the loop: an eventfd on a uv_poll,
 * nothing here ever blocks the loop's thread.
 */
#ifndef CLIENT_KAFKA_H
#define CLIENT_KAFKA_H

#include <librdkafka/rdkafka.h>
#include <uv.h>

#include "base/config.h"

/* ---- Producer: idempotent, acks=all ---- */

struct kafka_producer;

/** Delivered: error is 0, partition and offset say where. Else it may or may
 * not be in the log: send again. Called on the loop's thread. */
typedef void (*kafka_delivered_cb)(void *ctx, void *opaque,
				   rd_kafka_resp_err_t error);
/** The producer met a fatal error and was made anew: everything not yet
 * reported as delivered gets its delivered callback with an error first. */
typedef void (*kafka_renewed_cb)(void *ctx);

struct kafka_message {
	const char *topic;
	struct bytes key;
	struct bytes value;
	const char *content_type; /* header, or NULL */
};

struct kafka_topic_spec {
	const char *name;
	int partitions;
	int64_t retention_ms;
	int min_insync_replicas; /* lowered to what the cluster has */
	int replication;         /* likewise */
};

/**
 * pairs are librdkafka properties and override ours; bootstrap is
 * "host:port,...". 0, or ERR_CONFIG after logging which property is bad.
 */
must_check int kafka_producer_new(uv_loop_t *loop, const char *bootstrap,
				  const struct config_pair *pairs,
				  size_t pair_count,
				  kafka_delivered_cb delivered,
				  kafka_renewed_cb renewed, void *ctx,
				  struct kafka_producer **out);

/** Queue a message (copied). 0; ERR_BUSY when librdkafka's queue is full: try
 * again after a delivery; else a code after logging. */
must_check int kafka_produce(struct kafka_producer *p,
			     const struct kafka_message *m, void *opaque);

/** Create the topics that are missing, off the loop; done(ctx, 0) when all
 * exist, or an error to try again after. */
void kafka_create_topics(struct kafka_producer *p,
			 const struct kafka_topic_spec *specs, size_t count,
			 void (*done)(void *ctx, int error, const char *why),
			 void *ctx);

struct kafka_end {
	const char *topic;
	int32_t partition;
	int64_t end_offset; /* of the next message */
};
/** End offsets of every partition of the topics, asked of the brokers off the
 * loop. ends is valid during done(); error is not 0 if any is not known. */
void kafka_end_offsets(struct kafka_producer *p, const char *const *topics,
		       size_t count, uint64_t timeout_ms,
		       void (*done)(void *ctx, int error,
				    const struct kafka_end *ends, size_t n),
		       void *ctx);

/** Whether a broker is connected, as far as is known. */
bool kafka_producer_ready(const struct kafka_producer *p);

/** Flush for at most timeout_ms in a thread of its own, then free; done(ctx)
 * on the loop. Every message still there gets its delivered callback before
 * that, every admin call its own (UV_ECANCELED), and none comes after it.
 * done may be NULL. kafka_produce() says ERR_CLOSED from now on. */
void kafka_producer_free(struct kafka_producer *p, uint64_t timeout_ms,
			 void (*done)(void *ctx), void *ctx);

/* ---- Consumer: offsets live with the one who consumes ---- */

struct kafka_consumer;

struct kafka_record {
	const char *topic;
	int32_t partition;
	int64_t offset;
	int64_t timestamp_ms;
	struct bytes key;
	struct bytes value;
};

struct kafka_consumer_ops {
	/** Partitions were assigned: fill in each offset (or leave
	 * RD_KAFKA_OFFSET_BEGINNING) and call kafka_consumer_assign(), now or
	 * later. list is the callee's, to be freed by
	 * rd_kafka_topic_partition_list_destroy(). */
	void (*assigned)(void *ctx, rd_kafka_topic_partition_list_t *list);
	/** Partitions are taken away: finish or drop what is under way, then
	 * call kafka_consumer_unassign(). lost: others may have them already. */
	void (*revoked)(void *ctx, bool lost);
	/** Messages can be had by kafka_consumer_take(). Comes once until they
	 * are taken; take them, now or later, or pause: while they wait nothing
	 * else is read, so that after max.poll.interval.ms the group would give
	 * the partitions to others. */
	void (*readable)(void *ctx);
	/** Something a person must see; fatal ends consumption. */
	void (*failed)(void *ctx, rd_kafka_resp_err_t error, const char *why,
		       bool fatal);
};

/** Join the group for these topics, which need not exist yet. pairs as for the
 * producer. 0, or a code after logging why. */
must_check int kafka_consumer_new(uv_loop_t *loop, const char *bootstrap,
				  const char *group, const char *const *topics,
				  size_t topic_count,
				  const struct config_pair *pairs,
				  size_t pair_count,
				  const struct kafka_consumer_ops *ops,
				  void *ctx, struct kafka_consumer **out);

/** The answer to assigned(); list is copied. Ignored if the partitions were
 * taken away meanwhile. */
void kafka_consumer_assign(struct kafka_consumer *c,
			   rd_kafka_topic_partition_list_t *list);
/** The answer to revoked(). Batches in hand stay valid. */
void kafka_consumer_unassign(struct kafka_consumer *c);

/**
 * Take up to max messages that are here, without waiting; returns how many.
 * records and what they point at stay valid until
 * kafka_consumer_release(c, batch). readable comes again when more arrive.
 */
size_t kafka_consumer_take(struct kafka_consumer *c, size_t max,
			   struct kafka_record *records, void **batch);
/** batch may be NULL. On the loop's thread, as all but cluster_id(). */
void kafka_consumer_release(struct kafka_consumer *c, void *batch);

/** Stop and go on fetching, e.g. while the database is away. Partitions that
 * are assigned during a pause are paused too; take() gives nothing. */
void kafka_consumer_pause(struct kafka_consumer *c);
void kafka_consumer_resume(struct kafka_consumer *c);

/** Store offsets for monitoring only; errors are ignored. */
void kafka_consumer_commit(struct kafka_consumer *c,
			   const rd_kafka_topic_partition_list_t *offsets);

/** The cluster's id, once connected; the caller frees it. May block up to
 * timeout_ms: call it off the loop, and not after kafka_consumer_free(). NULL
 * if not known. */
char *kafka_consumer_cluster_id(struct kafka_consumer *c, int timeout_ms);

/** Leave the group in a thread of its own, for at most timeout_ms; done(ctx) on
 * the loop, no other callback after this call. All batches must have been
 * released. done may be NULL. */
void kafka_consumer_free(struct kafka_consumer *c, uint64_t timeout_ms,
			 void (*done)(void *ctx), void *ctx);

#endif
