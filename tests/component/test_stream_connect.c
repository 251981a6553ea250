/* Listeners and connecting streams on a real loop. */
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/stream_end.h"

enum { MIB = 1024 * 1024 };

TestSuite(connect, .init = ends_setup, .fini = ends_teardown, .timeout = 60);

/* An accepted connection starts as the first end that is not in use. */
struct door {
	struct listener *listener;
	struct end ends[8];
	int count;
	bool echo;
};

static void on_accept(void *ctx, int fd)
{
	struct door *d = ctx;
	struct end *e = &d->ends[d->count++];

	cr_assert(d->count <= 8);
	e->echo = d->echo;
	stream_start(&e->stream, hub, fd, &ops, MIB, 4 * MIB);
}

static void door_open(struct door *d, const char *address)
{
	d->echo = true;
	cr_assert_eq(listener_new(&loop, address, on_accept, d, &d->listener),
		     0);
}

static void exchange(const char *listen_on, const char *connect_to)
{
	static struct door d;
	static struct end e;
	char address[300];
	char *text = xcalloc(1, MIB);

	memset(&d, 0, sizeof(d));
	memset(&e, 0, sizeof(e));
	door_open(&d, listen_on);
	if (connect_to != NULL) {
		snprintf(address, sizeof(address), "%s%s", connect_to,
			 strrchr(listener_address(d.listener), ':'));
	} else {
		snprintf(address, sizeof(address), "%s",
			 listener_address(d.listener));
	}
	stream_connect(&e.stream, hub, address, 5000, &ops, MIB, 2 * MIB);
	cr_assert(e.opened == 0); /* never from inside the call */
	for (size_t i = 0; i < MIB; i++) {
		text[i] = (char)(i * 7 % 251);
	}
	/* Sent before it is open: waits. */
	stream_send(&e.stream, bytes_make(text, MIB));
	RUN_UNTIL(&loop, buf_len(&e.got) == MIB);
	cr_assert(e.opened == 1);
	cr_assert(memcmp(buf_live(&e.got).p, text, MIB) == 0);
	/* An idle stream owns nothing. */
	cr_assert(e.stream.in.mem == NULL && e.stream.out.mem == NULL);
	cr_assert(d.ends[0].stream.in.mem == NULL);
	cr_assert(d.ends[0].stream.queued == 0);
	end_close(&e);
	cr_assert_eq(e.why, 0);
	RUN_UNTIL(&loop, d.ends[0].closed == 1);
	cr_assert_eq(d.ends[0].why, UV_EOF);
	listener_free(d.listener);
	free(text);
}

Test(connect, a_megabyte_comes_back_over_tcp)
{
	exchange("127.0.0.1:0", NULL);
}

Test(connect, a_name_is_resolved)
{
	exchange("127.0.0.1:0", "localhost");
}

Test(connect, a_unix_path_works_again_after_a_crash)
{
	char dir[] = "/tmp/stream-XXXXXX";
	char address[64];
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	cr_assert(mkdtemp(dir) != NULL);
	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/s", dir);
	cr_assert(bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0);
	close(fd); /* the file stays, nobody listens */
	snprintf(address, sizeof(address), "unix:%s/s", dir);
	exchange(address, NULL);
	cr_assert(access(sun.sun_path, F_OK) != 0);
	rmdir(dir);
}

static int end_of_connect(const char *address, uint64_t timeout_ms)
{
	static struct end e;

	memset(&e, 0, sizeof(e));
	stream_connect(&e.stream, hub, address, timeout_ms, &ops, 1, 1);
	cr_assert_eq(e.closed, 0);
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.opened, 0);
	return e.why;
}

Test(connect, connecting_in_vain_says_why)
{
	cr_assert_eq(end_of_connect("nonsense", 1000), UV_EINVAL);
	cr_assert_eq(end_of_connect("::1:80", 1000), UV_EINVAL);
	cr_assert_eq(end_of_connect("host:70000", 1000), UV_EINVAL);
	cr_assert_eq(end_of_connect("unix:/nowhere/at/all", 1000), UV_ENOENT);
	cr_assert_eq(end_of_connect("127.0.0.1:1", 1000), UV_ECONNREFUSED);
	cr_assert_eq(end_of_connect("localhost:1", 1000), UV_ECONNREFUSED);
	/* Without a name server it is the time that ends it. */
	cr_assert(end_of_connect("no-such-host.invalid:1", 500) < 0);
}

Test(connect, connecting_gives_up_after_its_timeout)
{
	static struct end ends[8];
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	char address[64];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool timed_out = false;

	/* A full queue of connections nobody accepts: Linux drops the SYN. */
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert(bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == 0);
	cr_assert(listen(fd, 0) == 0);
	cr_assert(getsockname(fd, (struct sockaddr *)&sin, &len) == 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", ntohs(sin.sin_port));
	for (int i = 0; i < 8; i++) {
		stream_connect(&ends[i].stream, hub, address, 200, &ops, 1, 1);
	}
	for (int i = 0; i < 8; i++) {
		RUN_UNTIL(&loop, ends[i].closed == 1 || ends[i].opened == 1);
		timed_out = timed_out || ends[i].why == UV_ETIMEDOUT;
		stream_close(&ends[i].stream, 0);
		RUN_UNTIL(&loop, ends[i].closed == 1);
	}
	cr_assert(timed_out);
	close(fd);
}

Test(connect, closing_while_it_connects_ends_once)
{
	static struct end ends[2];
	static struct door d;

	door_open(&d, "127.0.0.1:0");
	stream_connect(&ends[0].stream, hub, listener_address(d.listener), 1000,
		       &ops, 1, 1);
	stream_connect(&ends[1].stream, hub, "localhost:1", 1000, &ops, 1, 1);
	for (int i = 0; i < 2; i++) {
		stream_close(&ends[i].stream, ERR_IDLE);
		stream_close(&ends[i].stream, ERR_BUSY);
	}
	RUN_UNTIL(&loop, ends[0].closed == 1 && ends[1].closed == 1);
	cr_assert_eq(ends[0].why, ERR_IDLE); /* the first reason wins */
	cr_assert_eq(ends[0].opened, 0);
	listener_free(d.listener);
	for (int i = 0; i < d.count; i++) {
		RUN_UNTIL(&loop, d.ends[i].closed == 1);
	}
}

/* Out of files: no busy loop, and service again when there are files. */
Test(connect, a_listener_survives_running_out_of_files)
{
	static struct door d;
	static struct end e;
	struct rlimit limit;
	int spare[64];
	int n = 0;
	uint64_t turns = 0;
	struct turns *t;

	door_open(&d, "127.0.0.1:0");
	stream_connect(&e.stream, hub, listener_address(d.listener), 1000, &ops,
		       16, 16);
	cr_assert(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	limit.rlim_cur = 64;
	cr_assert(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	while (n < 64 && (spare[n] = dup(0)) >= 0) {
		n++;
	}
	cr_assert(n < 64);
	t = turns_start(&loop, 350);
	while (!t->late) {
		uv_run(&loop, UV_RUN_ONCE);
		turns++;
	}
	turns_stop(t);
	cr_assert_eq(d.count, 0);
	cr_assert(turns < 50, "%d turns in 350 ms", (int)turns);
	while (n > 0) {
		close(spare[--n]);
	}
	RUN_UNTIL(&loop, d.count == 1);
	end_close(&e);
	RUN_UNTIL(&loop, d.ends[0].closed == 1);
	listener_free(d.listener);
}

Test(connect, an_address_in_use_is_refused)
{
	static struct door d;
	struct listener *second;

	door_open(&d, "127.0.0.1:0");
	cr_assert_eq(listener_new(&loop, listener_address(d.listener),
				  on_accept, &d, &second),
		     UV_EADDRINUSE);
	cr_assert(second == NULL);
	listener_free(d.listener);
}
