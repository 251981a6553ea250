/* Streams and listeners on a real loop, over TCP, unix sockets and pairs. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/turns.h"
#include "net/stream.h"

enum { MIB = 1024 * 1024 };

/* One end: what it received and how it ended. */
struct end {
	struct stream stream;
	struct buf got;
	size_t chunk; /* consume only multiples of it; 0: everything */
	bool echo;
	bool pause; /* pause after each piece */
	int calls;  /* of on_data */
	int opened;
	int closed;
	int why;
	int close_on_data; /* close with this code when data comes */
};

static uv_loop_t loop;
static struct stream_hub *hub;

static size_t on_data(struct stream *s, struct bytes data)
{
	struct end *e = container_of(s, struct end, stream);
	size_t n = data.n;

	cr_assert(e->closed == 0);
	e->calls++;
	if (e->chunk > 0) {
		n = n / e->chunk * e->chunk;
		n = e->pause && n > e->chunk ? e->chunk : n;
	}
	buf_put(&e->got, data.p, n);
	if (e->echo) {
		stream_send(s, bytes_make(data.p, n));
	}
	if (e->pause) {
		stream_pause(s);
	}
	if (e->close_on_data != 0) {
		stream_close(s, e->close_on_data);
	}
	return n;
}

static void on_open(struct stream *s)
{
	struct end *e = container_of(s, struct end, stream);

	cr_assert(e->closed == 0);
	e->opened++;
}

static void on_close(struct stream *s, int why)
{
	struct end *e = container_of(s, struct end, stream);

	e->closed++;
	e->why = why;
	buf_close(&e->got);
}

static const struct stream_ops ops = {
	.on_data = on_data,
	.on_open = on_open,
	.on_close = on_close,
};

static void setup(void)
{
	cr_assert(uv_loop_init(&loop) == 0);
	hub = stream_hub_new(&loop);
}

static void teardown(void)
{
	stream_hub_free(hub);
	turns_end(&loop);
}

TestSuite(stream, .init = setup, .fini = teardown, .timeout = 60);

/* A stream over a socket pair and the bare other end of it. */
static int start_pair(struct end *e, int type, size_t in_max, size_t out_max)
{
	int fds[2];

	cr_assert(socketpair(AF_UNIX, type, 0, fds) == 0);
	stream_start(&e->stream, hub, fds[0], &ops, in_max, out_max);
	return fds[1];
}

static void end_close(struct end *e)
{
	stream_close(&e->stream, 0);
	RUN_UNTIL(&loop, e->closed == 1);
}

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

Test(stream, a_megabyte_comes_back_over_tcp)
{
	exchange("127.0.0.1:0", NULL);
}

Test(stream, a_name_is_resolved_and_every_address_tried)
{
	/* localhost may mean ::1 first, where nobody listens. */
	exchange("127.0.0.1:0", "localhost");
}

Test(stream, a_unix_path_works_again_after_a_crash)
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

/* A packet socket keeps the borders of writes. */
static int next_write(int fd, char *text, size_t n)
{
	return (int)recv(fd, text, n, MSG_DONTWAIT);
}

static struct end turn_end;

static void say(const char *text)
{
	stream_send(&turn_end.stream, bytes_str(text));
}

static void say_timer_cb(uv_timer_t *timer)
{
	(void)timer;
	say("a");
	say("b");
}

static void say_prepare_cb(uv_prepare_t *prepare)
{
	uv_prepare_stop(prepare);
	say("c");
	say("d");
}

static void say_async_cb(uv_async_t *async)
{
	(void)async;
	say("e");
	say("f");
}

Test(stream, what_one_turn_sends_leaves_in_one_write_without_waiting)
{
	static uv_timer_t timer;
	static uv_prepare_t prepare;
	static uv_async_t async;
	char text[16];
	int fd = start_pair(&turn_end, SOCK_SEQPACKET, 100, 100);

	/* From a timer, from another prepare hook (it may run after the
	 * hub's), and from the poll. With nothing else on the loop, anything
	 * that is not flushed at once waits for ever. */
	uv_timer_init(&loop, &timer);
	uv_timer_start(&timer, say_timer_cb, 1, 0);
	RUN_UNTIL(&loop, next_write(fd, text, 16) == 2 && text[0] == 'a' &&
				 text[1] == 'b');
	uv_prepare_init(&loop, &prepare);
	uv_prepare_start(&prepare, say_prepare_cb);
	RUN_UNTIL(&loop, next_write(fd, text, 16) == 2 && text[0] == 'c');
	uv_async_init(&loop, &async, say_async_cb);
	uv_async_send(&async);
	RUN_UNTIL(&loop, next_write(fd, text, 16) == 2 && text[0] == 'e');
	cr_assert(next_write(fd, text, 16) == -1);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_close((uv_handle_t *)&prepare, NULL);
	uv_close((uv_handle_t *)&async, NULL);
	end_close(&turn_end);
	close(fd);
}

Test(stream, the_hub_keeps_no_loop_alive)
{
	cr_assert_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
}

Test(stream, a_bad_descriptor_ends_in_one_on_close)
{
	static struct end e;

	stream_start(&e.stream, hub, -1, &ops, 1, 1);
	cr_assert_eq(e.closed, 0);
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.why, UV_EBADF);
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

Test(stream, connecting_in_vain_says_why)
{
	cr_assert_eq(end_of_connect("nonsense", 1000), UV_EINVAL);
	cr_assert_eq(end_of_connect("::1:80", 1000), UV_EINVAL);
	cr_assert_eq(end_of_connect("host:70000", 1000), UV_EINVAL);
	cr_assert_eq(end_of_connect("unix:/nowhere/at/all", 1000), UV_ENOENT);
	cr_assert_eq(end_of_connect("127.0.0.1:1", 1000), UV_ECONNREFUSED);
	cr_assert_eq(end_of_connect("localhost:1", 1000), UV_ECONNREFUSED);
	cr_assert(end_of_connect("no-such-host.invalid:1", 9000) < 0);
}

Test(stream, connecting_gives_up_after_its_timeout)
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

Test(stream, closing_while_it_connects_ends_once)
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

Test(stream, an_unfinished_rest_comes_again_with_more)
{
	static struct end e = { .chunk = 4 };
	int fd = start_pair(&e, SOCK_STREAM, 16, 16);

	cr_assert(write(fd, "abcdef", 6) == 6);
	RUN_UNTIL(&loop, buf_len(&e.got) == 4);
	cr_assert_eq(buf_len(&e.stream.in), 2);
	cr_assert(write(fd, "gh", 2) == 2);
	RUN_UNTIL(&loop, buf_len(&e.got) == 8);
	cr_assert(memcmp(buf_live(&e.got).p, "abcdefgh", 8) == 0);
	cr_assert(e.stream.in.mem == NULL);
	end_close(&e);
	close(fd);
}

Test(stream, too_long_a_rest_closes)
{
	static struct end e = { .chunk = 100 };
	int fd = start_pair(&e, SOCK_STREAM, 16, 16);

	cr_assert(write(fd, "0123456789abcdefg", 17) == 17);
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.why, ERR_TOO_BIG);
	close(fd);
}

Test(stream, a_resumed_stream_gets_its_rest_without_new_bytes)
{
	static struct end e = { .chunk = 4, .pause = true };
	int fd = start_pair(&e, SOCK_STREAM, 4, 16);

	/* More than in_max is left behind: allowed while it is paused. */
	cr_assert(write(fd, "abcdefghijkl", 12) == 12);
	for (size_t n = 4; n <= 12; n += 4) {
		RUN_UNTIL(&loop, buf_len(&e.got) == n);
		cr_assert(e.stream.paused);
		stream_resume(&e.stream);
		cr_assert_eq(buf_len(&e.got), n); /* never from inside */
	}
	end_close(&e);
	close(fd);
}

Test(stream, a_reader_that_reads_nothing_is_closed_at_out_max)
{
	static struct end e;
	int fd = start_pair(&e, SOCK_STREAM, 16, MIB);
	char *piece = xcalloc(1, 64 * 1024);
	int sent = 0;

	while (!e.stream.closing && sent < 100) {
		stream_send(&e.stream, bytes_make(piece, 64 * 1024));
		uv_run(&loop, UV_RUN_NOWAIT);
		sent++;
	}
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.why, ERR_BUSY);
	cr_assert(sent < 100);
	stream_send(&e.stream, bytes_make(piece, 1)); /* quietly dropped */
	free(piece);
	close(fd);
}

Test(stream, closing_from_on_data_ends_once)
{
	static struct end e = { .close_on_data = ERR_PROTO, .echo = true };
	int fd = start_pair(&e, SOCK_STREAM, 16, 16);

	cr_assert(write(fd, "abc", 3) == 3);
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.calls, 1);
	cr_assert_eq(e.why, ERR_PROTO);
	close(fd);
}

Test(stream, finishing_delivers_all_that_was_sent)
{
	static struct end e;
	int fd = start_pair(&e, SOCK_STREAM, 16, 4 * MIB);
	char *text = xcalloc(1, MIB);
	size_t got = 0;

	stream_send(&e.stream, bytes_make(text, MIB));
	cr_assert(write(fd, "late", 4) == 4); /* and a peer that talks on */
	stream_finish(&e.stream, ERR_DENIED, 10000);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (got < MIB) {
		ssize_t n = read(fd, text, MIB);

		if (n > 0) {
			got += (size_t)n;
		}
		uv_run(&loop, UV_RUN_NOWAIT);
		cr_assert(n != 0, "cut after %zu bytes", got);
	}
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.why, ERR_DENIED);
	cr_assert_eq(e.calls, 0);
	cr_assert_eq(read(fd, text, 1), 0);
	free(text);
	close(fd);
}

Test(stream, finishing_does_not_wait_longer_than_it_may)
{
	static struct end e;
	int fd = start_pair(&e, SOCK_STREAM, 16, 4 * MIB);
	char *text = xcalloc(1, 4 * MIB);

	stream_send(&e.stream, bytes_make(text, 4 * MIB));
	stream_finish(&e.stream, ERR_IDLE, 50);
	RUN_UNTIL(&loop, e.closed == 1);
	cr_assert_eq(e.why, ERR_IDLE);
	free(text);
	close(fd);
}

/* Out of files: no busy loop, and service again when there are files. */
Test(stream, a_listener_survives_running_out_of_files)
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

Test(stream, an_address_in_use_is_refused)
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
