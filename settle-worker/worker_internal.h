/**
 * What the source files of the worker share.
 */
#ifndef SETTLE_WORKER_WORKER_INTERNAL_H
#define SETTLE_WORKER_WORKER_INTERNAL_H

#include "client/kafka.h"
#include "worker.h"

/* Where Kafka is unless kafka.bootstrap.servers says otherwise. */
#define WORKER_BOOTSTRAP "127.0.0.1:9092"

enum {
	WORKER_DEAD_LETTERS = 64, /* sent to the topic at once */
};

/* What the thread of the ledger is doing; one thing at a time. */
enum worker_job {
	WORKER_IDLE,
	WORKER_PLACE, /* where do the assigned partitions begin */
	WORKER_APPLY, /* the batch */
	WORKER_DLQ_READ,
	WORKER_DLQ_MARK,
};

/* A batch between take and release. */
struct worker_batch {
	void *handle;                 /* of the consumer, NULL: no batch */
	struct kafka_record *records; /* batch_max of them */
	size_t count;
	struct event *events; /* as many */
	size_t event_count;
	struct ledger_move *moves; /* one per assigned partition */
	size_t move_count;
	struct ledger_result result;
	uint64_t took_us;
};

/* Dead letters on their way to their topic. */
struct worker_dlq {
	bool wanted; /* there may be some */
	bool topic_ready;
	bool topic_asked;
	struct ledger_dead_letter letters[WORKER_DEAD_LETTERS];
	size_t count;
	size_t in_flight;
	int64_t sent[WORKER_DEAD_LETTERS]; /* numbers, to be marked */
	size_t sent_count;
	bool failed;         /* one of them was not delivered */
	uint64_t not_before; /* uv_now() of the next try */
};

struct worker {
	uv_loop_t *loop;
	struct ledger *ledger;
	const struct settle_options *options;
	const struct config_pair *pairs;
	size_t pair_count;
	char group[64];
	struct kafka_consumer *consumer; /* NULL while there is none */
	struct kafka_producer *producer;
	char cluster_id[64];    /* "" until partitions were placed */
	char cluster_heard[64]; /* of WORKER_PLACE */

	uv_work_t work;
	enum worker_job job;
	int job_rv;
	uv_timer_t timer; /* ends a wait */
	uv_timer_t tick;  /* for what is due by and by, never for a claim */
	int handles;      /* of these two, not closed yet */
	uint64_t backoff_ms;
	bool waiting; /* the timer runs, nothing is tried */

	rd_kafka_topic_partition_list_t *placing; /* assigned, not placed yet */
	struct ledger_position *positions;        /* of what is assigned */
	size_t position_count;
	bool assigned;
	bool revoking; /* to be unassigned as soon as the job is done */
	bool restart;  /* the consumer is to be made anew */
	bool readable;
	bool leaving;             /* a consumer is ending, no other may begin */
	bool failing;             /* the last job failed */
	char why[LEDGER_WHY_MAX]; /* of the failure */
	bool commit_due;          /* Kafka's copy of the offsets is behind */
	uint64_t committed_at;
	struct worker_batch batch;
	struct worker_dlq dlq;

	bool stopping;
	void (*stopped)(void *ctx);
	void *stopped_ctx;
};

/** Go on with whatever is to be done next. Loop's thread. */
void worker_pump(struct worker *w);

/* ---- worker_job.c ---- */

/** Start the job in a thread; its end calls worker_pump(). */
void worker_begin(struct worker *w, enum worker_job job);

/* ---- worker_consumer.c ---- */

/** Join the group. 0, or a code after logging why. */
must_check int worker_consumer_make(struct worker *w);
/** Tell Kafka where we are, for those who watch its lag; not too often. */
void worker_commit(struct worker *w);
/** Nothing of the consumer is in our hands any more. */
void worker_let_go(struct worker *w);
/** Leave the group; gone(w) when it is done. */
void worker_consumer_drop(struct worker *w, void (*gone)(void *ctx));

/* ---- worker_batch.c ---- */

/** Memory for batches of options->batch_max. */
void worker_batch_init(struct worker *w);
void worker_batch_close(struct worker *w);
/** Take what is here; false if nothing is. */
must_check bool worker_batch_take(struct worker *w);
/** In the thread: read the messages and apply them. */
must_check int worker_batch_apply(struct worker *w);
/** On the loop: the batch is applied. */
void worker_batch_applied(struct worker *w);
/** Let go of the batch, if there is one. */
void worker_batch_release(struct worker *w);

/* ---- worker_dlq.c ---- */

/** Whether dead letters are to be read now. */
bool worker_dlq_due(const struct worker *w);
/** In the thread: read some. */
must_check int worker_dlq_read(struct worker *w);
/** On the loop: send them. */
void worker_dlq_send(struct worker *w);
/** The producer's callback. */
void worker_dlq_delivered(void *ctx, void *opaque, rd_kafka_resp_err_t error);
/** In the thread: remember which were sent. */
must_check int worker_dlq_mark(struct worker *w);

#endif
