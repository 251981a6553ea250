#include "client/app_client.h"

#include "base/err.h"
#include "proto/frame.h"
#include "proto/proto_util.h"

enum {
	OUT_MAX = 256 * 1024,
	/* A message of 64 KiB is text for the most part. */
	ARENA_MAX = 512 * 1024,
	CLOCK_KEEP_MS = 60000, /* then a slower answer is better than it */
};

static struct app_client *of_stream(struct stream *s)
{
	return container_of(s, struct app_client, stream);
}

/* Half of the way there and back is assumed to lie behind the server's
 * reading of its clock; of an answer that hung somewhere that says little. */
static void learn_clock(struct app_client *c, int64_t server_ms)
{
	uint64_t now = uv_now(stream_hub_loop(c->stream.hub));
	uint64_t took = now - c->asked_ms;

	if (c->server_known && took > c->server_took_ms &&
	    now - c->server_told_ms < CLOCK_KEEP_MS) {
		return;
	}
	c->server_offset_ms = server_ms - (int64_t)(c->asked_ms + took / 2);
	c->server_took_ms = took;
	c->server_told_ms = now;
	c->server_known = true;
}

static void take_error(struct app_client *c, uint64_t seq,
		       const Rain__Error *error)
{
	if (c->ops->on_error != NULL) {
		c->ops->on_error(c, seq, error);
	} else {
		stream_close(&c->stream, ERR_DENIED);
	}
}

/* Calls the owner if it has the callback. */
#define TELL(c, name, ...)                                \
	do {                                              \
		if ((c)->ops->name != NULL) {             \
			(c)->ops->name((c), __VA_ARGS__); \
		}                                         \
	} while (0)

static void take(struct app_client *c, const Rain__ServerMessage *m)
{
	switch (m->body_case) {
	case RAIN__SERVER_MESSAGE__BODY_HELLO_REPLY:
		learn_clock(c, m->hello_reply->server_time_ms);
		TELL(c, on_hello, m->seq, m->hello_reply);
		break;
	case RAIN__SERVER_MESSAGE__BODY_GRAB_REPLY:
		TELL(c, on_grab, m->seq, m->grab_reply);
		break;
	case RAIN__SERVER_MESSAGE__BODY_RESULT_REPLY:
		TELL(c, on_result, m->seq, m->result_reply);
		break;
	case RAIN__SERVER_MESSAGE__BODY_BALANCE_REPLY:
		TELL(c, on_balance, m->seq, m->balance_reply);
		break;
	case RAIN__SERVER_MESSAGE__BODY_PONG:
		learn_clock(c, m->pong->server_time_ms);
		TELL(c, on_pong, m->seq, m->pong);
		break;
	case RAIN__SERVER_MESSAGE__BODY_NOTICE:
		TELL(c, on_notice, m->notice);
		break;
	case RAIN__SERVER_MESSAGE__BODY_ERROR:
		take_error(c, m->seq, m->error);
		break;
	default:
		break; /* of a newer gateway */
	}
}

static size_t on_data(struct stream *s, struct bytes data)
{
	struct app_client *c = of_stream(s);
	size_t taken = 0;

	while (!s->closing) {
		struct bytes rest = { data.p + taken, data.n - taken };
		Rain__ServerMessage *m;
		struct bytes body;
		size_t used;

		switch (frame_next(rest, FRAME_TO_APP_MAX, &body, &used)) {
		case FRAME_MORE:
			return taken;
		case FRAME_BAD:
			stream_close(s, ERR_PROTO);
			return taken;
		case FRAME_OK:
			break;
		}
		taken += used;
		m = proto_unpack(&rain__server_message__descriptor, body,
				 ARENA_MAX);
		if (m == NULL) {
			stream_close(s, ERR_PROTO);
			break;
		}
		take(c, m);
		proto_free(m);
	}
	return taken;
}

static void on_open(struct stream *s)
{
	struct app_client *c = of_stream(s);

	if (c->ops->on_open != NULL) {
		c->ops->on_open(c);
	}
}

static void on_close(struct stream *s, int why)
{
	struct app_client *c = of_stream(s);

	if (c->ops->on_close != NULL) {
		c->ops->on_close(c, why);
	}
}

static const struct stream_ops stream_ops = {
	.on_data = on_data,
	.on_open = on_open,
	.on_close = on_close,
};

void app_client_connect(struct app_client *c, struct stream_hub *hub,
			const char *address, uint64_t timeout_ms,
			const struct app_client_ops *ops)
{
	c->ops = ops;
	c->last_seq = 0;
	c->asked_ms = 0;
	c->server_offset_ms = 0;
	c->server_took_ms = 0;
	c->server_told_ms = 0;
	c->server_known = false;
	stream_connect(&c->stream, hub, address, timeout_ms, &stream_ops,
		       FRAME_HEADER + FRAME_TO_APP_MAX, OUT_MAX);
}

void app_client_send(struct app_client *c, const Rain__ClientMessage *m)
{
	struct buf *out = stream_out(&c->stream);

	if (out != NULL) {
		frame_put(out, &m->base);
		stream_wrote(&c->stream);
	}
}

static uint64_t send_next(struct app_client *c, Rain__ClientMessage *m)
{
	m->seq = ++c->last_seq;
	app_client_send(c, m);
	return m->seq;
}

uint64_t app_client_hello(struct app_client *c, struct bytes token)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Hello hello = RAIN__HELLO__INIT;

	hello.token = to_pb(token);
	hello.protocol = 1;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_HELLO;
	m.hello = &hello;
	c->asked_ms = uv_now(stream_hub_loop(c->stream.hub));
	return send_next(c, &m);
}

uint64_t app_client_grab(struct app_client *c, struct bytes activity,
			 struct bytes user, uint32_t attempt,
			 int64_t not_after_ms)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Grab grab = RAIN__GRAB__INIT;

	grab.activity_id = to_pb(activity);
	grab.user_id = to_pb(user);
	grab.attempt = attempt;
	grab.not_after_ms = not_after_ms;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_GRAB;
	m.grab = &grab;
	return send_next(c, &m);
}

uint64_t app_client_query_result(struct app_client *c, struct bytes activity,
				 struct bytes user, int64_t not_after_ms)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__QueryResult query = RAIN__QUERY_RESULT__INIT;

	query.activity_id = to_pb(activity);
	query.user_id = to_pb(user);
	query.not_after_ms = not_after_ms;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_QUERY_RESULT;
	m.query_result = &query;
	return send_next(c, &m);
}

uint64_t app_client_query_balance(struct app_client *c, struct bytes user)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__QueryBalance query = RAIN__QUERY_BALANCE__INIT;

	query.user_id = to_pb(user);
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_QUERY_BALANCE;
	m.query_balance = &query;
	return send_next(c, &m);
}

uint64_t app_client_ping(struct app_client *c)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Ping ping = RAIN__PING__INIT;

	m.body_case = RAIN__CLIENT_MESSAGE__BODY_PING;
	m.ping = &ping;
	c->asked_ms = uv_now(stream_hub_loop(c->stream.hub));
	return send_next(c, &m);
}

int64_t app_client_server_ms(const struct app_client *c)
{
	if (!c->server_known) {
		return 0;
	}
	return (int64_t)uv_now(stream_hub_loop(c->stream.hub)) +
	       c->server_offset_ms;
}

void app_client_close(struct app_client *c)
{
	stream_close(&c->stream, 0);
}
