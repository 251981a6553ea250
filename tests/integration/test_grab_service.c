/* rain.GrabService over the wire, by our own client, on a real Redis. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "client/dubbo_client.h"
#include "grab-service/grab_service.h"
#include "lib/grab_rig.h"
#include "proto/proto_util.h"
#include "rain/grab_service.pb-c.h"

static struct grab_rig rig;
static struct dubbo_interface interface;
static struct dubbo_server *server;
static struct dubbo_client *client;

/* One call and its answer. */
struct call {
	bool done;
	enum dubbo_outcome outcome;
	enum dubbo_result_kind kind;
	uint8_t status;
	const ProtobufCMessageDescriptor *expected;
	ProtobufCMessage *message; /* owned, NULL unless it was one */
};

static void start(void)
{
	struct dubbo_server_options so = {
		.listen = "127.0.0.1:0",
		.secret = "",
		.calls_max = 5000,
		.connections_max = 10,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.idle_ms = 180000,
	};
	struct dubbo_client_options co;

	rig_open(&rig);
	rig_service(&rig, 0, false, NULL);
	interface = grab_service_interface(&rig.services[0].env);
	cr_assert_eq(dubbo_server_new(rig.hub, &so, &interface, 1, &server), 0);
	dubbo_client_defaults(&co);
	co.addresses = dubbo_server_address(server);
	co.application = "test";
	co.calls_max = 5000;
	cr_assert_eq(dubbo_client_new(rig.hub, &co, &client), 0);
	RUN_UNTIL(&rig.loop, dubbo_client_ready(client) == 1);
}

static void stop(void)
{
	dubbo_client_free(client);
	dubbo_server_free(server);
	rig_close(&rig);
}

TestSuite(grab_service, .init = start, .fini = stop, .timeout = 60);

static void answered(void *ctx, enum dubbo_outcome outcome,
		     const struct dubbo_result *result, int provider)
{
	struct call *c = ctx;
	struct bytes why;

	(void)provider;
	c->done = true;
	c->outcome = outcome;
	if (outcome == DUBBO_DONE) {
		c->kind = result->kind;
		c->status = result->status;
		c->message = dubbo_result_message(result, c->expected, &why);
	}
}

static void send_call(struct call *c, const char *method, const char *types,
		      const ProtobufCMessage *request,
		      const ProtobufCMessageDescriptor *expected)
{
	struct dubbo_target t = { .path = "rain.GrabService",
				  .version = "1.0.0",
				  .method = method,
				  .types = types };

	*c = (struct call){ .expected = expected };
	dubbo_client_call(client, &t, request, 5000, -1, answered, c);
}

static void send_grab(struct call *c, const char *activity, const char *user)
{
	Rain__GrabRequest r = RAIN__GRAB_REQUEST__INIT;

	r.activity_id = to_pb_str(activity);
	r.user_id = to_pb_str(user);
	r.not_after_ms = redis_time_now(&rig.services[0].env.time) + 5000;
	send_call(c, "grab", "Lrain/GrabRequest;", &r.base,
		  &rain__grab_response__descriptor);
}

static void send_batch(struct call *c, Rain__GrabRequest *grabs, size_t n)
{
	Rain__GrabBatchRequest r = RAIN__GRAB_BATCH_REQUEST__INIT;
	Rain__GrabRequest **list = calloc(n + 1, sizeof(*list));

	for (size_t i = 0; i < n; i++) {
		list[i] = &grabs[i];
	}
	r.n_grabs = n;
	r.grabs = list;
	send_call(c, "grabBatch", "Lrain/GrabBatchRequest;", &r.base,
		  &rain__grab_batch_response__descriptor);
	free(list);
}

static void *reply_to(struct call *c)
{
	RUN_UNTIL(&rig.loop, c->done);
	cr_assert_eq(c->outcome, DUBBO_DONE);
	cr_assert_not_null(c->message);
	return c->message;
}

static void drop(struct call *c)
{
	proto_free(c->message);
	c->message = NULL;
}

Test(grab_service, one_grab_and_its_result)
{
	struct call c;
	Rain__ResultRequest q = RAIN__RESULT_REQUEST__INIT;
	const Rain__GrabResponse *r;
	long long now;

	lua_open(&rig.redis, "a", 5);
	now = lua_now(&rig.redis);
	send_grab(&c, "a", "u");
	r = reply_to(&c);
	cr_assert_eq(r->reply->status, RAIN__STATUS__WON);
	cr_assert(bytes_eq(from_pb(r->reply->red_packet->red_packet_id),
			   BYTES("1000")));
	cr_assert_eq(r->reply->red_packet->amount_cents, 100);
	cr_assert_geq(r->reply->red_packet->at_ms, now);
	cr_assert_gt(r->revision, 0);
	cr_assert_geq(r->time_ms, now - 5);
	drop(&c);
	q.activity_id = to_pb_str("a");
	q.user_id = to_pb_str("u");
	send_call(&c, "result", "Lrain/ResultRequest;", &q.base,
		  &rain__grab_response__descriptor);
	r = reply_to(&c);
	cr_assert_eq(r->reply->status, RAIN__STATUS__ALREADY_GRABBED);
	drop(&c);
	send_grab(&c, "a", "");
	r = reply_to(&c);
	cr_assert_eq(r->reply->status, RAIN__STATUS__DENIED);
	drop(&c);
	send_grab(&c, "a b", "u");
	r = reply_to(&c);
	cr_assert_eq(r->reply->status, RAIN__STATUS__DENIED);
	drop(&c);
}

Test(grab_service, empty_batch_tells_the_time)
{
	struct call c;
	const Rain__GrabBatchResponse *r;
	long long now = lua_now(&rig.redis);

	send_batch(&c, NULL, 0);
	r = reply_to(&c);
	cr_assert_eq(r->n_responses, 0);
	cr_assert_geq(r->time_ms, now - 5);
	drop(&c);
}

/* Two activities and two users who are not acceptable, a thousand in all: the
 * answers come in the order of the request, each about its own. */
Test(grab_service, batch_is_split_by_activity_and_gathered_in_order)
{
	static Rain__GrabRequest grabs[1000];
	static char users[1000][16];
	struct call c;
	const Rain__GrabBatchResponse *r;

	lua_open(&rig.redis, "a", 1000);
	lua_open(&rig.redis, "b", 1);
	for (int i = 0; i < 1000; i++) {
		rain__grab_request__init(&grabs[i]);
		(void)snprintf(users[i], sizeof users[i], "u%d", i);
		grabs[i].activity_id = to_pb_str(i % 2 == 0 ? "a" : "b");
		grabs[i].user_id = to_pb_str(users[i]);
	}
	grabs[500].user_id = to_pb_str("");
	grabs[501].activity_id = to_pb_str("*");
	send_batch(&c, grabs, 1000);
	r = reply_to(&c);
	cr_assert_eq(r->n_responses, 1000);
	cr_assert_gt(r->time_ms, 0);
	for (int i = 0; i < 1000; i++) {
		int expected = i % 2 == 0 ? RAIN__STATUS__WON
			       : i == 1   ? RAIN__STATUS__WON
					  : RAIN__STATUS__SOLD_OUT;

		if (i == 500 || i == 501) {
			expected = RAIN__STATUS__DENIED;
		}
		cr_assert_eq((int)r->responses[i]->reply->status, expected,
			     "%d: %d", i, r->responses[i]->reply->status);
		cr_assert_eq(r->responses[i]->time_ms, 0);
	}
	drop(&c);
	cr_assert_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"),
			 "499");
}

/* A stranger's field, and an id that is text but no id. */
Test(grab_service, batch_may_be_written_in_another_way)
{
	static uint8_t five[] = { 5 };
	ProtobufCMessageUnknownField field = {
		.tag = 9,
		.wire_type = PROTOBUF_C_WIRE_TYPE_VARINT,
		.len = sizeof five,
		.data = five,
	};
	Rain__GrabRequest grabs[3];
	struct call c;
	const Rain__GrabBatchResponse *r;

	lua_open(&rig.redis, "a", 5);
	for (int i = 0; i < 3; i++) {
		rain__grab_request__init(&grabs[i]);
		grabs[i].activity_id = to_pb_str("a");
		grabs[i].user_id = to_pb_str(i == 0 ? "u" : "v");
	}
	grabs[0].base.n_unknown_fields = 1;
	grabs[0].base.unknown_fields = &field;
	grabs[1].user_id = to_pb_str("\xc3\xa9");
	send_batch(&c, grabs, 3);
	r = reply_to(&c);
	cr_assert_eq(r->n_responses, 3);
	cr_assert_eq(r->responses[0]->reply->status, RAIN__STATUS__WON);
	cr_assert_eq(r->responses[1]->reply->status, RAIN__STATUS__DENIED);
	cr_assert_eq(r->responses[2]->reply->status, RAIN__STATUS__WON);
	drop(&c);
	/* One that is no text spoils all of it, and nobody has grabbed. */
	grabs[0].user_id = to_pb_str("w");
	grabs[1].user_id = to_pb_str("\xff");
	send_batch(&c, grabs, 3);
	RUN_UNTIL(&rig.loop, c.done);
	cr_assert_eq(c.kind, DUBBO_ERROR);
	cr_assert_eq(c.status, DUBBO_STATUS_BAD_REQUEST);
	cr_assert_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"),
			 "2");
}

Test(grab_service, too_many_and_nonsense_are_refused)
{
	static Rain__GrabRequest grabs[1001];
	struct call c;
	Rain__RedPacket nonsense = RAIN__RED_PACKET__INIT;

	for (int i = 0; i < 1001; i++) {
		rain__grab_request__init(&grabs[i]);
	}
	send_batch(&c, grabs, 1001);
	RUN_UNTIL(&rig.loop, c.done);
	cr_assert_eq(c.kind, DUBBO_ERROR);
	cr_assert_eq(c.status, DUBBO_STATUS_BAD_REQUEST);
	/* Field 1 of this is no UTF-8 text. */
	nonsense.red_packet_id = to_pb_str("\xff\xfe");
	send_call(&c, "grab", "Lrain/GrabRequest;", &nonsense.base,
		  &rain__grab_response__descriptor);
	RUN_UNTIL(&rig.loop, c.done);
	if (c.kind == DUBBO_ERROR) {
		cr_assert_eq(c.status, DUBBO_STATUS_BAD_REQUEST);
	} else {
		const Rain__GrabResponse *r = reply_to(&c);

		cr_assert_eq(r->reply->status, RAIN__STATUS__DENIED);
		drop(&c);
	}
}

/* F14 over the wire: single grabs from many callers become few scripts. */
Test(grab_service, many_single_grabs_are_few_script_calls)
{
	enum { CALLS = 4000 };
	struct call *c = calloc(CALLS, sizeof *c);
	int won = 0;
	const char *info;
	long scripts;

	lua_open(&rig.redis, "a", 10);
	for (int i = 0; i < CALLS; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", i);
		send_grab(&c[i], "a", user);
	}
	for (int i = 0; i < CALLS; i++) {
		const Rain__GrabResponse *r = reply_to(&c[i]);

		won += r->reply->status == RAIN__STATUS__WON;
		cr_assert(r->reply->status == RAIN__STATUS__WON ||
			  r->reply->status == RAIN__STATUS__SOLD_OUT);
		drop(&c[i]);
	}
	cr_assert_eq(won, 10);
	info = redis_server_ask(&rig.redis, "INFO commandstats");
	info = strstr(info, "cmdstat_evalsha:calls=");
	cr_assert_not_null(info);
	scripts = strtol(info + 22, NULL, 10);
	cr_assert_lt(scripts * 8, CALLS, "%ld", scripts);
	free(c);
}
