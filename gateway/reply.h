/**
 * What a gateway says to an app: every ServerMessage is made here. All are
 * quietly dropped on a connection that is closing.
 */
#ifndef GATEWAY_REPLY_H
#define GATEWAY_REPLY_H

#include "gateway/request.h"
#include "gateway/session.h"

/** An Error. seq 0: about the connection as a whole. retry_ms 0: it tells
 * nothing of when to try again. */
void reply_error(struct session *s, uint64_t seq, Rain__ErrorCode code,
		 const char *message, uint32_t retry_ms);

/** The answer to a good Hello, from what s now is. */
void reply_hello(struct session *s, uint64_t seq);
/** The answer to a Ping: the server's time. */
void reply_pong(struct session *s, uint64_t seq);

/** The answer to a Grab. */
void reply_grab(struct session *s, uint64_t seq, const Rain__GrabReply *reply);

/** The answer to a request of any kind that carries no more than a status;
 * waits as long as the options say where the status is not final. */
void reply_status(struct session *s, uint64_t seq, enum request_kind kind,
		  Rain__Status status, const char *message);

/** The answer to a request that came too fast and will never be executed. */
void reply_too_fast(struct session *s, uint64_t seq, enum request_kind kind,
		    const char *message, uint32_t retry_ms);

/** Answer an open REQUEST_GRAB or REQUEST_RESULT and detach it. */
void reply_request(struct request *r, const Rain__GrabReply *m);
/** Answer an open REQUEST_BALANCE and detach it. */
void reply_request_balance(struct request *r, int64_t balance_cents,
			   struct bytes currency);
/** Answer an open request of any kind as reply_status() does, and detach
 * it. */
void reply_request_status(struct request *r, Rain__Status status,
			  const char *message);

#endif
