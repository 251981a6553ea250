#include "net/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include <utlist.h>

#include "net/address.h"

enum {
	BACKLOG = 64,
	CONNECTIONS_MAX = 64,
	/* From here on each new one ends the oldest: whoever sits on
	 * connections, from however many addresses, does not keep others from
	 * asking whether we live. The rest is for those that are ending. */
	CONNECTIONS_KEPT = 48,
	IDLE_SECONDS_MAX = 15,
};

/* Answers are made at once, so the oldest connection waits for the next
 * question, or for the rest of its first one. */
struct guest {
	struct guest *next; /* in http->guests, oldest first */
	struct guest *prev;
	int fd;
	bool leaving; /* shut down, and no more in the list */
};

struct http {
	struct MHD_Daemon *daemon;
	http_handler_cb handler;
	void *ctx;
	/* Of the daemon's thread: */
	struct guest *guests;
	size_t guest_count;
	char address[ADDRESS_TEXT_MAX];
};

static enum MHD_Result send_answer(struct MHD_Connection *connection,
				   const struct http_answer *a)
{
	struct bytes body = buf_live(&a->body);
	enum MHD_Result rv;
	/* The library copies; its argument merely lacks a const. */
	struct MHD_Response *response = MHD_create_response_from_buffer(
		body.n, (void *)(uintptr_t)body.p, MHD_RESPMEM_MUST_COPY);

	if (response == NULL) {
		return MHD_NO;
	}
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
				      a->type);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				      "no-store");
	if (a->status == MHD_HTTP_METHOD_NOT_ALLOWED) {
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
					      "GET, HEAD");
	}
	rv = MHD_queue_response(connection, a->status, response);
	MHD_destroy_response(response);
	return rv;
}

/* The library calls this first when the head is there. Answered then, it reads
 * no body, which means nothing here and may be as long as a stranger likes: it
 * closes the connection behind the answer instead. */
static enum MHD_Result request_cb(void *arg, struct MHD_Connection *connection,
				  const char *url, const char *method,
				  const char *version, const char *data,
				  size_t *data_len, void **seen)
{
	struct http *h = arg;
	struct http_answer a = { .status = MHD_HTTP_NOT_FOUND,
				 .type = "text/plain; charset=utf-8" };
	enum MHD_Result rv;

	(void)version;
	(void)data;
	(void)data_len;
	(void)seen;
	buf_init(&a.body);
	if (strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
	    strcmp(method, MHD_HTTP_METHOD_HEAD) == 0) {
		h->handler(h->ctx, url, &a);
	} else {
		a.status = MHD_HTTP_METHOD_NOT_ALLOWED;
	}
	rv = send_answer(connection, &a);
	buf_close(&a.body);
	return rv;
}

/* Before a connection is taken in. */
static enum MHD_Result accept_cb(void *arg, const struct sockaddr *addr,
				 socklen_t addr_len)
{
	struct http *h = arg;
	struct guest *g = h->guests;

	(void)addr;
	(void)addr_len;
	if (h->guest_count >= CONNECTIONS_KEPT) {
		g->leaving = true;
		DL_DELETE(h->guests, g);
		h->guest_count--;
		/* The library sees the end and closes it. */
		(void)shutdown(g->fd, SHUT_RDWR);
	}
	return MHD_YES;
}

static void notify_cb(void *arg, struct MHD_Connection *connection, void **seat,
		      enum MHD_ConnectionNotificationCode what)
{
	struct http *h = arg;
	struct guest *g = *seat;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		g = xcalloc(1, sizeof(*g));
		g->fd = MHD_get_connection_info(
				connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				->connect_fd;
		DL_APPEND(h->guests, g);
		h->guest_count++;
		*seat = g;
		return;
	}
	if (!g->leaving) {
		DL_DELETE(h->guests, g);
		h->guest_count--;
	}
	free(g);
	*seat = NULL;
}

static int listen_on(const struct addrinfo *ai, struct http *h, int *out)
{
	struct sockaddr_storage got;
	socklen_t got_len = sizeof(got);
	int one = 1;
	int rv;
	int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0) {
		return -errno;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) != 0 ||
	    listen(fd, BACKLOG) != 0) {
		rv = -errno;
		(void)close(fd);
		return rv;
	}
	rv = getsockname(fd, (struct sockaddr *)&got, &got_len);
	check(rv == 0); /* it is bound */
	address_format(&got, h->address);
	*out = fd;
	return 0;
}

/* A listening socket for address in *fd. */
static int open_socket(const char *address, struct http *h, int *fd)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = AI_PASSIVE };
	struct addrinfo *list = NULL;
	struct address a;
	int rv = address_parse(address, &a);

	if (rv != 0 || a.kind == ADDRESS_UNIX) {
		return UV_EINVAL;
	}
	if (getaddrinfo(a.host, a.port, &hints, &list) != 0) {
		return UV_EAI_NONAME;
	}
	rv = UV_EAI_NODATA;
	for (const struct addrinfo *ai = list; ai != NULL && rv != 0;
	     ai = ai->ai_next) {
		rv = listen_on(ai, h, fd);
	}
	freeaddrinfo(list);
	return rv;
}

/* The thread inherits the mask: signals stay with the loop's thread. */
static struct MHD_Daemon *start_daemon(struct http *h, int fd)
{
	struct MHD_Daemon *daemon;
	sigset_t all;
	sigset_t before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, accept_cb, h,
		request_cb, h, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_NOTIFY_CONNECTION, notify_cb, h,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS_MAX,
		MHD_OPTION_END);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return daemon;
}

int http_start(const char *address, http_handler_cb handler, void *ctx,
	       struct http **out)
{
	struct http *h = xcalloc(1, sizeof(*h));
	int fd = -1;
	int rv;

	*out = NULL;
	h->handler = handler;
	h->ctx = ctx;
	rv = open_socket(address, h, &fd);
	if (rv != 0) {
		free(h);
		return rv;
	}
	h->daemon = start_daemon(h, fd);
	if (h->daemon == NULL) {
		(void)close(fd);
		free(h);
		return UV_ENOMEM;
	}
	*out = h;
	return 0;
}

const char *http_address(const struct http *h)
{
	return h->address;
}

void http_stop(struct http *h)
{
	if (h != NULL) {
		MHD_stop_daemon(h->daemon); /* closes the socket too */
		free(h);
	}
}
