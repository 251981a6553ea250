/* Bad bytes on the port of the pages: what no client sends, and a good request
 * with bytes changed, left out and put in. Whatever came, the next good one is
 * answered. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "net/http.h"

enum { ROUNDS = 1500, CHANGES_MAX = 6, REQUEST_MAX = 4096, SEED = 4 };

static struct http *server;
static _Atomic unsigned handled;

static void handler(void *ctx, const char *path, struct http_answer *a)
{
	(void)ctx;
	handled++;
	if (strcmp(path, "/livez") == 0) {
		a->status = 200;
		buf_printf(&a->body, "alive\n");
	}
}

static void setup(void)
{
	cr_assert_eq(http_start("127.0.0.1:0", handler, NULL, &server), 0);
}

static void teardown(void)
{
	http_stop(server);
}

TestSuite(http_bytes, .init = setup, .fini = teardown);

static int connected(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *port = strrchr(http_address(server), ':') + 1;

	cr_assert_geq(fd, 0);
	in.sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	cr_assert_eq(
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit),
		0);
	cr_assert_eq(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
	return fd;
}

/* Send it and no more. Whatever is answered is an answer of HTTP. The library
 * hears that no more is to come only where a line is complete: else it waits
 * for its limit, and we do not. */
static void exchange(struct bytes request, bool complete, const char *what,
		     unsigned round)
{
	char answer[65536];
	size_t used = 0;
	ssize_t n;
	int fd = connected();

	(void)send(fd, request.p, request.n, MSG_NOSIGNAL);
	(void)shutdown(fd, SHUT_WR);
	while ((n = recv(fd, answer + used, sizeof answer - used,
			 complete ? 0 : MSG_DONTWAIT)) > 0) {
		used += (size_t)n;
	}
	cr_assert(!complete || n == 0 || errno == ECONNRESET,
		  "%s %u: not closed", what, round);
	cr_assert(used == 0 || (used > 9 && memcmp(answer, "HTTP/1.", 7) == 0),
		  "%s %u: %.40s", what, round, answer);
	(void)close(fd);
}

static void expect_alive(void)
{
	static const char ask[] = "GET /livez HTTP/1.0\r\n\r\n";
	char answer[1024] = "";
	size_t used = 0;
	ssize_t n;
	int fd = connected();

	cr_assert_eq(send(fd, ask, sizeof ask - 1, MSG_NOSIGNAL),
		     (ssize_t)sizeof ask - 1);
	while ((n = recv(fd, answer + used, sizeof answer - 1 - used, 0)) > 0) {
		used += (size_t)n;
	}
	(void)close(fd);
	cr_assert(strstr(answer, " 200 ") != NULL &&
			  strstr(answer, "\r\n\r\nalive\n") != NULL,
		  "%s", answer);
}

Test(http_bytes, what_no_client_sends)
{
	const struct bytes requests[] = {
		BYTES("\0\0\0\0\0\0\0\0"),
		BYTES("\xda\xbb\xc2\0\0\0\0\0\0\0\0\1\0\0\0\0"),
		BYTES("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
		BYTES("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
		BYTES("GET\r\n\r\n"),
		BYTES("GET /livez\r\n\r\n"),
		BYTES("GET  /livez  HTTP/1.1\r\n\r\n"),
		BYTES("GET /%00%0a%ff HTTP/1.1\r\nHost: a\r\n\r\n"),
		BYTES("GET /livez HTTP/9.9\r\nHost: a\r\n\r\n"),
		BYTES("GET /livez HTTP/1.1\r\n: empty\r\n\r\n"),
		BYTES("GET /livez HTTP/1.1\r\nHost\r\n\r\n"),
		BYTES("GET /livez HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n"),
		BYTES("POST /livez HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"),
		BYTES("POST /livez HTTP/1.1\r\nHost: a\r\n"
		      "Content-Length: 99999999999999999999\r\n\r\nx"),
		BYTES("POST /livez HTTP/1.1\r\nHost: a\r\n"
		      "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"),
		BYTES("GET /livez HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
		      "Content-Length: 5\r\n\r\n"),
	};

	for (unsigned i = 0; i < sizeof requests / sizeof requests[0]; i++) {
		exchange(requests[i], false, "request", i);
		expect_alive();
	}
}

Test(http_bytes, a_head_without_end)
{
	struct bytes start = BYTES("GET /livez HTTP/1.1\r\nX: ");
	size_t n = 1 << 20;
	uint8_t *head = xmalloc(n);

	memset(head, 'x', n);
	memcpy(head, start.p, start.n);
	exchange(bytes_make(head, n), true, "head", 0);
	expect_alive();
	free(head);
}

static size_t below(size_t n)
{
	static uint64_t state = SEED;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (size_t)(state >> 33) % n;
}

/* Change a byte, leave some out, or say some twice. */
static void change(struct bytes *request, uint8_t *text)
{
	size_t at = below(request->n);
	size_t left = request->n - at;
	size_t some = 1 + below(left < 16 ? left : 16);

	switch (below(3)) {
	case 0:
		text[at] = (uint8_t)below(256);
		return;
	case 1:
		memmove(text + at, text + at + some, left - some);
		request->n -= some;
		break;
	default:
		if (request->n + some <= REQUEST_MAX) {
			memmove(text + at + some, text + at, left);
			request->n += some;
		}
		break;
	}
	request->n = request->n > 0 ? request->n : 1;
}

Test(http_bytes, a_request_with_bytes_changed)
{
	const struct bytes good = BYTES(
		"GET /livez?a=b&c=%20 HTTP/1.1\r\nHost: 127.0.0.1:9100\r\n"
		"User-Agent: Prometheus/2\r\nAccept: text/plain;q=0.5\r\n"
		"Accept-Encoding: gzip\r\nConnection: close\r\n"
		"Content-Length: 0\r\nCookie: a=b; c=d\r\n\r\n");

	const struct bytes end = BYTES("x\r\n\r\n");

	for (unsigned round = 0; round < ROUNDS; round++) {
		uint8_t text[REQUEST_MAX + 8];
		struct bytes request = { text, good.n };

		memcpy(text, good.p, good.n);
		for (size_t i = below(CHANGES_MAX) + 1; i > 0; i--) {
			change(&request, text);
		}
		memcpy(text + request.n, end.p, end.n);
		request.n += end.n;
		exchange(request, true, "round", round);
	}
	expect_alive();
	/* Most of them are good enough to be answered by us. */
	cr_assert_gt(handled, ROUNDS / 10);
}
