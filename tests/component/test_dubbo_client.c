/* A Dubbo client against our server, and against bare peers that misbehave. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/metrics.h"
#include "client/dubbo_client.h"
#include "lib/dubbo_peer.h"
#include "lib/vectors.h"
#include "proto/proto_util.h"

static char dir[32];
static char paths[3][64]; /* unix addresses of providers */
static struct dubbo_client *client;

static void setup(void)
{
	dubbo_setup();
	strcpy(dir, "/tmp/dubbo-XXXXXX");
	cr_assert(mkdtemp(dir) != NULL);
	for (int i = 0; i < 3; i++) {
		snprintf(paths[i], sizeof(paths[i]), "unix:%s/%d", dir, i);
	}
}

static void teardown(void)
{
	dubbo_teardown();
	cr_assert(rmdir(dir) == 0);
}

TestSuite(dubbo_client, .init = setup, .fini = teardown, .timeout = 60);

static struct dubbo_client_options client_options(const char *addresses)
{
	struct dubbo_client_options o;

	dubbo_client_defaults(&o);
	o.addresses = addresses;
	o.backoff_min_ms = 2;
	o.backoff_max_ms = 20;
	return o;
}

static void client_start(const struct dubbo_client_options *o)
{
	cr_assert_eq(dubbo_client_new(hub, o, &client), 0);
}

static struct dubbo_server *serve(int i)
{
	struct dubbo_server_options o = server_options(paths[i]);

	return server_start(&o);
}

/* What became of one call. */
struct outcome {
	int times;
	enum dubbo_outcome outcome;
	enum dubbo_result_kind kind;
	uint8_t status;
	int provider;
	char text[200]; /* of the answer, the exception or the error */
};

static bool inside_call;

static void done_cb(void *ctx, enum dubbo_outcome outcome,
		    const struct dubbo_result *r, int provider)
{
	struct outcome *o = ctx;
	struct bytes text = { NULL, 0 };
	ProtobufCMessage *m = NULL;

	cr_assert(!inside_call);
	cr_assert((outcome == DUBBO_DONE) == (r != NULL));
	o->times++;
	o->outcome = outcome;
	o->provider = provider;
	if (r == NULL) {
		return;
	}
	o->kind = r->kind;
	o->status = r->status;
	m = dubbo_result_message(r, &rain__grab_response__descriptor, &text);
	if (m != NULL && ((Rain__GrabResponse *)(void *)m)->reply != NULL) {
		text = from_pb(
			((Rain__GrabResponse *)(void *)m)->reply->message);
	}
	snprintf(o->text, sizeof(o->text), "%.*s", BYTES_FMT(text));
	if (m != NULL) {
		protobuf_c_message_free_unpacked(m, NULL);
	}
}

static const struct dubbo_target target = { "rain.GrabService", "1.0.0", "grab",
					    "Lrain/GrabRequest;" };

static void call(struct outcome *o, const char *what, uint64_t timeout_ms,
		 int avoid)
{
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;

	memset(o, 0, sizeof(*o));
	m.activity_id = to_pb_str(what);
	inside_call = true;
	dubbo_client_call(client, &target, &m.base, timeout_ms, avoid, done_cb,
			  o);
	inside_call = false;
}

static void wait_for(struct outcome *o)
{
	RUN_UNTIL(&loop, o->times > 0);
	cr_assert_eq(o->times, 1);
}

static void call_and_wait(struct outcome *o, const char *what)
{
	call(o, what, 5000, -1);
	wait_for(o);
}

static void expect_text(const struct outcome *o, const char *text)
{
	cr_assert_eq(o->outcome, DUBBO_DONE, "%d", o->outcome);
	cr_assert_eq(o->kind, DUBBO_VALUE, "%d %d %s", o->kind, o->status,
		     o->text);
	cr_assert_str_eq(o->text, text);
}

/* The value of a metric line, from the page that operators see. */
static long metric_value(const char *line)
{
	struct buf page;
	char start[128];
	char *text;
	char *at;
	long v;

	buf_init(&page);
	metrics_render(&page);
	text = xstrndup(buf_live(&page).p, buf_len(&page));
	snprintf(start, sizeof(start), "\n%s", line); /* no comment line */
	at = strstr(text, start);
	cr_assert(at != NULL, "no %s", line);
	v = strtol(at + strlen(start), NULL, 10);
	free(text);
	buf_close(&page);
	return v;
}

Test(dubbo_client, each_kind_of_answer)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	struct outcome r;

	client_start(&o);
	call_and_wait(&r, "echo"); /* made before it is connected */
	expect_text(&r, "echo");
	cr_assert_eq(r.provider, 0);
	call_and_wait(&r, "null");
	cr_assert(r.outcome == DUBBO_DONE && r.kind == DUBBO_NULL);
	call_and_wait(&r, "throw");
	cr_assert(r.kind == DUBBO_EXCEPTION);
	cr_assert_str_eq(r.text, "no more");
	call_and_wait(&r, "fail");
	cr_assert(r.kind == DUBBO_ERROR && r.status == 80);
	cr_assert_str_eq(r.text, "broken");
	cr_assert_eq(
		metric_value(
			"rain_dubbo_client_calls_total{outcome=\"value\"} "),
		2);
	cr_assert_eq(metric_value("rain_dubbo_client_in_flight "), 0);
	cr_assert_eq(metric_value("rain_dubbo_client_providers_ready "), 1);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, over_tcp_by_name_with_a_secret)
{
	struct dubbo_server_options so = server_options("127.0.0.1:0");
	struct dubbo_client_options o;
	struct dubbo_server *s;
	struct outcome r;
	char address[64];

	so.secret = "s3cret";
	s = server_start(&so);
	snprintf(address, sizeof(address), "localhost%s",
		 strrchr(dubbo_server_address(s), ':'));
	o = client_options(address);
	o.secret = "s3cret";
	client_start(&o);
	call_and_wait(&r, "echo");
	expect_text(&r, "echo");
	dubbo_client_free(client);
	o.secret = "guess";
	client_start(&o);
	call_and_wait(&r, "echo");
	cr_assert(r.kind == DUBBO_ERROR && r.status == 70);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, replies_find_their_calls_in_any_order)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r[3];

	client_start(&o);
	for (int i = 0; i < 3; i++) {
		call(&r[i], "hold", 5000, -1);
	}
	RUN_UNTIL(&loop, service.held_count == 3);
	answer_held(2, "c");
	answer_held(0, "a");
	wait_for(&r[2]);
	wait_for(&r[0]);
	cr_assert_eq(r[1].times, 0);
	answer_held(1, "b");
	wait_for(&r[1]);
	expect_text(&r[0], "a");
	expect_text(&r[1], "b");
	expect_text(&r[2], "c");
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, a_deadline_ends_a_call_and_the_late_reply_is_dropped)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome slow;
	static struct outcome slower;
	struct outcome next;
	uint64_t start;

	client_start(&o);
	call_and_wait(&next, "echo");
	start = uv_now(&loop);
	call(&slower, "hold", 5000, -1);
	call(&slow, "hold", 30, -1);
	wait_for(&slow);
	cr_assert_eq(slow.outcome, DUBBO_UNKNOWN);
	cr_assert_eq(slow.provider, 0);
	cr_assert(uv_now(&loop) - start >= 30);
	cr_assert_eq(slower.times, 0);
	cr_assert_eq(service.held_count, 2);
	cr_assert(service.deadline <= start + 1000);
	answer_held(1, "late");
	call_and_wait(&next, "next");
	expect_text(&next, "next");
	cr_assert_eq(slow.times, 1);
	cr_assert_eq(metric_value("rain_dubbo_client_late_replies_total "), 1);
	answer_held(0, "in time");
	wait_for(&slower);
	expect_text(&slower, "in time");
	dubbo_client_free(client);
	dubbo_server_free(s);
}

Test(dubbo_client, without_a_provider_nothing_was_sent)
{
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r;
	uint64_t start = uv_now(&loop);

	client_start(&o);
	call(&r, "echo", 40, -1);
	wait_for(&r);
	cr_assert_eq(r.outcome, DUBBO_NOT_SENT);
	cr_assert_eq(r.provider, -1);
	cr_assert(uv_now(&loop) - start >= 40);
	cr_assert_eq(dubbo_client_ready(client), 0);
	dubbo_client_free(client);
}

Test(dubbo_client, a_waiting_call_leaves_when_a_provider_is_there)
{
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r[3];
	struct dubbo_server *s;
	struct turns *t;
	uint64_t deadline;

	client_start(&o);
	deadline = uv_now(&loop) + 9000;
	for (int i = 0; i < 3; i++) {
		call(&r[i], "echo", 9000, -1);
	}
	t = turns_start(&loop, 50);
	while (!t->late) {
		uv_run(&loop, UV_RUN_ONCE);
	}
	turns_stop(t);
	s = serve(0);
	for (int i = 0; i < 3; i++) {
		wait_for(&r[i]);
		expect_text(&r[i], "echo");
	}
	/* The provider was told what was left of the time. */
	cr_assert(service.deadline <= deadline + 20, "%ld too late",
		  (long)(service.deadline - deadline));
	dubbo_client_free(client);
	dubbo_server_free(s);
}

static void count_cb(void *ctx)
{
	++*(int *)ctx;
}

Test(dubbo_client, connects_again_after_a_restart)
{
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);
	static struct outcome r;
	static int changes;

	client_start(&o);
	dubbo_client_watch(client, count_cb, &changes);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	cr_assert_eq(changes, 1);
	call(&r, "hold", 5000, -1);
	RUN_UNTIL(&loop, service.held_count == 1);
	dubbo_server_free(s);
	wait_for(&r);
	cr_assert_eq(r.outcome, DUBBO_UNKNOWN); /* it was sent */
	cr_assert_eq(changes, 2);
	answer_held(0, "nobody");
	s = serve(0);
	call_and_wait(&r, "again");
	expect_text(&r, "again");
	cr_assert_eq(changes, 3);
	cr_assert(metric_value("rain_dubbo_client_reconnects_total ") >= 1);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

static void drained_cb(void *ctx)
{
	*(bool *)ctx = true;
}

Test(dubbo_client, a_draining_provider_gets_no_new_calls_and_loses_none)
{
	static struct outcome held;
	static struct outcome other;
	static bool drained;
	struct dubbo_server *a = serve(0);
	struct dubbo_server *b = serve(1);
	struct dubbo_client_options o;
	char both[140];

	snprintf(both, sizeof(both), "%s, %s", paths[0], paths[1]);
	o = client_options(both);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	call(&held, "hold", 5000, 1);
	RUN_UNTIL(&loop, service.held_count == 1);
	dubbo_server_drain(a, drained_cb, &drained);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	for (int i = 0; i < 5; i++) {
		call_and_wait(&other, "echo");
		cr_assert_eq(other.provider, 1);
	}
	cr_assert(held.times == 0 && !drained);
	answer_held(0, "kept");
	wait_for(&held);
	expect_text(&held, "kept");
	cr_assert_eq(held.provider, 0);
	RUN_UNTIL(&loop, drained);
	dubbo_server_free(a);
	call_and_wait(&other, "echo");
	a = serve(0); /* a new process: not READONLY any more */
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	dubbo_client_free(client);
	dubbo_server_free(a);
	dubbo_server_free(b);
}

Test(dubbo_client, the_fewest_in_flight_is_asked_and_the_avoided_one_is_not)
{
	static struct outcome held[4];
	struct outcome r;
	struct dubbo_server *a = serve(0);
	struct dubbo_server *b = serve(1);
	struct dubbo_client_options o;
	char both[140];

	snprintf(both, sizeof(both), "%s,%s", paths[0], paths[1]);
	o = client_options(both);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	call(&held[0], "hold", 5000, 1);
	call(&held[1], "hold", 5000, 1);
	call(&held[2], "hold", 5000, -1);
	RUN_UNTIL(&loop, service.held_count == 3);
	call_and_wait(&r, "echo");
	cr_assert_eq(r.provider, 1);
	call(&r, "echo", 5000, 1); /* the busier one after all */
	wait_for(&r);
	cr_assert_eq(r.provider, 0);
	for (size_t i = 0; i < 3; i++) {
		answer_held(i, "x");
		wait_for(&held[i]);
	}
	cr_assert(held[0].provider == 0 && held[1].provider == 0 &&
		  held[2].provider == 1);
	dubbo_server_free(b);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	call(&r, "echo", 5000, 0); /* avoided, but there is no other */
	wait_for(&r);
	cr_assert_eq(r.provider, 0);
	dubbo_client_free(client);
	dubbo_server_free(a);
}

Test(dubbo_client, a_provider_that_lets_deadlines_pass_is_asked_last)
{
	static struct outcome slow;
	struct outcome r;
	struct dubbo_server *a = serve(0);
	struct dubbo_server *b = serve(1);
	struct dubbo_client_options o;
	char both[140];

	snprintf(both, sizeof(both), "%s,%s", paths[0], paths[1]);
	o = client_options(both);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 2);
	call(&slow, "hold", 20, 1);
	wait_for(&slow);
	cr_assert(slow.outcome == DUBBO_UNKNOWN && slow.provider == 0);
	for (int i = 0; i < 3; i++) {
		call_and_wait(&r, "echo");
		cr_assert_eq(r.provider, 1);
	}
	answer_held(0, "alive"); /* late, but it lives */
	RUN_UNTIL(&loop,
		  metric_value("rain_dubbo_client_late_replies_total ") == 1);
	call_and_wait(&r, "echo");
	cr_assert_eq(r.provider, 0);
	dubbo_client_free(client);
	dubbo_server_free(a);
	dubbo_server_free(b);
}

Test(dubbo_client, calls_over_the_limit_are_not_sent)
{
	static struct outcome r[5];
	static struct outcome big;
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;
	uint8_t *megabytes = xcalloc(1, 9 << 20);
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);

	o.calls_max = 3;
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	m.activity_id = to_pb(bytes_make(megabytes, 9 << 20));
	dubbo_client_call(client, &target, &m.base, 5000, -1, done_cb, &big);
	cr_assert_eq(big.times, 0);
	wait_for(&big);
	cr_assert_eq(big.outcome, DUBBO_NOT_SENT);
	for (int i = 0; i < 5; i++) {
		call(&r[i], "hold", 5000, -1);
	}
	wait_for(&r[3]);
	wait_for(&r[4]);
	cr_assert_eq(r[3].outcome, DUBBO_NOT_SENT);
	cr_assert_eq(r[4].outcome, DUBBO_NOT_SENT);
	RUN_UNTIL(&loop, service.held_count == 3);
	for (size_t i = 0; i < 3; i++) {
		answer_held(i, "x");
		wait_for(&r[i]);
		expect_text(&r[i], "x");
	}
	free(megabytes);
	dubbo_client_free(client);
	dubbo_server_free(s);
}

static struct outcome chained;

static void call_again_cb(void *ctx, enum dubbo_outcome outcome,
			  const struct dubbo_result *r, int provider)
{
	(void)r;
	(void)provider;
	*(enum dubbo_outcome *)ctx = outcome;
	call(&chained, "echo", 1000, -1);
}

Test(dubbo_client, freeing_ends_every_call)
{
	static struct outcome sent;
	static enum dubbo_outcome first;
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;
	struct dubbo_server *s = serve(0);
	struct dubbo_client_options o = client_options(paths[0]);

	client_start(&o);
	call(&sent, "hold", 5000, -1);
	RUN_UNTIL(&loop, service.held_count == 1);
	m.activity_id = to_pb_str("hold");
	dubbo_client_call(client, &target, &m.base, 5000, -1, call_again_cb,
			  &first);
	dubbo_client_free(client);
	cr_assert(sent.times == 1 && sent.outcome == DUBBO_UNKNOWN);
	cr_assert_eq(first, DUBBO_UNKNOWN);
	cr_assert_eq(chained.times, 0);
	wait_for(&chained);
	cr_assert_eq(chained.outcome, DUBBO_NOT_SENT);
	answer_held(0, "nobody");
	if (service.held_count == 2) {
		answer_held(1, "nobody");
	}
	dubbo_server_free(s);
	o.addresses = paths[1];
	client_start(&o); /* never connected */
	call(&sent, "echo", 5000, -1);
	dubbo_client_free(client);
	cr_assert(sent.times == 1 && sent.outcome == DUBBO_NOT_SENT);
}

Test(dubbo_client, bad_addresses_are_refused)
{
	static const char *const bad[] = { "", "host", "127.0.0.1:1,", "a:b",
					   "127.0.0.1:1,,127.0.0.1:2" };

	for (size_t i = 0; i < 5; i++) {
		struct dubbo_client_options o = client_options(bad[i]);

		cr_assert_eq(dubbo_client_new(hub, &o, &client), ERR_CONFIG,
			     "%s", bad[i]);
		cr_assert(client == NULL);
	}
}

/* ---- Against a bare peer ---- */

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

/* Call, and return the id of the request that came. */
static uint64_t begin_call(struct outcome *o)
{
	struct buf body;
	struct dubbo_header h;
	struct dubbo_request r;
	const char *why;

	call(o, "x", 5000, -1);
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

Test(dubbo_client, reads_what_java_providers_answered)
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

Test(dubbo_client, an_answer_that_cannot_be_read_fails_its_call_only)
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

Test(dubbo_client, garbage_closes_and_the_call_is_unknown)
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

Test(dubbo_client, readonly_and_writeable_of_any_serialization)
{
	begin_bare(60000);
	answer(0xa2, 0, 1, 2, BYTES("\1R"));
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 0);
	answer(0xb6, 0, 1, 4, BYTES("\3\12\1W"));
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	end_bare();
}

Test(dubbo_client, answers_the_heartbeats_and_refuses_the_calls_of_a_provider)
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

Test(dubbo_client, heartbeats_keep_it_and_three_missed_ones_end_it)
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

Test(dubbo_client, a_heartbeat_reaches_our_server_and_comes_back)
{
	struct dubbo_server_options so = server_options(paths[0]);
	struct dubbo_client_options o = client_options(paths[0]);
	struct dubbo_server *s;
	struct turns *t;

	/* Silent but for heartbeats, for several idle times of the server and
	 * several silences of the client. */
	so.idle_ms = 60;
	o.heartbeat_ms = 20;
	s = server_start(&so);
	client_start(&o);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
	t = turns_start(&loop, 300);
	while (!t->late) {
		uv_run(&loop, UV_RUN_ONCE);
		cr_assert(dubbo_client_ready(client) == 1);
	}
	turns_stop(t);
	cr_assert_eq(metric_value("rain_dubbo_client_reconnects_total "), 0);
	dubbo_client_free(client);
	dubbo_server_free(s);
}
