/**
 * Between a client and a server on one loop: passes bytes both ways until a
 * request has some text in it; then the reply is swallowed and the connection
 * closed, as if the network had lost it. New connections pass again.
 */
#ifndef TESTS_LIB_CUT_PROXY_H
#define TESTS_LIB_CUT_PROXY_H

#include "net/stream.h"

struct cut_pair;

struct cut_proxy {
	struct stream_hub *hub;
	struct listener *listener;
	const char *server;     /* address of the server */
	const char *text;       /* to look for, NULL: pass everything */
	int cuts;               /* so far */
	struct cut_pair *pairs; /* connections, utlist */
};

/** Listen at address ("unix:/path"); both addresses stay borrowed. */
void cut_proxy_open(struct cut_proxy *p, struct stream_hub *hub,
		    const char *address, const char *server);
/** Cut the reply to the next request with this text, once. */
void cut_proxy_arm(struct cut_proxy *p, const char *text);
/** Close; turn the loop afterwards. */
void cut_proxy_close(struct cut_proxy *p);

#endif
