/* A listening socket: accept, hand over, and survive running out of files. */
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "net/address.h"
#include "net/stream.h"

enum {
	BACKLOG = 4096,      /* the kernel lowers it to somaxconn */
	ACCEPTS_A_TURN = 64, /* so that a storm leaves time for the others */
	OUT_OF_FILES_MS = 100,
};

struct listener {
	int fd;
	uv_poll_t poll;
	uv_timer_t retry; /* runs while accepting is paused */
	listener_cb on_accept;
	void *ctx;
	int handles; /* not closed yet */
	bool closing;
	bool out_of_files;           /* said so in the log */
	char path[ADDRESS_PATH_MAX]; /* to unlink; "" if none */
	char address[ADDRESS_TEXT_MAX];
};

static void retry_cb(uv_timer_t *handle);

static void accept_one(struct listener *l, bool *more)
{
	int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd >= 0) {
		if (l->out_of_files) {
			l->out_of_files = false;
			log_info("accepting goes on",
				 log_str("address", l->address));
		}
		l->on_accept(l->ctx, fd);
		return;
	}
	switch (errno) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		/* The connection stays in the queue and would wake us again
		 * at once, for nothing. */
		if (!l->out_of_files) {
			log_warn("out of files, accepting is paused",
				 log_str("address", l->address),
				 log_err(-errno));
			l->out_of_files = true;
		}
		(void)uv_poll_stop(&l->poll);
		(void)uv_timer_start(&l->retry, retry_cb, OUT_OF_FILES_MS, 0);
		*more = false;
		break;
	case EAGAIN:
		*more = false;
		break;
	default:
		break; /* about that one connection, which is gone already */
	}
}

static void poll_cb(uv_poll_t *handle, int status, int events)
{
	struct listener *l = handle->data;
	bool more = true;

	(void)status; /* accept4() says it again */
	(void)events;
	for (int i = 0; i < ACCEPTS_A_TURN && more && !l->closing; i++) {
		accept_one(l, &more);
	}
}

static void retry_cb(uv_timer_t *handle)
{
	struct listener *l = handle->data;

	(void)uv_poll_start(&l->poll, UV_READABLE, poll_cb);
}

/* A socket file that nobody listens on is left over from a crash. */
static void remove_stale(const struct sockaddr_un *sun)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) {
		return;
	}
	if (connect(fd, (const struct sockaddr *)sun, sizeof(*sun)) != 0 &&
	    errno == ECONNREFUSED) {
		(void)unlink(sun->sun_path);
	}
	(void)close(fd);
}

static int bind_and_listen(const struct sockaddr *sock, socklen_t len, int *out)
{
	int one = 1;
	int rv;
	int fd = socket(sock->sa_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0) {
		return -errno;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, sock, len) != 0 || listen(fd, BACKLOG) != 0) {
		rv = -errno;
		(void)close(fd);
		return rv;
	}
	*out = fd;
	return 0;
}

static int listen_unix(struct listener *l, const struct address *a)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int rv;

	memcpy(sun.sun_path, a->path, sizeof(sun.sun_path));
	remove_stale(&sun);
	rv = bind_and_listen((struct sockaddr *)&sun, sizeof(sun), &l->fd);
	if (rv == 0) {
		memcpy(l->path, a->path, sizeof(l->path));
		snprintf(l->address, sizeof(l->address), "unix:%s", a->path);
	}
	return rv;
}

static int listen_ip(struct listener *l, const struct sockaddr *sock,
		     socklen_t len)
{
	struct sockaddr_storage got;
	socklen_t got_len = sizeof(got);
	int rv = bind_and_listen(sock, len, &l->fd);

	if (rv == 0) {
		check(getsockname(l->fd, (struct sockaddr *)&got, &got_len) ==
		      0);
		address_format(&got, l->address);
	}
	return rv;
}

static int listen_name(struct listener *l, const struct address *a)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE | AI_NUMERICSERV,
	};
	struct addrinfo *list = NULL;
	int rv = UV_EAI_NONAME;

	if (getaddrinfo(a->host, a->port, &hints, &list) != 0) {
		return UV_EAI_NONAME;
	}
	for (struct addrinfo *i = list; i != NULL && rv != 0; i = i->ai_next) {
		rv = listen_ip(l, i->ai_addr, i->ai_addrlen);
	}
	freeaddrinfo(list);
	return rv;
}

static int listen_on(struct listener *l, const char *address)
{
	struct address a;
	int rv = address_parse(address, &a);

	if (rv != 0) {
		return rv;
	}
	switch (a.kind) {
	case ADDRESS_UNIX:
		return listen_unix(l, &a);
	case ADDRESS_NAME:
		return listen_name(l, &a);
	case ADDRESS_IP:
		break;
	}
	return listen_ip(l, (struct sockaddr *)&a.sock,
			 address_length(&a.sock));
}

int listener_new(uv_loop_t *loop, const char *address, listener_cb on_accept,
		 void *ctx, struct listener **out)
{
	struct listener *l = xcalloc(1, sizeof(*l));
	int rv = listen_on(l, address);

	*out = NULL;
	if (rv != 0) {
		free(l);
		return rv;
	}
	l->on_accept = on_accept;
	l->ctx = ctx;
	rv = uv_poll_init(loop, &l->poll, l->fd);
	if (rv != 0) {
		(void)close(l->fd);
		free(l);
		return rv;
	}
	l->poll.data = l;
	check(uv_timer_init(loop, &l->retry) == 0);
	l->retry.data = l;
	l->handles = 2;
	check(uv_poll_start(&l->poll, UV_READABLE, poll_cb) == 0);
	*out = l;
	return 0;
}

const char *listener_address(const struct listener *l)
{
	return l->address;
}

void listener_dead_after(struct listener *l, uint64_t ms)
{
	unsigned value = ms < UINT_MAX / 2 ? (unsigned)ms : UINT_MAX / 2;

	if (l->path[0] == '\0') {
		/* Connections inherit it. */
		(void)setsockopt(l->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value,
				 sizeof(value));
	}
}

static void closed_cb(uv_handle_t *handle)
{
	struct listener *l = handle->data;

	if (--l->handles == 0) {
		free(l);
	}
}

void listener_free(struct listener *l)
{
	check(!l->closing);
	l->closing = true;
	if (l->path[0] != '\0') {
		(void)unlink(l->path);
	}
	/* libuv forgets the descriptor in uv_close(), so it may go at once. */
	uv_close((uv_handle_t *)&l->poll, closed_cb);
	uv_close((uv_handle_t *)&l->retry, closed_cb);
	(void)close(l->fd);
}
