/* Real Apache Dubbo peers (tests/java) call us and are called by us. run.sh
 * names their command in JAVA_PEER. */
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/dubbo_client.h"
#include "lib/dubbo_peer.h"
#include "lib/java_peer.h"
#include "net/dubbo_server_internal.h"
#include "proto/proto_util.h"

TestSuite(dubbo_java, .init = dubbo_setup, .fini = dubbo_teardown,
	  .timeout = 180);

/* ---- A Java consumer calls our server ---- */

enum { CONCURRENT = 20 };

static struct {
	struct dubbo_call *held[CONCURRENT];
	char users[CONCURRENT][16];
	int held_count;
	int calls;
	bool unlike; /* a request was not what Java meant to send */
} seen;

static void reply_won(struct dubbo_call *call, struct bytes text)
{
	Rain__GrabResponse r = RAIN__GRAB_RESPONSE__INIT;
	Rain__GrabReply grab = RAIN__GRAB_REPLY__INIT;
	Rain__RedPacket packet = RAIN__RED_PACKET__INIT;

	packet.red_packet_id = to_pb_str("365628617880842241");
	packet.amount_cents = 1221;
	grab.status = RAIN__STATUS__WON;
	grab.red_packet = &packet;
	grab.message = to_pb(text);
	r.reply = &grab;
	r.revision = 7;
	dubbo_reply(call, &r.base);
}

static void hold(struct dubbo_call *call, struct bytes user)
{
	snprintf(seen.users[seen.held_count], sizeof(seen.users[0]), "%.*s",
		 BYTES_FMT(user));
	seen.held[seen.held_count++] = call;
	if (seen.held_count < CONCURRENT) {
		return;
	}
	while (seen.held_count > 0) {
		seen.held_count--;
		reply_won(seen.held[seen.held_count],
			  bytes_str(seen.users[seen.held_count]));
	}
}

static void grab(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	Rain__GrabRequest *r =
		rain__grab_request__unpack(NULL, argument.n, argument.p);
	struct bytes what;

	(void)ctx;
	cr_assert(r != NULL);
	seen.calls++;
	if (r->attempt != 3 || r->not_after_ms != INT64_C(1764430000000)) {
		seen.unlike = true;
	}
	what = from_pb(r->activity_id);
	if (bytes_eq(what, BYTES("null"))) {
		dubbo_reply(call, NULL);
	} else if (bytes_eq(what, BYTES("throw"))) {
		dubbo_throw(call, "rain.SoldOut", "no more packets");
	} else if (bytes_eq(what, BYTES("fail"))) {
		dubbo_fail(call, DUBBO_STATUS_SERVER_ERROR, "out of order");
	} else if (bytes_eq(what, BYTES("reverse"))) {
		hold(call, from_pb(r->user_id));
	} else if (bytes_eq(what, BYTES("unicode"))) {
		reply_won(call, BYTES("红包"));
	} else {
		reply_won(call, BYTES("ok"));
	}
	rain__grab_request__free_unpacked(r, NULL);
}

static void grab_batch(void *ctx, struct dubbo_call *call,
		       struct bytes argument)
{
	Rain__GrabBatchRequest *r =
		rain__grab_batch_request__unpack(NULL, argument.n, argument.p);
	Rain__GrabBatchResponse answer = RAIN__GRAB_BATCH_RESPONSE__INIT;
	Rain__GrabResponse one = RAIN__GRAB_RESPONSE__INIT;
	Rain__GrabResponse *list[2] = { &one, &one };

	(void)ctx;
	cr_assert(r != NULL && r->n_grabs == 2);
	answer.n_responses = 2;
	answer.responses = list;
	dubbo_reply(call, &answer.base);
	rain__grab_batch_request__free_unpacked(r, NULL);
}

static void result(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	(void)ctx;
	(void)argument;
	reply_won(call, BYTES("again"));
}

static const struct dubbo_method methods[] = {
	{ "grab", "Lrain/GrabRequest;", grab },
	{ "grabBatch", "Lrain/GrabBatchRequest;", grab_batch },
	{ "result", "Lrain/ResultRequest;", result },
};

static const struct dubbo_interface interfaces[] = {
	{ "rain.GrabService", "1.0.0", methods, 3, NULL },
};

/* Count what the connection reads while no call comes: heartbeats. */
static int count_beats(const struct dubbo_server *s)
{
	const struct dubbo_conn *first = s->conns;
	struct turns *t = turns_start(&loop, START_MS);
	uint64_t last_in_ms = first->stream.last_in_ms;
	int beats = 0;

	while (!java_said("after heartbeats") && !t->late) {
		uv_run(&loop, UV_RUN_ONCE);
		if (s->conns == first &&
		    first->stream.last_in_ms > last_in_ms) {
			last_in_ms = first->stream.last_in_ms;
			beats++;
		}
		cr_assert(s->conns == NULL || s->conns == first,
			  "Java connected anew");
	}
	turns_stop(t);
	return beats - 1; /* the last is the call */
}

Test(dubbo_java, a_java_consumer_is_served)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");
	struct dubbo_server *s;
	char url[256];
	int beats;

	o.secret = "sesame";
	cr_assert_eq(dubbo_server_new(hub, &o, interfaces, 1, &s), 0);
	snprintf(url, sizeof(url),
		 "dubbo://%s/rain.GrabService?version=1.0.0&token=sesame"
		 "&serialization=protobuf&prefer.serialization=protobuf"
		 "&heartbeat=1000",
		 dubbo_server_address(s));
	java_start("consumer", url);
	RUN_UNTIL_MS(&loop, START_MS, java_said("concurrent: ") || java.ended);
	expect_said("won: WON 365628617880842241 1221 ok 7\n");
	expect_said("null: null\n");
	expect_said("throw: ProtobufWrappedException rain.SoldOut: no more "
		    "packets\n");
	expect_said("fail: RpcException");
	expect_said("out of order");
	expect_said("unicode: WON 365628617880842241 1221 红包 7\n");
	expect_said("result: WON 365628617880842241 1221 again 7\n");
	expect_said("batch: 2\n");
	expect_said("concurrent: 20\n");
	beats = count_beats(s);
	cr_assert(beats >= 2, "%d heartbeats in 3.5 s", beats);
	expect_said("after heartbeats: WON 365628617880842241 1221 ok 7\n");
	RUN_UNTIL_MS(&loop, START_MS, java.ended);
	cr_assert_eq(java.status, 0);
	/* Handlers see nothing but serialization 22. */
	cr_assert_eq(seen.calls, 5 + CONCURRENT + 1);
	cr_assert(!seen.unlike);
	java_end();
	dubbo_server_free(s);
}

Test(dubbo_java, a_java_consumer_hears_that_its_token_is_wrong)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");
	struct dubbo_server *s;
	char url[256];

	o.secret = "sesame";
	cr_assert_eq(dubbo_server_new(hub, &o, interfaces, 1, &s), 0);
	snprintf(url, sizeof(url),
		 "dubbo://%s/rain.GrabService?version=1.0.0&token=guess"
		 "&serialization=protobuf&prefer.serialization=protobuf",
		 dubbo_server_address(s));
	java_start("consumer", url);
	RUN_UNTIL_MS(&loop, START_MS, java_said("won: ") && java_said("\n"));
	expect_said("won: RpcException");
	expect_said("token");
	cr_assert_eq(seen.calls, 0);
	java_end();
	dubbo_server_free(s);
}

/* ---- Our client calls a Java provider ---- */

struct outcome {
	int times;
	enum dubbo_outcome outcome;
	struct dubbo_result result;
	char text[8192]; /* class or status and message, or the reply's */
	Rain__GrabResponse *response;
};

static void done_cb(void *ctx, enum dubbo_outcome outcome,
		    const struct dubbo_result *r, int provider)
{
	struct outcome *o = ctx;
	struct bytes why = { NULL, 0 };

	(void)provider;
	o->times++;
	o->outcome = outcome;
	if (r == NULL) {
		return;
	}
	o->result = *r;
	o->response =
		dubbo_result_message(r, &rain__grab_response__descriptor, &why);
	snprintf(o->text, sizeof(o->text), "%.*s|%.*s",
		 BYTES_FMT(r->class_name), BYTES_FMT(why));
}

static struct dubbo_client *client;

static void begin_call(struct outcome *o, const char *method, const char *types,
		       const char *activity)
{
	struct dubbo_target t = { "rain.GrabService", "1.0.0", method, types };
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;

	memset(o, 0, sizeof(*o));
	m.activity_id = to_pb_str(activity);
	m.user_id = to_pb_str("用户");
	m.not_after_ms = INT64_C(1764430000000);
	dubbo_client_call(client, &t, &m.base, 10000, -1, done_cb, o);
}

static void call(struct outcome *o, const char *method, const char *types,
		 const char *activity)
{
	begin_call(o, method, types, activity);
	RUN_UNTIL_MS(&loop, START_MS, o->times == 1);
	cr_assert_eq(o->outcome, DUBBO_DONE, "%d", o->outcome);
}

static void expect_won(struct outcome *o)
{
	cr_assert(o->response != NULL, "%s", o->text);
	cr_assert_eq(o->response->reply->status, RAIN__STATUS__WON);
	cr_assert_eq(o->response->reply->red_packet->amount_cents, 1221);
	cr_assert_eq(o->response->reply->red_packet->at_ms,
		     INT64_C(1764430000000));
	cr_assert_eq(o->response->revision, UINT64_C(9007199254740993));
	cr_assert(
		bytes_eq(from_pb(o->response->reply->message), BYTES("用户")));
	proto_free(o->response);
}

static int free_port(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert(bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == 0);
	cr_assert(getsockname(fd, (struct sockaddr *)&sin, &len) == 0);
	close(fd);
	return ntohs(sin.sin_port);
}

#define GRAB "grab", "Lrain/GrabRequest;"

static void every_kind(void)
{
	static struct outcome r;
	static struct outcome many[50];

	call(&r, GRAB, "won");
	expect_won(&r);
	call(&r, GRAB, "null");
	cr_assert_eq(r.result.kind, DUBBO_NULL);
	call(&r, GRAB, "throw");
	cr_assert_eq(r.result.kind, DUBBO_EXCEPTION);
	cr_assert_str_eq(r.text, "java.lang.IllegalStateException|sold out");
	call(&r, "result", "Lrain/ResultRequest;", "a");
	cr_assert_eq(r.result.kind, DUBBO_VALUE);
	cr_assert_eq(r.result.value.n, 0); /* all defaults */
	proto_free(r.response);
	call(&r, "nothing", "Lrain/GrabRequest;", "a");
	cr_assert(r.result.kind == DUBBO_ERROR && r.result.status == 40,
		  "%d %s", r.result.status, r.text);
	for (int i = 0; i < 50; i++) {
		begin_call(&many[i], GRAB, "won");
	}
	for (int i = 0; i < 50; i++) {
		RUN_UNTIL_MS(&loop, START_MS, many[i].times == 1);
		expect_won(&many[i]);
	}
}

static void count_cb(void *ctx)
{
	++*(int *)ctx;
}

Test(dubbo_java, a_java_provider_answers_beats_and_drains)
{
	static struct outcome slow;
	static struct outcome r;
	static int changes;
	struct dubbo_client_options o;
	struct turns *t;
	char port[8];
	char address[32];

	snprintf(port, sizeof(port), "%d", free_port());
	snprintf(address, sizeof(address), "127.0.0.1:%s", port);
	java_start("provider", port);
	RUN_UNTIL_MS(&loop, START_MS, java_said("serving") || java.ended);
	dubbo_client_defaults(&o);
	o.addresses = address;
	o.heartbeat_ms = 1000; /* a JVM that has just started is slow */
	cr_assert_eq(dubbo_client_new(hub, &o, &client), 0);
	dubbo_client_watch(client, count_cb, &changes);
	every_kind();
	/* Seven silences of the client: without answers to its heartbeats it
	 * would have closed twice. */
	t = turns_start(&loop, 7000);
	while (!t->late) {
		uv_run(&loop, UV_RUN_ONCE);
	}
	turns_stop(t);
	cr_assert_eq(changes, 1);
	/* A graceful stop: READONLY first, and the call in flight ends well. */
	begin_call(&slow, GRAB, "slow");
	call(&r, GRAB, "won"); /* so the slow one is there too */
	expect_won(&r);
	java_let_go();
	RUN_UNTIL_MS(&loop, START_MS, dubbo_client_ready(client) == 0);
	RUN_UNTIL_MS(&loop, START_MS, slow.times == 1);
	cr_assert_eq(slow.outcome, DUBBO_DONE);
	expect_won(&slow);
	begin_call(&r, GRAB, "won");
	dubbo_client_free(client);
	cr_assert_eq(r.outcome, DUBBO_NOT_SENT);
	java_end();
}
