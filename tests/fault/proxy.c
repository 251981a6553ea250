#include "fault/proxy.h"

#include <stdlib.h>

#include "fault/proxy_pair.h"

enum { BACKLOG = 512 };

static void accept_cb(uv_stream_t *listener, int status)
{
	if (status == 0) {
		pair_accept(listener->data);
	}
}

static void listener_closed_cb(uv_handle_t *handle)
{
	free(handle);
}

static void refuse(struct proxy *p)
{
	if (p->listener != NULL) {
		uv_close((uv_handle_t *)p->listener, listener_closed_cb);
		p->listener = NULL;
	}
}

static int take(struct proxy *p)
{
	struct sockaddr_in sa;
	int rv;

	if (p->listener != NULL) {
		return 0;
	}
	p->listener = xcalloc(1, sizeof *p->listener);
	rv = uv_tcp_init(p->loop, p->listener);
	check(rv == 0); /* creates no socket, so cannot fail */
	p->listener->data = p;
	pair_address(p->port, &sa);
	rv = uv_tcp_bind(p->listener, (const struct sockaddr *)&sa, 0);
	if (rv == 0) {
		rv = uv_listen((uv_stream_t *)p->listener, BACKLOG, accept_cb);
	}
	if (rv != 0) {
		refuse(p);
	}
	return rv;
}

int proxy_open(struct proxy *p, uv_loop_t *loop, int port, int target)
{
	*p = (struct proxy){ .loop = loop, .port = port, .target = target };
	return take(p);
}

/* Tell all connections of the fault that p has now. */
static void update_all(struct proxy *p, bool limits)
{
	struct pair *next;

	for (struct pair *pair = p->pairs; pair != NULL; pair = next) {
		next = pair_next(pair);
		pair_update(pair, limits);
	}
}

static void close_all(struct proxy *p, bool hard)
{
	while (p->pairs != NULL) {
		pair_close(p->pairs, hard);
	}
}

int proxy_pass(struct proxy *p)
{
	p->delay_ms = 0;
	p->stalled[PROXY_UP] = p->stalled[PROXY_DOWN] = false;
	p->drop_after = 0;
	update_all(p, true);
	return take(p);
}

int proxy_delay(struct proxy *p, uint64_t ms)
{
	int rv = proxy_pass(p);

	p->delay_ms = ms;
	return rv;
}

void proxy_cut(struct proxy *p)
{
	refuse(p);
	close_all(p, false);
}

int proxy_stall(struct proxy *p, enum proxy_direction d)
{
	int rv = proxy_pass(p);

	p->stalled[d] = true;
	update_all(p, false);
	return rv;
}

int proxy_reset(struct proxy *p)
{
	int rv = proxy_pass(p);

	close_all(p, true);
	return rv;
}

int proxy_drop_after(struct proxy *p, uint64_t bytes)
{
	int rv = proxy_pass(p);

	check(bytes > 0);
	p->drop_after = bytes;
	update_all(p, true);
	return rv;
}

void proxy_close(struct proxy *p)
{
	refuse(p);
	close_all(p, true);
}
