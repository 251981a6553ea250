#include "lib/cut_proxy.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include <utlist.h>

enum { BYTES_MAX = 16 * 1024 * 1024, CONNECT_MS = 5000 };

struct cut_pair {
	struct stream client;
	struct stream server;
	struct cut_proxy *proxy;
	bool armed; /* the next bytes of the server are lost */
	int open;   /* of the two streams */
	struct cut_pair *next;
	struct cut_pair *prev;
};

static void close_both(struct cut_pair *c)
{
	stream_close(&c->client, 0);
	stream_close(&c->server, 0);
}

static void closed(struct cut_pair *c)
{
	c->open--;
	if (c->open > 0) {
		close_both(c);
		return;
	}
	if (c->proxy != NULL) {
		DL_DELETE(c->proxy->pairs, c);
	}
	free(c);
}

static size_t from_client(struct stream *s, struct bytes data)
{
	struct cut_pair *c = container_of(s, struct cut_pair, client);
	struct cut_proxy *p = c->proxy;

	if (p != NULL && p->text != NULL &&
	    memmem(data.p, data.n, p->text, strlen(p->text)) != NULL) {
		p->text = NULL;
		c->armed = true;
	}
	stream_send(&c->server, data);
	return data.n;
}

static size_t from_server(struct stream *s, struct bytes data)
{
	struct cut_pair *c = container_of(s, struct cut_pair, server);

	if (c->armed) {
		if (c->proxy != NULL) {
			c->proxy->cuts++;
		}
		close_both(c);
	} else {
		stream_send(&c->client, data);
	}
	return data.n;
}

static void client_close(struct stream *s, int why)
{
	(void)why;
	closed(container_of(s, struct cut_pair, client));
}

static void server_close(struct stream *s, int why)
{
	(void)why;
	closed(container_of(s, struct cut_pair, server));
}

/* What the client says before is not read until there is a server. */
static void server_open(struct stream *s)
{
	struct cut_pair *c = container_of(s, struct cut_pair, server);

	stream_resume(&c->client);
}

static void accepted(void *ctx, int fd)
{
	static const struct stream_ops client_ops = {
		.on_data = from_client,
		.on_close = client_close,
	};
	static const struct stream_ops server_ops = {
		.on_data = from_server,
		.on_open = server_open,
		.on_close = server_close,
	};
	struct cut_proxy *p = ctx;
	struct cut_pair *c = xcalloc(1, sizeof(*c));

	c->proxy = p;
	c->open = 2;
	DL_APPEND(p->pairs, c);
	stream_start(&c->client, p->hub, fd, &client_ops, BYTES_MAX, BYTES_MAX);
	stream_pause(&c->client);
	stream_connect(&c->server, p->hub, p->server, CONNECT_MS, &server_ops,
		       BYTES_MAX, BYTES_MAX);
}

void cut_proxy_open(struct cut_proxy *p, struct stream_hub *hub,
		    const char *address, const char *server)
{
	int rv;

	*p = (struct cut_proxy){ .hub = hub, .server = server };
	rv = listener_new(stream_hub_loop(hub), address, accepted, p,
			  &p->listener);
	cr_assert_eq(rv, 0);
}

void cut_proxy_arm(struct cut_proxy *p, const char *text)
{
	p->text = text;
}

void cut_proxy_close(struct cut_proxy *p)
{
	struct cut_pair *c, *next;

	listener_free(p->listener);
	DL_FOREACH_SAFE(p->pairs, c, next)
	{
		c->proxy = NULL;
		close_both(c);
	}
	p->pairs = NULL;
}
