/**
 * Questions of one user to a service: what became of a grab, and the balance.
 * They change nothing, so they may be asked again whenever there is time.
 */
#ifndef GATEWAY_ASK_H
#define GATEWAY_ASK_H

#include "gateway/request.h"

/** Ask on behalf of r, an open REQUEST_RESULT or REQUEST_BALANCE, and answer
 * it; takes r over. */
void ask_services(struct request *r);

#endif
