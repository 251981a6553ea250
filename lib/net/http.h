/**
 * A small HTTP server for pages that machines ask for: GET and HEAD only,
 * answered on a thread of its own, a bounded number of connections.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include "base/buf.h"

/* What a handler fills in; preset to 404 and an empty text/plain. */
struct http_answer {
	unsigned status;
	const char *type; /* static text */
	struct buf body;  /* belongs to the server */
};

/** Answer path ("/metrics", without the query). Runs on the server's thread. */
typedef void (*http_handler_cb)(void *ctx, const char *path,
				struct http_answer *answer);

struct http;

/**
 * Listen on address ("127.0.0.1:9100", "[::1]:9100", "name:9100"; port 0 picks
 * one) and serve until http_stop(). Resolves names, so call it at start-up
 * only. 0 or a libuv code, then *out is NULL.
 */
must_check int http_start(const char *address, http_handler_cb handler,
			  void *ctx, struct http **out);

/** The address it got; valid while the server lives. */
const char *http_address(const struct http *h);

/** Close all connections and end the thread; no handler runs afterwards. NULL
 * is fine. */
void http_stop(struct http *h);

#endif
