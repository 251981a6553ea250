/**
 * The audit, round after round: its steps run in the threads of `reads`, what
 * they find is logged once, counted, and kept for those who ask.
 */
#ifndef SETTLE_WORKER_AUDITOR_H
#define SETTLE_WORKER_AUDITOR_H

#include "options.h"
#include "reads.h"

/* The caller's memory, zeroed; its inside is internal. */
struct auditor {
	struct reads *reads;
	uint64_t every_ms; /* between the beginnings of two rounds */
	uv_timer_t timer;
	struct read_job job;
	bool busy;
	uint64_t took_ms;    /* the last step */
	uint64_t rest_until; /* uv_now(): none before */
	bool failing;        /* the last step could not read */
	struct audit round;
	struct audit last; /* the round before it that was done */
	struct audit news; /* what is to be told */
	bool told;         /* there are news */
	uint64_t began;    /* uv_now() of the round */
	size_t named;      /* findings of the round that were seen */
	bool closed;
	void (*stopped)(void *ctx);
	void *stopped_ctx;
};

/** Begin; reads must outlive it until it is stopped. */
void auditor_start(struct auditor *a, uv_loop_t *loop, struct reads *reads,
		   const struct settle_options *options);

/** done(ctx) when no step is under way any more. The news stay readable. */
void auditor_stop(struct auditor *a, void (*done)(void *ctx), void *ctx);

/** What contradicts the books: 0 in sound ones, -1 before the first round. A
 * finding counts at once, and until a round ends without it. */
int64_t auditor_violations(const struct auditor *a);
/** The first of them as a sentence, or nothing. */
void auditor_first(const struct auditor *a, struct buf *out);

/** Add what was found about an activity to its alarm. */
void auditor_alarm(const struct auditor *a, struct ledger_totals *t);

#endif
