/*
 * rain-echo: the limit that a gateway is compared with. It does what every
 * server of this protocol on libuv must do and nothing else: it reads frames,
 * and answers each with one frame of the size of a GrabReply. One read, one
 * write for all answers of that read.
 *
 *   rain-echo [--listen HOST:PORT] [--loops N] [--packet]
 *
 * An answer is what a gateway would send, byte for byte as long: the seq of the
 * request, which is copied and not understood, and a GrabReply that is the same
 * for all, SOLD_OUT or (--packet) WON with a packet. A true echo would give the
 * client a message that it cannot read, so it would need another way to count,
 * and that client would be another generator than the one that loads a gateway.
 * There is no Hello, no token, no user, no bound on what a client may leave
 * unread; nobody should use it for anything else.
 *
 * Prints the address it listens on, and at the end how many frames it has
 * answered.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/echo.h"
#include "net/address.h"
#include "proto/frame.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

enum {
	LOOPS_MAX = 64,
	BACKLOG = 4096,
};

static _Noreturn void stop(const char *what, const char *why)
{
	(void)fprintf(stderr, "rain-echo: %s: %s\n", what, why);
	exit(2);
}

static void must(int rv, const char *what)
{
	if (rv != 0) {
		stop(what, uv_strerror(rv));
	}
}

static void close_cb(uv_handle_t *handle, void *arg)
{
	struct echo *l = arg;

	if (uv_is_closing(handle)) {
		return;
	}
	if (handle == (uv_handle_t *)&l->listener ||
	    handle == (uv_handle_t *)&l->stop) {
		uv_close(handle, NULL);
	} else {
		uv_close(handle, echo_closed_cb);
	}
}

static void stop_cb(uv_async_t *async)
{
	struct echo *l = async->data;

	uv_walk(&l->loop, close_cb, l);
}

static void run(void *arg)
{
	struct echo *l = arg;

	(void)uv_run(&l->loop, UV_RUN_DEFAULT);
	check(uv_loop_close(&l->loop) == 0);
}

/* Every loop listens, and the kernel deals the connections out. */
static void listen_on(struct echo *l, const struct sockaddr_storage *address)
{
	int on = 1;
	int fd = socket(address->ss_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	must(uv_loop_init(&l->loop), "loop");
	must(uv_tcp_init(&l->loop, &l->listener), "listen");
	must(uv_async_init(&l->loop, &l->stop, stop_cb), "loop");
	l->listener.data = l->stop.data = l;
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) != 0) {
		stop("listen", "the system gives no socket");
	}
	must(uv_tcp_open(&l->listener, fd), "listen");
	must(uv_tcp_bind(&l->listener, (const struct sockaddr *)address, 0),
	     "listen");
	must(uv_listen((uv_stream_t *)&l->listener, BACKLOG,
		       echo_connection_cb),
	     "listen");
}

/* The field of ServerMessage that answers every frame. */
static void make_reply(bool packet, struct buf *out)
{
	Rain__ServerMessage m = RAIN__SERVER_MESSAGE__INIT;
	Rain__GrabReply grab = RAIN__GRAB_REPLY__INIT;
	Rain__RedPacket red_packet = RAIN__RED_PACKET__INIT;

	grab.status = packet ? RAIN__STATUS__WON : RAIN__STATUS__SOLD_OUT;
	if (packet) {
		red_packet.red_packet_id = to_pb_str("365628617880842241");
		red_packet.amount_cents = 1221;
		red_packet.at_ms = INT64_C(1764430000000);
		grab.red_packet = &red_packet;
	}
	m.body_case = RAIN__SERVER_MESSAGE__BODY_GRAB_REPLY;
	m.grab_reply = &grab;
	/* seq 0 is not on the wire: what is left is the field alone. */
	frame_put(out, &m.base);
	buf_take(out, FRAME_HEADER);
}

struct arguments {
	const char *listen;
	uint64_t loops;
	bool packet;
};

static void take_arguments(struct arguments *a, int argc, char **argv)
{
	*a = (struct arguments){ .listen = "127.0.0.1:0", .loops = 1 };
	for (int i = 1; i < argc; i++) {
		bool more = i + 1 < argc;

		if (strcmp(argv[i], "--packet") == 0) {
			a->packet = true;
		} else if (strcmp(argv[i], "--listen") == 0 && more) {
			a->listen = argv[++i];
		} else if (strcmp(argv[i], "--loops") == 0 && more) {
			if (!bytes_to_u64(bytes_str(argv[++i]), LOOPS_MAX,
					  &a->loops) ||
			    a->loops == 0) {
				stop("--loops", "a number from 1 to 64");
			}
		} else {
			(void)fprintf(stderr,
				      "usage: rain-echo [--listen HOST:PORT] "
				      "[--loops N] [--packet]\n");
			exit(strcmp(argv[i], "--help") == 0 ? 0 : 2);
		}
	}
}

/* Listen with all loops, on the port that the first one got. */
static void listen_all(struct echo *loops, const struct arguments *a,
		       struct bytes reply)
{
	struct address address;
	char text[ADDRESS_TEXT_MAX];
	int len = sizeof address.sock;

	if (address_parse(a->listen, &address) != 0 ||
	    address.kind != ADDRESS_IP) {
		stop("--listen", "an IP address and a port, 127.0.0.1:7000");
	}
	for (uint64_t i = 0; i < a->loops; i++) {
		loops[i].reply = reply;
		listen_on(&loops[i], &address.sock);
		must(uv_tcp_getsockname(&loops[i].listener,
					(struct sockaddr *)&address.sock, &len),
		     "listen");
	}
	address_format(&address.sock, text);
	(void)printf("rain-echo: listening on %s\n", text);
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	struct arguments a;
	struct echo *loops;
	struct buf reply;
	uint64_t frames = 0;
	sigset_t set;
	int signum;

	take_arguments(&a, argc, argv);
	(void)signal(SIGPIPE, SIG_IGN);
	/* Before the threads, so that the signals are ours to wait for. */
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	buf_init(&reply);
	make_reply(a.packet, &reply);
	loops = xcalloc(a.loops, sizeof loops[0]);
	listen_all(loops, &a, buf_live(&reply));
	for (uint64_t i = 0; i < a.loops; i++) {
		must(uv_thread_create(&loops[i].thread, run, &loops[i]),
		     "thread");
	}
	(void)sigwait(&set, &signum);
	for (uint64_t i = 0; i < a.loops; i++) {
		(void)uv_async_send(&loops[i].stop);
		(void)uv_thread_join(&loops[i].thread);
		frames += loops[i].frames;
	}
	(void)printf("rain-echo: %" PRIu64 " frames\n", frames);
	free(loops);
	buf_close(&reply);
	return 0;
}
