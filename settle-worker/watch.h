/**
 * The watch over gaps: claims that Kafka should have brought and did not (a
 * lost topic, a new cluster) are asked for again at the grab-service. The same
 * look feeds the metrics that set Redis, Kafka and ledger side by side.
 */
#ifndef SETTLE_WORKER_WATCH_H
#define SETTLE_WORKER_WATCH_H

#include "net/stream.h"
#include "options.h"
#include "reads.h"

struct watch;

struct watch_deps {
	uv_loop_t *loop;
	struct stream_hub *hub;
	struct reads *reads;
	const struct settle_options *options;
	/** Whether all messages that are here were applied: only then does a
	 * gap grow older. */
	bool (*caught_up)(void *ctx);
	/** What was asked for has not come: perhaps nothing comes any more. */
	void (*nothing_came)(void *ctx);
	void *ctx;
};

/** Starts looking. deps are copied, what they point at must outlive the
 * watch. With no addresses of grab-services nothing is asked for. 0, or
 * ERR_CONFIG after logging which address is bad. */
must_check int watch_start(const struct watch_deps *deps, struct watch **out);

/** Ends the calls under way; done(ctx) when nothing is left. */
void watch_stop(struct watch *w, void (*done)(void *ctx), void *ctx);

#endif
