#include "client/kafka_job.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"

/* What the loop and the thread both hold. */
struct shared {
	pthread_mutex_t lock;            /* over the two below */
	int refs;                        /* the loop, the thread */
	uv_async_t *finished;            /* NULL once abandoned */
	const struct kafka_job_ops *ops; /* not changed, as data */
	void *data;
};

struct kafka_job {
	uv_async_t finished;   /* sent by the thread */
	uv_timer_t deadline;   /* runs until finished */
	int open;              /* handles not yet closed */
	bool closing;          /* uv_close() was called on both */
	bool abandoned;        /* closing came before finished */
	struct shared *shared; /* one of its two references */
};

static void let_go(struct shared *s)
{
	int refs;

	pthread_mutex_lock(&s->lock);
	refs = --s->refs;
	pthread_mutex_unlock(&s->lock);
	if (refs == 0) {
		s->ops->drop(s->data);
		pthread_mutex_destroy(&s->lock);
		free(s);
	}
}

static void *run(void *arg)
{
	struct shared *s = arg;

	s->ops->work(s->data);
	pthread_mutex_lock(&s->lock);
	if (s->finished != NULL) {
		(void)uv_async_send(s->finished);
	}
	pthread_mutex_unlock(&s->lock);
	let_go(s);
	return NULL;
}

static void close_cb(uv_handle_t *handle)
{
	struct kafka_job *job = handle->data;

	if (--job->open > 0) {
		return;
	}
	job->shared->ops->done(job->shared->data, job->abandoned);
	let_go(job->shared);
	free(job);
}

static void finish(struct kafka_job *job, bool abandoned)
{
	if (job->closing) {
		return;
	}
	job->closing = true;
	job->abandoned = abandoned;
	/* The thread must not send to a handle that is closing. */
	pthread_mutex_lock(&job->shared->lock);
	job->shared->finished = NULL;
	pthread_mutex_unlock(&job->shared->lock);
	uv_close((uv_handle_t *)&job->finished, close_cb);
	uv_close((uv_handle_t *)&job->deadline, close_cb);
}

static void finished_cb(uv_async_t *async)
{
	finish(async->data, false);
}

static void deadline_cb(uv_timer_t *timer)
{
	finish(timer->data, true);
}

void kafka_job_abandon(struct kafka_job *job)
{
	finish(job, true);
}

/* A detached thread that takes no signals: they are the loop's. */
static int spawn(struct shared *s)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all;
	sigset_t before;
	int rv;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rv = pthread_create(&thread, &attr, run, s);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return uv_translate_sys_error(rv);
}

struct kafka_job *kafka_job_start(uv_loop_t *loop, uint64_t deadline_ms,
				  const struct kafka_job_ops *ops, void *data)
{
	struct kafka_job *job = xcalloc(1, sizeof(*job));
	struct shared *s = xcalloc(1, sizeof(*s));
	int rv;

	pthread_mutex_init(&s->lock, NULL);
	s->refs = 2;
	s->finished = &job->finished;
	s->ops = ops;
	s->data = data;
	job->shared = s;
	job->open = 2;
	rv = uv_async_init(loop, &job->finished, finished_cb);
	check(rv == 0); /* the loop has its pipe already, or none can run */
	job->finished.data = job;
	rv = uv_timer_init(loop, &job->deadline);
	check(rv == 0); /* it only fills in the handle */
	job->deadline.data = job;
	rv = uv_timer_start(&job->deadline, deadline_cb, deadline_ms, 0);
	check(rv == 0); /* it is not closing */
	rv = spawn(s);
	if (rv != 0) {
		log_error("no thread for a call of librdkafka", log_err(rv));
		finish(job, true);
		let_go(s);
	}
	return job;
}
