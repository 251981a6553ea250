/* Streams on a real loop, over socket pairs. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/stream_end.h"

enum { MIB = 1024 * 1024 };

TestSuite(stream, .init = ends_setup, .fini = ends_teardown, .timeout = 60);

/* A stream over a socket pair and the bare other end of it. */
static int start_pair(struct end *e, int type, size_t in_max, size_t out_max)
{
	int fds[2];

	cr_assert(socketpair(AF_UNIX, type, 0, fds) == 0);
	stream_start(&e->stream, hub, fds[0], &ops, in_max, out_max);
	return fds[1];
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

/* Hooks that libuv runs after the hub's flush and before the poll. */
Test(stream, what_is_sent_after_the_flush_does_not_wait_for_an_event)
{
	static uv_prepare_t prepare;
	struct stream_hub *first = hub;
	uint64_t start = uv_now(&loop);
	char text[16];
	int fd;

	uv_prepare_init(&loop, &prepare);
	uv_prepare_start(&prepare, say_prepare_cb);
	hub = stream_hub_new(&loop); /* started later, it runs earlier */
	fd = start_pair(&turn_end, SOCK_SEQPACKET, 100, 100);
	RUN_UNTIL(&loop, next_write(fd, text, 16) == 2 && text[0] == 'c');
	cr_assert(uv_now(&loop) - start < 5000);
	uv_close((uv_handle_t *)&prepare, NULL);
	end_close(&turn_end);
	close(fd);
	stream_hub_free(hub);
	hub = first;
}

static int turns;

static void turn_again_cb(uv_async_t *handle)
{
	turns++;
	uv_async_send(handle);
}

Test(stream, a_loop_that_gathers_polls_no_more_often_than_it_was_told)
{
	static uv_async_t async;
	uint64_t start;

	stream_hub_gather(hub, 10);
	uv_async_init(&loop, &async, turn_again_cb);
	uv_async_send(&async); /* and again with each turn: always busy */
	start = uv_hrtime();
	while (turns < 20) {
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	/* 19 times, from one poll to the next. */
	cr_assert(uv_hrtime() - start >= 19ULL * 10 * 1000 * 1000);
	uv_close((uv_handle_t *)&async, NULL);
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
