/**
 * The grabs of one turn of a loop leave in one call. There is no timer: what
 * was read in a turn is sent at its end, so a lone grab waits for nothing, and
 * the busier the loop, the more go together.
 */
#ifndef GATEWAY_BATCHER_H
#define GATEWAY_BATCHER_H

#include "gateway/request.h"

struct batcher {
	struct gateway_loop *loop;
	struct request *first; /* of this turn, in order of arrival */
	struct request **last; /* where the next one is linked */
	size_t count;
};

/** Start empty; l is borrowed and lives longer. */
void batcher_init(struct batcher *b, struct gateway_loop *l);

/** Add an open REQUEST_GRAB; takes r over. */
void batcher_add(struct batcher *b, struct request *r);

/** The end of a turn: send what was added. */
void batcher_flush(struct batcher *b);

/** Ask the grab-services for the time only. */
void batcher_probe(struct batcher *b);

#endif
