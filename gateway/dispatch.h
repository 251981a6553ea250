/**
 * What an app asked for: one message of a frame, checked and passed on.
 */
#ifndef GATEWAY_DISPATCH_H
#define GATEWAY_DISPATCH_H

#include "gateway/session.h"

/** Take one message. Answers it, accepts it as a request, or says with an
 * Error what is wrong with it; may end s. */
void dispatch(struct session *s, struct bytes body);

#endif
