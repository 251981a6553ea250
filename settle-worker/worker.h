/**
 * The worker: takes messages from Kafka, applies them to the ledger in one
 * transaction per batch, one batch at a time.
 *
 *   readable -> take -> (thread) read, apply, commit -> release -> take ...
 *
 * A batch is what is there, up to a bound: a lone win is credited at once, and
 * a backlog in few large transactions. Where to read on is what the ledger
 * says; Kafka's own offsets are a copy for monitoring. While the database
 * fails, the batch is kept, consumption is paused and the same batch is tried
 * again.
 */
#ifndef SETTLE_WORKER_WORKER_H
#define SETTLE_WORKER_WORKER_H

#include <uv.h>

#include "base/config.h"
#include "ledger.h"
#include "options.h"

struct worker;

/** Starts consuming. options, pairs and l must outlive the worker. 0, or a code
 * after logging why: then *out is NULL or is to be stopped all the same. */
must_check int worker_start(uv_loop_t *loop, struct ledger *l,
			    const struct settle_options *options,
			    const struct config_pair *pairs, size_t pair_count,
			    struct worker **out);

/** Whether claims are being credited; else appends a reason per line. */
bool worker_ready(const struct worker *w, struct buf *why);

/** Whether everything that is here was applied. */
bool worker_caught_up(const struct worker *w);

/** Leave the group and join it again: librdkafka may wait for ever for
 * partitions of a topic that was deleted and made anew. */
void worker_rejoin(struct worker *w);

/** Kafka's cluster id, "" while it is not known. */
const char *worker_cluster_id(const struct worker *w);

/** Finish the transaction under way, leave the group, then done(ctx); frees the
 * worker. */
void worker_stop(struct worker *w, void (*done)(void *ctx), void *ctx);

#endif
