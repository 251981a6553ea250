/* From an address to an open stream: resolve the name, then try what it means
 * one after the other, all within one timeout. */
#include "net/stream.h"

#include <stdlib.h>

#include "net/address.h"
#include "net/stream_internal.h"

/* Off the loop's thread: lives until the resolver is done, whatever becomes
 * of the stream. */
struct resolve {
	uv_getaddrinfo_t req;
	struct stream *s; /* NULL once nobody waits any more */
};

struct connecting {
	uv_connect_t req;
	struct stream *s;
	struct resolve *resolve;   /* under way, or NULL */
	struct addrinfo *list;     /* of a name; owned */
	const struct addrinfo *at; /* what is tried now; NULL: no list */
};

static void try_address(struct stream *s, const struct sockaddr *sock);

void stream_connect_stop(struct stream *s)
{
	struct connecting *c = s->connecting;

	if (c != NULL && c->resolve != NULL) {
		c->resolve->s = NULL;
		(void)uv_cancel((uv_req_t *)&c->resolve->req);
		c->resolve = NULL;
	}
}

void stream_connect_end(struct stream *s)
{
	struct connecting *c = s->connecting;

	if (c == NULL) {
		return;
	}
	check(c->resolve == NULL);
	if (c->list != NULL) {
		uv_freeaddrinfo(c->list);
	}
	free(c);
	s->connecting = NULL;
}

static void closed_cb(uv_handle_t *handle)
{
	struct stream *s = handle->data;
	struct connecting *c = s->connecting;

	if (s->closing) {
		stream_closed_cb(handle);
		return;
	}
	check(uv_tcp_init(s->hub->loop, &s->uv.tcp) == 0);
	s->uv.handle.data = s;
	try_address(s, c->at->ai_addr);
}

/* A TCP handle connects once only: the next address needs a new one. */
static void try_next(struct stream *s, int why)
{
	struct connecting *c = s->connecting;

	if (c->at != NULL) {
		c->at = c->at->ai_next;
	}
	if (c->at == NULL) {
		stream_close(s, why);
		return;
	}
	uv_close(&s->uv.handle, closed_cb);
}

static void connect_cb(uv_connect_t *req, int status)
{
	struct connecting *c = container_of(req, struct connecting, req);
	struct stream *s = c->s;

	if (s->closing) {
		return; /* stream_closed_cb() comes next and frees c */
	}
	if (status != 0) {
		try_next(s, status);
		return;
	}
	stream_connect_end(s);
	if (!s->finishing) {
		stream_timer_stop(s);
	}
	stream_opened(s);
	if (!s->closing && !s->finishing && s->ops->on_open != NULL) {
		s->ops->on_open(s);
	}
}

static void try_address(struct stream *s, const struct sockaddr *sock)
{
	struct connecting *c = s->connecting;
	int rv;

	rv = uv_tcp_connect(&c->req, &s->uv.tcp, sock, connect_cb);
	if (rv != 0) {
		try_next(s, rv);
	}
}

static void resolve_cb(uv_getaddrinfo_t *req, int status, struct addrinfo *list)
{
	struct resolve *r = container_of(req, struct resolve, req);
	struct stream *s = r->s;
	struct connecting *c;

	free(r);
	if (s == NULL) {
		uv_freeaddrinfo(list);
		return;
	}
	c = s->connecting;
	c->resolve = NULL;
	c->list = list;
	c->at = list;
	if (status != 0 || list == NULL) {
		stream_close(s, status != 0 ? status : UV_EAI_NONAME);
		return;
	}
	try_address(s, list->ai_addr);
}

static void resolve(struct stream *s, const struct address *a)
{
	struct connecting *c = s->connecting;
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV,
	};
	struct resolve *r = xmalloc(sizeof(*r));
	int rv;

	r->s = s;
	c->resolve = r;
	rv = uv_getaddrinfo(s->hub->loop, &r->req, resolve_cb, a->host, a->port,
			    &hints);
	if (rv != 0) {
		free(r);
		c->resolve = NULL;
		stream_close(s, rv);
	}
}

void stream_connect(struct stream *s, struct stream_hub *hub,
		    const char *address, uint64_t timeout_ms,
		    const struct stream_ops *ops, size_t in_max, size_t out_max)
{
	struct connecting *c = xcalloc(1, sizeof(*c));
	struct address a;
	int rv;

	stream_reset(s, hub, ops, in_max, out_max);
	c->s = s;
	s->connecting = c;
	rv = address_parse(address, &a);
	if (rv == 0 && a.kind == ADDRESS_UNIX) {
		check(uv_pipe_init(hub->loop, &s->uv.pipe, 0) == 0);
	} else {
		check(uv_tcp_init(hub->loop, &s->uv.tcp) == 0);
	}
	s->uv.handle.data = s;
	if (rv != 0) {
		stream_close(s, rv);
		return;
	}
	stream_timer_start(s, timeout_ms);
	switch (a.kind) {
	case ADDRESS_UNIX:
		uv_pipe_connect(&c->req, &s->uv.pipe, a.path, connect_cb);
		break;
	case ADDRESS_IP:
		try_address(s, (const struct sockaddr *)&a.sock);
		break;
	case ADDRESS_NAME:
		resolve(s, &a);
		break;
	}
}
