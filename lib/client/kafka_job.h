/**
 * A call of librdkafka that blocks, in a thread of its own, with a deadline.
 *
 * Some of these calls are known not to return under bad luck. A job that is
 * late is abandoned: the loop goes on, and the thread with what it holds is
 * left alone. So data belongs to both sides, and drop() is called by the one
 * that lets go last.
 */
#ifndef CLIENT_KAFKA_JOB_H
#define CLIENT_KAFKA_JOB_H

#include <stdbool.h>
#include <uv.h>

struct kafka_job;

struct kafka_job_ops {
	/** In the thread. */
	void (*work)(void *data);
	/** On the loop, exactly once, never from inside kafka_job_start().
	 * abandoned: work() has not returned, and may still be writing. */
	void (*done)(void *data, bool abandoned);
	/** On either thread, after both: free data. */
	void (*drop)(void *data);
};

/** Start work(data), for at most deadline_ms. ops lives for ever. The job is
 * its own owner: the pointer is good until done() is called. */
struct kafka_job *kafka_job_start(uv_loop_t *loop, uint64_t deadline_ms,
				  const struct kafka_job_ops *ops, void *data);

/** As if its deadline had come. Safe to repeat. */
void kafka_job_abandon(struct kafka_job *job);

#endif
