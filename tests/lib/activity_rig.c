#include "lib/activity_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/turns.h"
#include "proto/proto_util.h"

enum { CALL_MS = 9000 };

static void changed(void *ctx, struct bytes id)
{
	struct activity_rig *g = ctx;

	g->changed++;
	(void)snprintf(g->changed_id, sizeof(g->changed_id), "%.*s",
		       BYTES_FMT(id));
}

static void start_service(struct activity_rig *g, uint64_t chunk)
{
	struct dubbo_client_options co;
	const struct dubbo_server_options so = {
		.listen = "127.0.0.1:0",
		.secret = "",
		.calls_max = 100,
		.connections_max = 10,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.idle_ms = 60000,
	};
	int rv;

	g->service = activity_service_new(&(struct activity_deps){
		.loop = &g->loop,
		.redis = g->redis,
		.ledger = g->asks,
		.timeout_ms = 5000,
		.chunk = chunk,
		.changed = changed,
		.ctx = g,
	});
	rv = dubbo_server_new(g->hub, &so,
			      activity_service_interface(g->service), 1,
			      &g->provider);
	cr_assert_eq(rv, 0);
	dubbo_client_defaults(&co);
	co.addresses = dubbo_server_address(g->provider);
	rv = dubbo_client_new(g->hub, &co, &g->client);
	cr_assert_eq(rv, 0);
}

static void start_redis_client(struct activity_rig *g)
{
	struct redis_options o;
	int rv;

	redis_defaults(&o);
	o.url = g->proxy.listener != NULL ? g->proxy_url : g->server.url;
	o.backoff_min_ms = 5;
	o.backoff_max_ms = 50;
	rv = redis_new(g->hub, &o, &g->redis);
	cr_assert_eq(rv, 0);
	RUN_UNTIL(&g->loop, redis_ready(g->redis));
}

void activity_rig_open(struct activity_rig *g, const char *const *args)
{
	struct grab_options options = { .ledger_secret = "",
					.ledger_timeout_ms = 5000,
					.ledger_calls_max = 10 };
	int rv;

	*g = (struct activity_rig){ .message = "", .call_ms = CALL_MS };
	redis_server_start(&g->server, args);
	cr_assert_eq(uv_loop_init(&g->loop), 0);
	g->hub = stream_hub_new(&g->loop);
	start_redis_client(g);
	g->ledger.state = "";
	fake_ledger_start(&g->ledger, g->hub);
	options.ledger_addresses = g->ledger.address;
	rv = ledger_new(g->hub, &options, &g->asks);
	cr_assert_eq(rv, 0);
	start_service(g, 500);
	RUN_UNTIL(&g->loop,
		  ledger_ready(g->asks) && dubbo_client_ready(g->client) > 0);
}

static void stop_service(struct activity_rig *g)
{
	dubbo_client_free(g->client);
	dubbo_server_free(g->provider);
	activity_service_free(g->service);
}

void activity_rig_replace(struct activity_rig *g, uint64_t chunk)
{
	stop_service(g);
	redis_free(g->redis);
	start_redis_client(g);
	start_service(g, chunk);
	RUN_UNTIL(&g->loop, dubbo_client_ready(g->client) > 0);
}

void activity_rig_through_proxy(struct activity_rig *g)
{
	(void)snprintf(g->proxy_url, sizeof(g->proxy_url), "unix:%s/proxy",
		       g->server.dir);
	cut_proxy_open(&g->proxy, g->hub, g->proxy_url, g->server.url);
	activity_rig_replace(g, 500);
}

void activity_rig_close(struct activity_rig *g)
{
	activity_call_close(&g->call);
	stop_service(g);
	ledger_free(g->asks);
	fake_ledger_stop(&g->ledger);
	redis_free(g->redis);
	if (g->proxy.listener != NULL) {
		cut_proxy_close(&g->proxy);
	}
	uv_run(&g->loop, UV_RUN_NOWAIT);
	stream_hub_free(g->hub);
	turns_end(&g->loop);
	redis_server_close(&g->server);
}

static void call_cb(void *ctx, enum dubbo_outcome outcome,
		    const struct dubbo_result *result, int provider)
{
	struct activity_call *c = ctx;
	struct bytes why;

	(void)provider;
	cr_assert(!c->done);
	c->done = true;
	c->outcome = outcome;
	if (outcome == DUBBO_DONE) {
		c->kind = result->kind;
		c->reply = dubbo_result_message(result, c->expects, &why);
	}
}

void activity_send(struct activity_rig *g, struct activity_call *c,
		   const char *method, const char *types,
		   const ProtobufCMessage *message,
		   const ProtobufCMessageDescriptor *expects)
{
	const struct dubbo_target target = { .path = "rain.ActivityService",
					     .version = "1.0.0",
					     .method = method,
					     .types = types };

	*c = (struct activity_call){ .expects = expects };
	dubbo_client_call(g->client, &target, message, g->call_ms, -1, call_cb,
			  c);
}

void activity_wait(struct activity_rig *g, struct activity_call *c)
{
	RUN_UNTIL(&g->loop, c->done);
	cr_assert_eq(c->outcome, DUBBO_DONE);
}

void activity_call_close(struct activity_call *c)
{
	if (c->reply != NULL) {
		proto_free(c->reply);
		c->reply = NULL;
	}
}

void activity_take(struct activity_rig *g, struct activity_call *c)
{
	Rain__ActivityReply *reply = (Rain__ActivityReply *)(void *)c->reply;

	cr_assert_not_null(reply);
	activity_call_close(&g->call);
	g->call = *c;
	g->outcome = reply->outcome;
	g->message = activity_text(reply->message);
	g->activity = reply->activity;
}

void activity_send_id(struct activity_rig *g, struct activity_call *c,
		      const char *method, const char *id)
{
	Rain__ActivityRequest m = RAIN__ACTIVITY_REQUEST__INIT;

	m.activity_id = to_pb_str(id);
	activity_send(g, c, method, "Lrain/ActivityRequest;", &m.base,
		      &rain__activity_reply__descriptor);
}

void activity_ask(struct activity_rig *g, const char *method, const char *id)
{
	struct activity_call c;

	activity_send_id(g, &c, method, id);
	activity_wait(g, &c);
	activity_take(g, &c);
}

Rain__Plan activity_plan(const char *id, uint64_t packets)
{
	Rain__Plan p = RAIN__PLAN__INIT;

	p.activity_id = to_pb_str(id);
	p.title = to_pb_str("Quiz \"night\"");
	p.sponsor = to_pb_str("acme");
	p.currency = to_pb_str("CNY");
	p.algorithm = to_pb_str("double_mean");
	p.ack = to_pb_str("redis");
	p.packets = packets;
	p.total_cents = (int64_t)packets * 100;
	p.min_cents = 1;
	return p;
}

void activity_create_plan(struct activity_rig *g, const Rain__Plan *plan)
{
	Rain__CreateRequest m = RAIN__CREATE_REQUEST__INIT;
	Rain__Plan copy = *plan;
	struct activity_call c;

	m.plan = &copy;
	activity_send(g, &c, "create", "Lrain/CreateRequest;", &m.base,
		      &rain__activity_reply__descriptor);
	activity_wait(g, &c);
	activity_take(g, &c);
}

const char *activity_text(ProtobufCBinaryData b)
{
	static char texts[8][600];
	static size_t next;
	char *out = texts[next++ % 8];

	(void)snprintf(out, sizeof(texts[0]), "%.*s", (int)b.len,
		       (const char *)b.data);
	return out;
}
