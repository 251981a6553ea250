/**
 * Hello: who speaks on a connection, and for how long.
 */
#ifndef GATEWAY_HELLO_H
#define GATEWAY_HELLO_H

#include "gateway/session.h"

/** Take a Hello, the first or one that renews the token. A bad one ends s. */
void hello_take(struct session *s, uint64_t seq, const Rain__Hello *m);

#endif
