/**
 * Questions to the ledger, off the loop: a few reading connections, a queue in
 * front of them that has a bound.
 */
#ifndef SETTLE_WORKER_READS_H
#define SETTLE_WORKER_READS_H

#include <uv.h>

#include "ledger.h"

struct reads;

/* A question; embedded in what the asker needs. */
struct read_job {
	/** In a thread: ask the reader; what it returns goes to done(). */
	int (*work)(struct read_job *job, struct ledger_reader *r);
	/** On the loop: 0, ERR_STORE, or ERR_TIMEOUT when the deadline had
	 * passed before a reader was free (work was not called). The job is
	 * the asker's again. */
	void (*done)(struct read_job *job, int rv);
	uint64_t deadline; /* uv_now() after which it is not begun; 0 none */
	/* Internal. */
	struct read_job *prev;
	struct read_job *next;
	int rv;
};

/** connections to the ledger; at most queue_max jobs wait. 0 or ERR_STORE. */
must_check int reads_new(uv_loop_t *loop, struct ledger *l, size_t connections,
			 size_t queue_max, struct reads **out);

/** False, and nothing done, when too many wait. done() comes later. */
must_check bool reads_submit(struct reads *r, struct read_job *job);

/** When no job is left: close the connections, then done(ctx). Jobs that were
 * submitted still run; new ones are refused. */
void reads_free(struct reads *r, void (*done)(void *ctx), void *ctx);

#endif
