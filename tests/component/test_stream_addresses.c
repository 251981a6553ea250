/* A name that means several addresses: the resolver is ours, since what a
 * machine says about localhost differs. */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "lib/stream_end.h"

TestSuite(addresses, .init = ends_setup, .fini = ends_teardown, .timeout = 60);

/* Nobody listens on the first two. */
static const in_port_t dead_port = 1;

static struct addrinfo *entry(in_port_t port, struct addrinfo *next)
{
	struct addrinfo *a = xcalloc(1, sizeof(*a));
	struct sockaddr_in *sin = xcalloc(1, sizeof(*sin));

	sin->sin_family = AF_INET;
	sin->sin_port = htons(port);
	sin->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a->ai_family = AF_INET;
	a->ai_socktype = SOCK_STREAM;
	a->ai_addr = (struct sockaddr *)sin;
	a->ai_addrlen = sizeof(*sin);
	a->ai_next = next;
	return a;
}

/* In the place of the C library's, for libuv too: it runs on a thread. */
int getaddrinfo(const char *restrict name, const char *restrict service,
		const struct addrinfo *restrict hints,
		struct addrinfo **restrict list)
{
	in_port_t port = (in_port_t)strtoul(service, NULL, 10);

	(void)hints;
	if (strcmp(name, "three.test") != 0) {
		return EAI_NONAME;
	}
	*list = entry(dead_port, entry(dead_port, entry(port, NULL)));
	return 0;
}

void freeaddrinfo(struct addrinfo *list)
{
	while (list != NULL) {
		struct addrinfo *next = list->ai_next;

		free(list->ai_addr);
		free(list);
		list = next;
	}
}

static struct end served;
static int accepted;

static void on_accept(void *ctx, int fd)
{
	(void)ctx;
	accepted++;
	served.echo = true;
	stream_start(&served.stream, hub, fd, &ops, 100, 100);
}

/* Connect to a door under this name, and say something through it. */
static void go_through(const char *name)
{
	static struct end e;
	struct listener *door;
	char address[64];

	cr_assert_eq(listener_new(&loop, "127.0.0.1:0", on_accept, NULL, &door),
		     0);
	snprintf(address, sizeof(address), "%s%s", name,
		 strrchr(listener_address(door), ':'));
	stream_connect(&e.stream, hub, address, 5000, &ops, 100, 100);
	stream_send(&e.stream, BYTES("kept through all tries"));
	RUN_UNTIL(&loop, buf_len(&e.got) == 22);
	cr_assert(e.opened == 1 && accepted == 1);
	end_close(&e);
	RUN_UNTIL(&loop, served.closed == 1);
	listener_free(door);
}

Test(addresses, the_next_one_is_tried_until_one_answers)
{
	go_through("three.test");
}

/* A minimal machine has no /etc/hosts. */
Test(addresses, localhost_needs_no_resolver)
{
	go_through("localhost");
}

Test(addresses, when_none_answers_the_last_one_says_why)
{
	static struct end e;

	stream_connect(&e.stream, hub, "three.test:2", 5000, &ops, 100, 100);
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.why, UV_ECONNREFUSED);
}

/* At any moment: resolving, connecting, between two addresses. */
Test(addresses, closing_meanwhile_ends_once)
{
	static struct end ends[20];

	for (int i = 0; i < 20; i++) {
		stream_connect(&ends[i].stream, hub, "three.test:2", 5000, &ops,
			       100, 100);
		for (int turn = 0; turn < i && ends[i].closed == 0; turn++) {
			uv_run(&loop, UV_RUN_NOWAIT);
		}
		if (ends[i].closed == 0) {
			stream_close(&ends[i].stream, ERR_IDLE);
		}
		RUN_UNTIL(&loop, ends[i].closed == 1);
	}
}
