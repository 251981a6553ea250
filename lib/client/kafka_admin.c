#include "client/kafka_admin.h"

#include <stdarg.h>
#include <stdlib.h>
#include <utlist.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/kafka_conf.h"

enum {
	JOB_GRACE_MS = 2000, /* the calls inside keep the deadline themselves */
};

int kafka_admin_left(const struct kafka_admin_call *call)
{
	uint64_t now = clock_mono_ms();

	return now < call->deadline_ms ? (int)(call->deadline_ms - now) : 0;
}

void kafka_admin_failed(struct kafka_admin_call *call, int error,
			const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	call->error = error;
	(void)vsnprintf(call->why, sizeof(call->why), fmt, args);
	va_end(args);
}

const struct rd_kafka_metadata *kafka_admin_metadata(struct kafka_admin_call *c)
{
	const struct rd_kafka_metadata *metadata = NULL;
	rd_kafka_resp_err_t rv;

	/* All topics: asking for one by name would make some brokers create
	 * it, with their defaults. */
	rv = rd_kafka_metadata(c->rk, 1, NULL, &metadata, kafka_admin_left(c));
	if (rv != 0) {
		kafka_admin_failed(c, ERR_NOT_READY, "no broker answers: %s",
				   rd_kafka_err2str(rv));
		return NULL;
	}
	return metadata;
}

static void work(void *data)
{
	struct kafka_admin_call *call = data;

	call->rk = kafka_client_new(RD_KAFKA_PRODUCER, call->conf);
	if (call->rk == NULL) {
		kafka_admin_failed(call, ERR_CONFIG, "no Kafka client");
		return;
	}
	call->work(call);
	rd_kafka_destroy(call->rk);
}

static void done(void *data, bool abandoned)
{
	struct kafka_admin_call *call = data;
	struct kafka_producer *p = call->p;

	DL_DELETE(p->calls, call);
	if (!abandoned) {
		call->done(call, call->error, call->why);
	} else if (p->freeing) {
		call->done(call, UV_ECANCELED, "the producer is closed");
	} else {
		call->done(call, ERR_TIMEOUT, "no answer in time");
	}
	kafka_producer_ended(p);
}

static void drop(void *data)
{
	struct kafka_admin_call *call = data;

	for (size_t i = 0; i < call->topic_count; i++) {
		free(call->names[i]);
	}
	rd_kafka_conf_destroy(call->conf);
	free(call->names);
	free(call->specs);
	free(call->ends);
	free(call);
}

static const struct kafka_job_ops ops = {
	.work = work,
	.done = done,
	.drop = drop,
};

/* The producer's connection properties, without what only it needs. */
static rd_kafka_conf_t *conf_of(const struct kafka_producer *p)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_dup(p->conf);

	(void)rd_kafka_conf_set(conf, "enable.idempotence", "false", NULL, 0);
	(void)rd_kafka_conf_set(conf, "statistics.interval.ms", "0", NULL, 0);
	rd_kafka_conf_set_events(conf, 0);
	return conf;
}

void kafka_admin_start(struct kafka_producer *p, struct kafka_admin_call *call,
		       uint64_t timeout_ms)
{
	check(!p->freeing);
	call->p = p;
	call->conf = conf_of(p);
	call->deadline_ms = clock_mono_ms() + timeout_ms;
	p->open++;
	DL_APPEND(p->calls, call);
	call->job =
		kafka_job_start(p->loop, timeout_ms + JOB_GRACE_MS, &ops, call);
}

void kafka_admin_cancel(struct kafka_producer *p)
{
	struct kafka_admin_call *call;

	DL_FOREACH(p->calls, call)
	{
		kafka_job_abandon(call->job);
	}
}
