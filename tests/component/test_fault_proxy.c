/* What each fault of the tests' proxy does to plain sockets. */
#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "fault/proxy.h"
#include "lib/turns.h"

struct rig {
	uv_loop_t loop;
	struct proxy proxy;
	int listener; /* where the server listens */
	int server;   /* its end of the connection */
	int client;
};

/* A socket bound to a free port of 127.0.0.1, which comes in port. */
static int bound(int *port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof sa;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	cr_assert(bind(fd, (struct sockaddr *)&sa, sizeof sa) == 0);
	cr_assert(getsockname(fd, (struct sockaddr *)&sa, &len) == 0);
	*port = ntohs(sa.sin_port);
	return fd;
}

/* A connection to the proxy: 0, or errno. */
static int dial(struct rig *r)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)r->proxy.port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	r->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return connect(r->client, (struct sockaddr *)&sa, sizeof sa) == 0
		       ? 0
		       : errno;
}

static int accepted(struct rig *r)
{
	r->server = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
	return r->server;
}

/* A new connection through the proxy, both ends. */
static void connect_through(struct rig *r)
{
	cr_assert(dial(r) == 0);
	RUN_UNTIL(&r->loop, accepted(r) >= 0);
}

static void rig_open(struct rig *r)
{
	int target;
	int port;
	int fd;

	cr_assert(uv_loop_init(&r->loop) == 0);
	r->listener = bound(&target);
	cr_assert(listen(r->listener, 8) == 0);
	fd = bound(&port);
	close(fd);
	cr_assert(proxy_open(&r->proxy, &r->loop, port, target) == 0);
}

static void rig_close(struct rig *r)
{
	close(r->client);
	close(r->server);
	close(r->listener);
	proxy_close(&r->proxy);
	turns_end(&r->loop);
}

/* What comes out of fd, which must begin with text and be no longer. */
static void expect_text(struct rig *r, int fd, const char *text)
{
	size_t len = strlen(text);
	char got[64] = "";
	size_t n = 0;

	while (n < len) {
		ssize_t more = -1;

		RUN_UNTIL(&r->loop, (more = recv(fd, got + n, sizeof got - n,
						 MSG_DONTWAIT)) > 0);
		n += (size_t)more;
	}
	cr_assert_eq(n, len);
	cr_assert_eq(memcmp(got, text, len), 0);
}

static void put(int fd, const char *text)
{
	cr_assert_eq(send(fd, text, strlen(text), MSG_NOSIGNAL),
		     (ssize_t)strlen(text));
}

static bool silent(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* How fd ends: 0 for a FIN, or errno. */
static int end_of(struct rig *r, int fd)
{
	ssize_t n = -1;
	char c;

	RUN_UNTIL(&r->loop, (n = recv(fd, &c, 1, MSG_DONTWAIT)) == 0 ||
				    (n < 0 && errno != EAGAIN));
	return n == 0 ? 0 : errno;
}

Test(fault_proxy, passes_bytes_and_ends_both_ways)
{
	struct rig r;

	rig_open(&r);
	connect_through(&r);
	put(r.client, "ping");
	expect_text(&r, r.server, "ping");
	put(r.server, "pong");
	expect_text(&r, r.client, "pong");
	shutdown(r.client, SHUT_WR);
	cr_assert_eq(end_of(&r, r.server), 0);
	/* Half of it is closed: the other half still carries bytes. */
	put(r.server, "bye");
	expect_text(&r, r.client, "bye");
	shutdown(r.server, SHUT_WR);
	cr_assert_eq(end_of(&r, r.client), 0);
	RUN_UNTIL(&r.loop, r.proxy.pair_count == 0);
	rig_close(&r);
}

Test(fault_proxy, delay_is_each_way)
{
	struct rig r;
	uint64_t began;

	rig_open(&r);
	connect_through(&r);
	cr_assert(proxy_delay(&r.proxy, 60) == 0);
	began = clock_mono_ms();
	put(r.client, "ping");
	expect_text(&r, r.server, "ping");
	/* The loop counts in whole milliseconds. */
	cr_assert_geq(clock_mono_ms() - began, 58);
	put(r.server, "pong");
	expect_text(&r, r.client, "pong");
	cr_assert_geq(clock_mono_ms() - began, 116);
	cr_assert(proxy_pass(&r.proxy) == 0);
	rig_close(&r);
}

Test(fault_proxy, cut_closes_and_refuses_until_it_passes)
{
	struct rig r;

	rig_open(&r);
	connect_through(&r);
	proxy_cut(&r.proxy);
	cr_assert_eq(end_of(&r, r.client), 0);
	cr_assert_eq(end_of(&r, r.server), 0);
	RUN_UNTIL(&r.loop, r.proxy.pair_count == 0);
	close(r.client);
	close(r.server);
	cr_assert_eq(dial(&r), ECONNREFUSED);
	close(r.client);
	cr_assert(proxy_pass(&r.proxy) == 0);
	connect_through(&r);
	put(r.client, "ping");
	expect_text(&r, r.server, "ping");
	rig_close(&r);
}

/* What is sent into the stall comes when it is over, and not before; the other
 * direction goes on. */
static void stall(enum proxy_direction d)
{
	struct rig r;
	int from;
	int to;

	rig_open(&r);
	connect_through(&r);
	from = d == PROXY_UP ? r.client : r.server;
	to = d == PROXY_UP ? r.server : r.client;
	put(from, "a");
	expect_text(&r, to, "a");
	cr_assert(proxy_stall(&r.proxy, d) == 0);
	put(from, "b");
	for (int i = 0; i < 3; i++) {
		put(to, "c");
		expect_text(&r, from, "c");
	}
	cr_assert(silent(to));
	cr_assert(proxy_pass(&r.proxy) == 0);
	expect_text(&r, to, "b");
	rig_close(&r);
}

Test(fault_proxy, stall_up)
{
	stall(PROXY_UP);
}

Test(fault_proxy, stall_down)
{
	stall(PROXY_DOWN);
}

Test(fault_proxy, a_new_connection_is_stalled_too)
{
	struct rig r;

	rig_open(&r);
	cr_assert(proxy_stall(&r.proxy, PROXY_UP) == 0);
	connect_through(&r);
	put(r.client, "a");
	put(r.server, "b");
	expect_text(&r, r.client, "b");
	cr_assert(silent(r.server));
	cr_assert(proxy_pass(&r.proxy) == 0);
	expect_text(&r, r.server, "a");
	rig_close(&r);
}

Test(fault_proxy, reset_is_a_reset)
{
	struct rig r;

	rig_open(&r);
	connect_through(&r);
	put(r.client, "a");
	expect_text(&r, r.server, "a");
	cr_assert(proxy_reset(&r.proxy) == 0);
	cr_assert_eq(end_of(&r, r.client), ECONNRESET);
	cr_assert_eq(end_of(&r, r.server), ECONNRESET);
	close(r.client);
	close(r.server);
	connect_through(&r);
	put(r.client, "a");
	expect_text(&r, r.server, "a");
	rig_close(&r);
}

/* Cut in the middle of a message: what came before arrives whole. */
Test(fault_proxy, drop_after_so_many_bytes)
{
	struct rig r;

	rig_open(&r);
	connect_through(&r);
	put(r.client, "ping");
	expect_text(&r, r.server, "ping");
	cr_assert(proxy_drop_after(&r.proxy, 6) == 0);
	put(r.client, "ping");
	expect_text(&r, r.server, "ping");
	put(r.server, "pong");
	expect_text(&r, r.client, "po");
	cr_assert_eq(end_of(&r, r.client), 0);
	RUN_UNTIL(&r.loop, r.proxy.pair_count == 0);
	close(r.client);
	close(r.server);
	/* A new one has its own six bytes. */
	connect_through(&r);
	put(r.client, "ping-ping");
	expect_text(&r, r.server, "ping-p");
	RUN_UNTIL(&r.loop, r.proxy.pair_count == 0);
	rig_close(&r);
}

/* A reader that does not read holds up its writer, not our memory. */
Test(fault_proxy, queues_are_bounded)
{
	static char block[1 << 16];
	struct rig r;
	size_t sent = 0;
	ssize_t n;

	rig_open(&r);
	connect_through(&r);
	cr_assert(proxy_delay(&r.proxy, 60000) == 0);
	for (int idle = 0; idle < 50; idle++) {
		n = send(r.client, block, sizeof block,
			 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n > 0) {
			sent += (size_t)n;
			idle = 0;
			/* Far more than both sockets can hold. */
			cr_assert_lt(sent, (size_t)64 << 20);
		}
		uv_run(&r.loop, UV_RUN_NOWAIT);
	}
	cr_assert(silent(r.server));
	rig_close(&r);
}
