/**
 * One connection through a proxy: both ends, and the bytes between them.
 */
#ifndef TESTS_FAULT_PROXY_PAIR_H
#define TESTS_FAULT_PROXY_PAIR_H

#include "fault/proxy.h"

/** Accept what waits at the proxy's listener and connect to its target; the
 * pair is in p->pairs until it closes, and frees itself. */
void pair_accept(struct proxy *p);

/** Let what waits go on, or stop: the proxy's fault has changed. limits says
 * that the bytes until the cut are counted anew. May close the pair. */
void pair_update(struct pair *pair, bool limits);

/** Close both ends, with RST if hard, and forget the pair. */
void pair_close(struct pair *pair, bool hard);

/** The next one in p->pairs. */
struct pair *pair_next(const struct pair *pair);

/** The address of a port of 127.0.0.1. */
void pair_address(int port, struct sockaddr_in *sa);

#endif
