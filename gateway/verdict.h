/**
 * What a service's answer, or its absence, means for the app that asked. Pure
 * decisions; an outcome that is not known is never guessed.
 */
#ifndef GATEWAY_VERDICT_H
#define GATEWAY_VERDICT_H

#include "client/dubbo_client.h"
#include "rain/gateway.pb-c.h"

enum verdict {
	VERDICT_VALUE,    /* the provider's message is the answer */
	VERDICT_NOT_SENT, /* not executed: another provider may be asked */
	VERDICT_LOST,     /* it may have been executed: the same grab again */
	VERDICT_REFUSED,  /* not executed, and asking again does not help */
	VERDICT_UNKNOWN,  /* it may have been executed, and asking again does
			   * not help */
};

/** result is read only with DUBBO_DONE. */
enum verdict verdict_of(enum dubbo_outcome outcome,
			const struct dubbo_result *result);

/**
 * The reply that an app gets for a service's: a packet only with WON and
 * ALREADY_GRABBED and never without, no status that this gateway does not
 * know, no text longer than 512 bytes. What contradicts itself is PENDING.
 * earlier: another call with this grab may have been executed, or still will
 * be, once the activity opens or goes on. So what says that it was not, and is
 * not for good, becomes PENDING. out borrows from in; retry_ms is used where a
 * wait is due and in has none.
 */
void verdict_reply(const Rain__GrabReply *in, bool earlier, uint32_t retry_ms,
		   Rain__GrabReply *out);

#endif
