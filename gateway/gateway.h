/**
 * A gateway: accepts the apps' connections on the caller's loop and hands each
 * to the least loaded of its own loops, which serve them.
 */
#ifndef GATEWAY_GATEWAY_H
#define GATEWAY_GATEWAY_H

#include <uv.h>

#include "gateway/options.h"

struct gateway;

/** Start serving. options stay borrowed. 0, or a code after logging why; then
 * *out is NULL. */
must_check int gateway_new(uv_loop_t *loop,
			   const struct gateway_options *options,
			   struct gateway **out);

/** Where it listens, with the real port. */
const char *gateway_address(const struct gateway *g);

/** Whether requests can be served; else appends a reason per line. */
bool gateway_ready(const struct gateway *g, struct buf *why);

/** The live options have other values: go by the new limits, and read the key
 * file again. If it is bad the old keys stay, and the log says why. */
void gateway_reload(struct gateway *g);

/** Accept nothing more, answer what is in flight, end every connection, then
 * call done(ctx): now gateway_free() is due. Once only. */
void gateway_drain(struct gateway *g, void (*done)(void *ctx), void *ctx);

/** While it drains: append a line about what is not finished yet. */
void gateway_left(const struct gateway *g, struct buf *what);

/** After the drain. Frees itself on the loop's next turn. */
void gateway_free(struct gateway *g);

#endif
