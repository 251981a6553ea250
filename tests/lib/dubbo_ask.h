/**
 * One server and one bare peer that asks it, for tests of what a server says
 * to which bytes.
 */
#ifndef TESTS_LIB_DUBBO_ASK_H
#define TESTS_LIB_DUBBO_ASK_H

#include "lib/dubbo_peer.h"

extern struct peer peer;
extern struct dubbo_server *server;

/** Start the server and connect the peer; end both. */
void begin(const struct dubbo_server_options *o);
void begin_plain(void);
void end(void);

/** Send a request for grab, see put_grab(). */
void ask(uint64_t id, const char *what);
/** Send a request for anything, with one attachment unless key is NULL. */
void ask_other(uint64_t id, const char *path, const char *version,
	       const char *method, const char *types, const char *key,
	       const char *value);
/** The first four of a request that is right. */
#define GRAB "rain.GrabService", "1.0.0", "grab", "Lrain/GrabRequest;"
/** Send a frame of these parts, right or wrong. */
void send_frame(uint8_t flags, uint64_t id, uint32_t length, struct bytes body);

/** Wait for the next frame and fail unless it is this answer; part is part of
 * the error's text. */
void expect_answer(uint64_t id, const char *text);
void expect_error(uint64_t id, uint8_t status, const char *part);
/** It still serves, on this connection. */
void still_serves(void);

#endif
