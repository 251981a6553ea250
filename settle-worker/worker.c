#include "worker.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "settle_metrics.h"
#include "worker_internal.h"

enum {
	FLUSH_TIMEOUT_MS = 2000,
	TICK_MS = 500,
};

/* ---- Stop ---- */

static void closed_cb(uv_handle_t *handle)
{
	struct worker *w = handle->data;
	void (*stopped)(void *ctx) = w->stopped;
	void *ctx = w->stopped_ctx;

	if (--w->handles > 0) {
		return;
	}
	worker_batch_close(w);
	free(w->positions);
	free(w);
	stopped(ctx);
}

static void producer_gone(void *ctx)
{
	struct worker *w = ctx;

	uv_close((uv_handle_t *)&w->timer, closed_cb);
	uv_close((uv_handle_t *)&w->tick, closed_cb);
}

static void left(void *ctx)
{
	struct worker *w = ctx;

	w->leaving = true; /* there will be no other */
	kafka_producer_free(w->producer, FLUSH_TIMEOUT_MS, producer_gone, w);
}

static void consumer_gone(void *ctx)
{
	struct worker *w = ctx;

	w->leaving = false;
	worker_pump(w);
}

void worker_stop(struct worker *w, void (*done)(void *ctx), void *ctx)
{
	check(!w->stopping);
	w->stopping = true;
	w->stopped = done;
	w->stopped_ctx = ctx;
	worker_pump(w);
}

/* ---- What comes next ---- */

static void read_on(struct worker *w)
{
	if (w->dlq.sent_count > 0 && w->dlq.in_flight == 0) {
		worker_begin(w, WORKER_DLQ_MARK);
	} else if (worker_dlq_due(w)) {
		worker_begin(w, WORKER_DLQ_READ);
	} else if (w->assigned && w->readable) {
		if (worker_batch_take(w)) {
			worker_begin(w, WORKER_APPLY);
			return;
		}
		w->readable = false;
		metric_set(&settle_lag_ms, 0);
	}
}

void worker_pump(struct worker *w)
{
	if (w->job != WORKER_IDLE || w->leaving) {
		return;
	}
	if (w->consumer == NULL) {
		if (w->stopping) {
			left(w);
		} else if (worker_consumer_make(w) != 0) {
			w->consumer = NULL; /* the tick tries again */
		}
		return;
	}
	if (w->stopping) {
		worker_consumer_drop(w, left);
		return;
	}
	if (w->revoking) {
		worker_let_go(w);
		kafka_consumer_unassign(w->consumer);
	}
	if (w->restart) {
		worker_consumer_drop(w, consumer_gone);
		return;
	}
	if (w->waiting) {
		return;
	}
	if (w->placing != NULL) {
		worker_begin(w, WORKER_PLACE);
	} else if (w->batch.handle != NULL) {
		worker_begin(w, WORKER_APPLY);
	} else {
		if (w->assigned) {
			worker_commit(w);
		}
		read_on(w);
	}
}

static void tick_cb(uv_timer_t *timer)
{
	worker_pump(timer->data);
}

static void renewed_cb(void *ctx)
{
	(void)ctx; /* each dead letter had its delivered callback */
}

static void start_timers(struct worker *w)
{
	int rv = uv_timer_init(w->loop, &w->timer);

	check(rv == 0); /* it only fills in the handle */
	rv = uv_timer_init(w->loop, &w->tick);
	check(rv == 0);
	w->timer.data = w;
	w->tick.data = w;
	w->handles = 2;
	rv = uv_timer_start(&w->tick, tick_cb, TICK_MS, TICK_MS);
	check(rv == 0); /* it is not closing */
}

int worker_start(uv_loop_t *loop, struct ledger *l,
		 const struct settle_options *options,
		 const struct config_pair *pairs, size_t pair_count,
		 struct worker **out)
{
	struct worker *w = xcalloc(1, sizeof *w);
	int rv;

	*out = NULL;
	w->loop = loop;
	w->ledger = l;
	w->options = options;
	w->pairs = pairs;
	w->pair_count = pair_count;
	w->dlq.wanted = true; /* some may be left from before */
	(void)snprintf(w->group, sizeof w->group, "redrain-settle-%s",
		       ledger_id(l));
	rv = kafka_producer_new(loop, WORKER_BOOTSTRAP, pairs, pair_count,
				worker_dlq_delivered, renewed_cb, w,
				&w->producer);
	if (rv != 0) {
		free(w);
		return rv;
	}
	worker_batch_init(w);
	start_timers(w);
	rv = worker_consumer_make(w);
	/* With a producer at work it can only be stopped, not just freed. */
	*out = w;
	return rv;
}

bool worker_ready(const struct worker *w, struct buf *why)
{
	if (w->failing) {
		buf_printf(why, "consumption is paused: %s\n", w->why);
		return false;
	}
	if (!w->assigned) {
		buf_printf(why, "Kafka has assigned no partitions yet\n");
		return false;
	}
	return true;
}

bool worker_caught_up(const struct worker *w)
{
	return w->assigned && !w->readable && !w->failing &&
	       w->job == WORKER_IDLE;
}

void worker_rejoin(struct worker *w)
{
	if (w->assigned) {
		log_warn("what was asked for did not come, joining the group "
			 "again");
		w->restart = true;
		worker_pump(w);
	}
}

const char *worker_cluster_id(const struct worker *w)
{
	return w->cluster_id;
}
