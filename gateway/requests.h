/**
 * The requests of an app: checked, admitted, and passed to the services.
 */
#ifndef GATEWAY_REQUESTS_H
#define GATEWAY_REQUESTS_H

#include "gateway/session.h"

/* Each answers at once or accepts the request: then it is answered later,
 * exactly once, unless the connection closes before. */

/** A tap: to the batcher, unless the connection knows the packet. */
void requests_grab(struct session *s, uint64_t seq, const Rain__Grab *m);

/** What became of a grab. */
void requests_query_result(struct session *s, uint64_t seq,
			   const Rain__QueryResult *m);

/** What the ledger says. */
void requests_query_balance(struct session *s, uint64_t seq,
			    const Rain__QueryBalance *m);

/** The deadline of r has passed: answer it without the services. */
void requests_late(struct request *r);

#endif
