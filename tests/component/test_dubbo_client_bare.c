/* A Dubbo client against bare peers: what Java wrote, and what misbehaves. */
#include <stdlib.h>

#include "lib/dubbo_caller.h"
#include "lib/vectors.h"

TestSuite(dubbo_client_bare, .init = caller_setup, .fini = caller_teardown,
	  .timeout = 60);

static struct peer peers[4];  /* one for each connection that came */
static struct peer *provider; /* the newest */
static struct listener *door;
static int accepted;

static void accept_cb(void *ctx, int fd)
{
	(void)ctx;
	cr_assert(accepted < 4);
	provider = &peers[accepted++];
	peer_start(provider, fd);
}

static void begin_bare(int64_t heartbeat_ms)
{
	struct dubbo_client_options o = client_options(paths[0]);

	o.heartbeat_ms = heartbeat_ms;
	o.silence_max_ms = 200;
	o.payload_max = 1 << 20;
	cr_assert_eq(listener_new(&loop, paths[0], accept_cb, NULL, &door), 0);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1 && accepted == 1);
}

static void end_bare(void)
{
	dubbo_client_free(client);
	listener_free(door);
	for (int i = 0; i < accepted; i++) {
		peer_end(&peers[i]);
	}
}

/* The id of the request that came. */
static uint64_t take_request(void)
{
	struct buf body;
	struct dubbo_header h;
	struct dubbo_request r;
	const char *why;

	h = peer_frame(provider, &body);
	cr_assert(h.request && h.two_way && !h.event);
	cr_assert_eq(dubbo_request_decode(buf_live(&body), &r, &why), 0);
	cr_assert(bytes_eq(dubbo_request_attachment(&r, "timeout"),
			   BYTES("5000")));
	cr_assert(bytes_eq(dubbo_request_attachment(&r, "interface"),
			   BYTES("rain.GrabService")));
	buf_close(&body);
	return h.id;
}

static uint64_t begin_call(struct outcome *o)
{
	call(o, "x", 5000, -1);
	return take_request();
}

static void answer(uint8_t flags, uint8_t status, uint64_t id, uint32_t length,
		   struct bytes body)
{
	struct buf b;

	buf_init(&b);
	buf_put(&b, "\xda\xbb", 2);
	buf_put_u8(&b, flags);
	buf_put_u8(&b, status);
	buf_put_u64(&b, id);
	buf_put_u32(&b, length);
	buf_put_bytes(&b, body);
	peer_send(provider, buf_live(&b).p, buf_len(&b));
	buf_close(&b);
}

static void captured(const char *name, enum dubbo_result_kind kind)
{
	static struct outcome r;
	struct buf frame = vector_load("replies.txt", name);
	struct bytes all = buf_live(&frame);
	uint64_t id = begin_call(&r);

	answer(0x16, 20, id, (uint32_t)all.n - 16,
	       bytes_make(all.p + 16, all.n - 16));
	wait_for(&r);
	cr_assert_eq(r.outcome, DUBBO_DONE);
	cr_assert_eq(r.kind, kind, "%s: %d %s", name, r.kind, r.text);
	buf_close(&frame);
}

Test(dubbo_client_bare, reads_what_java_providers_answered)
{
	begin_bare(60000);
	captured("dubbo27_value", DUBBO_VALUE);
	captured("dubbo27_null", DUBBO_NULL);
	captured("dubbo27_exception", DUBBO_EXCEPTION);
	captured("dubbo33_value", DUBBO_VALUE);
	captured("dubbo33_null", DUBBO_NULL);
	captured("dubbo33_exception", DUBBO_EXCEPTION);
	captured("dubbo33_value_no_attachments", DUBBO_VALUE);
	end_bare();
}

static void unreadable(uint8_t flags, uint8_t status, uint32_t length,
		       struct bytes body)
{
	static struct outcome r;
	uint64_t id = begin_call(&r);

	answer(flags, status, id, length, body);
	wait_for(&r);
	cr_assert(r.outcome == DUBBO_DONE && r.kind == DUBBO_ERROR);
	cr_assert_eq(r.status, DUBBO_STATUS_CLIENT_ERROR, "%d", r.status);
}

Test(dubbo_client_bare, an_answer_that_cannot_be_read_fails_its_call_only)
{
	static struct outcome r;
	uint8_t *megabytes = xcalloc(1, 2 << 20);
	uint64_t id;

	begin_bare(60000);
	unreadable(0x16, 20, 3, BYTES("\2\10\11"));
	unreadable(0x16, 20, 0, BYTES(""));
	unreadable(0x02, 20, 1, BYTES("N"));
	unreadable(0x16, 20, 0xffffffff, BYTES(""));
	unreadable(0x16, 20, 2 << 20, bytes_make(megabytes, 2 << 20));
	/* A strange id, then the right one, a byte at a time. */
	id = begin_call(&r);
	answer(0x16, 20, id + 77, 3, BYTES("\2\10\2"));
	for (size_t i = 0; i < 3; i++) {
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	cr_assert_eq(r.times, 0);
	answer(0x16, 20, id, 3, BYTES("\2"));
	uv_run(&loop, UV_RUN_NOWAIT);
	peer_send(provider, "\10", 1);
	uv_run(&loop, UV_RUN_NOWAIT);
	cr_assert_eq(r.times, 0);
	peer_send(provider, "\2", 1);
	wait_for(&r);
	cr_assert(r.outcome == DUBBO_DONE && r.kind == DUBBO_NULL);
	/* The status of an error in another serialization is understood. */
	id = begin_call(&r);
	answer(0x02, 40, id, 3, BYTES("\2no"));
	wait_for(&r);
	cr_assert(r.kind == DUBBO_ERROR && r.status == 40);
	cr_assert_eq(accepted, 1); /* all that over one connection */
	free(megabytes);
	end_bare();
}

Test(dubbo_client_bare, garbage_closes_and_the_call_is_unknown)
{
	static struct outcome r;

	begin_bare(60000);
	(void)begin_call(&r);
	peer_send(provider, "HTTP/1.1 400", 12);
	wait_for(&r);
	cr_assert_eq(r.outcome, DUBBO_UNKNOWN);
	RUN_UNTIL(&loop, accepted == 2);
	end_bare();
}

Test(dubbo_client_bare, only_the_provider_that_was_asked_can_answer)
{
	static struct outcome r;
	struct dubbo_client_options o;
	struct listener *other_door;
	struct peer *other;
	struct peer *asked;
	char both[140];
	uint64_t id;

	snprintf(both, sizeof(both), "%s,%s", paths[0], paths[1]);
	o = client_options(both);
	cr_assert_eq(listener_new(&loop, paths[0], accept_cb, NULL, &door), 0);
	cr_assert_eq(
		listener_new(&loop, paths[1], accept_cb, NULL, &other_door), 0);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2 && accepted == 2);
	call(&r, "x", 5000, -1);
	RUN_UNTIL(&loop, buf_len(&peers[0].got) + buf_len(&peers[1].got) > 0);
	asked = buf_len(&peers[0].got) > 0 ? &peers[0] : &peers[1];
	other = asked == &peers[0] ? &peers[1] : &peers[0];
	provider = asked;
	id = take_request();
	provider = other;
	answer(0x16, 20, id, 3, BYTES("\2\10\2"));
	RUN_UNTIL(&loop,
		  metric_value("rain_dubbo_client_late_replies_total ") == 1);
	cr_assert_eq(r.times, 0);
	provider = asked;
	answer(0x16, 20, id, 3, BYTES("\2\10\2"));
	wait_for(&r);
	cr_assert(r.outcome == DUBBO_DONE && r.kind == DUBBO_NULL);
	listener_free(other_door);
	end_bare();
}

Test(dubbo_client_bare, readonly_and_writeable_of_any_serialization)
{
	begin_bare(60000);
	answer(0xa2, 0, 1, 2, BYTES("\1R"));
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 0);
	answer(0xb6, 0, 1, 4, BYTES("\3\12\1W"));
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	end_bare();
}

Test(dubbo_client_bare,
     answers_the_heartbeats_and_refuses_the_calls_of_a_provider)
{
	struct buf body;
	struct dubbo_header h;

	begin_bare(60000);
	answer(0xe2, 0, 5, 1, BYTES("N"));
	h = peer_frame(provider, &body);
	cr_assert(h.event && !h.request && h.serialization == 2 && h.id == 5);
	cr_assert(bytes_eq(buf_live(&body), BYTES("N")));
	buf_close(&body);
	answer(0xd6, 0, 6, 0, BYTES(""));
	h = peer_frame(provider, &body);
	cr_assert(!h.event && !h.request && h.id == 6 && h.status == 40);
	buf_close(&body);
	end_bare();
}

Test(dubbo_client_bare, heartbeats_keep_it_and_three_missed_ones_end_it)
{
	static struct outcome r;
	struct buf body;
	struct dubbo_header h;

	begin_bare(30);
	for (int i = 0; i < 5; i++) {
		h = peer_frame(provider, &body);
		cr_assert(h.request && h.two_way && h.event);
		cr_assert(h.serialization == 22 && h.length == 0);
		answer(0x36, 20, h.id, 0, BYTES(""));
		buf_close(&body);
	}
	cr_assert_eq(accepted, 1);
	/* From here on the peer is as good as frozen. */
	(void)begin_call(&r);
	wait_for(&r);
	cr_assert_eq(r.outcome, DUBBO_UNKNOWN);
	RUN_UNTIL(&loop, accepted == 2);
	end_bare();
}

/* A host that is gone without a word: nothing comes, no end of file either,
 * and heartbeats would take minutes. */
Test(dubbo_client_bare, silence_after_missed_deadlines_ends_it)
{
	static struct outcome r;

	begin_bare(60000);
	for (int i = 0; i < 100 && accepted == 1; i++) {
		call(&r, "echo", 20, -1);
		wait_for(&r);
		cr_assert_neq(r.outcome, DUBBO_DONE);
	}
	cr_assert_eq(accepted, 2);
	RUN_UNTIL(&loop, peers[0].closed && dubbo_client_ready(client) == 1);
	end_bare();
}

/* Too slow for its deadlines, but it speaks. */
Test(dubbo_client_bare, a_late_provider_is_kept)
{
	static struct outcome r;

	begin_bare(60000);
	for (int i = 0; i < 20; i++) {
		call(&r, "echo", 20, -1);
		wait_for(&r);
		cr_assert_eq(r.outcome, DUBBO_UNKNOWN);
		answer(0x16, 20, 1, 0, BYTES(""));
		RUN_UNTIL(
			&loop,
			metric_value("rain_dubbo_client_late_replies_total ") ==
				i + 1);
	}
	cr_assert_eq(accepted, 1);
	end_bare();
}

/* What was still in our hands when the connection broke was not sent: another
 * provider may be asked. What may have left is not known. */
Test(dubbo_client_bare, what_never_left_was_not_sent)
{
	enum { CALLS = 8, LONG = 200 * 1024 };
	static struct outcome r[CALLS];
	char *what = malloc(LONG + 1);
	int sent = 0;

	memset(what, 'x', LONG);
	what[LONG] = '\0';
	begin_bare(60000);
	stream_pause(&provider->stream);
	for (int i = 0; i < CALLS; i++) {
		call(&r[i], what, 5000, -1);
	}
	/* As much as the system takes. */
	for (int i = 0; i < 20; i++) {
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	stream_close(&provider->stream, 0);
	for (int i = 0; i < CALLS; i++) {
		wait_for(&r[i]);
		if (r[i].outcome == DUBBO_UNKNOWN) {
			cr_assert_eq(sent, i, "in the order of the calls");
			sent++;
		} else {
			cr_assert_eq(r[i].outcome, DUBBO_NOT_SENT);
		}
	}
	cr_assert_lt(sent, CALLS);
	free(what);
	end_bare();
}
