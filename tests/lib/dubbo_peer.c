#include "lib/dubbo_peer.h"

#include <stdlib.h>

#include "net/dubbo_wire.h"
#include "proto/proto_util.h"

enum { MIB = 1024 * 1024 };

uv_loop_t loop;
struct stream_hub *hub;
struct service_state service;

void dubbo_setup(void)
{
	memset(&service, 0, sizeof(service));
	cr_assert(uv_loop_init(&loop) == 0);
	hub = stream_hub_new(&loop);
}

void dubbo_teardown(void)
{
	struct turns *t = turns_start(&loop, 10000);

	/* Streams that are closing still belong to the hub. */
	uv_unref((uv_handle_t *)&t->timer);
	while (!t->late && uv_run(&loop, UV_RUN_ONCE) != 0) {
	}
	cr_assert(!t->late, "something keeps the loop alive");
	turns_stop(t);
	stream_hub_free(hub);
	turns_end(&loop);
}

/* ---- A bare peer ---- */

static size_t on_data(struct stream *s, struct bytes data)
{
	struct peer *p = container_of(s, struct peer, stream);

	buf_put_bytes(&p->got, data);
	return data.n;
}

static void on_close(struct stream *s, int why)
{
	struct peer *p = container_of(s, struct peer, stream);

	p->closed = true;
	p->why = why;
}

static const struct stream_ops ops = {
	.on_data = on_data,
	.on_close = on_close,
};

void peer_connect(struct peer *p, const char *address)
{
	memset(p, 0, sizeof(*p));
	stream_connect(&p->stream, hub, address, 5000, &ops, MIB, 64 * MIB);
}

void peer_start(struct peer *p, int fd)
{
	memset(p, 0, sizeof(*p));
	stream_start(&p->stream, hub, fd, &ops, MIB, 64 * MIB);
}

void peer_send(struct peer *p, const void *bytes, size_t n)
{
	stream_send(&p->stream, bytes_make(bytes, n));
}

static bool whole_frame(struct peer *p, struct dubbo_header *h,
			struct bytes *body, size_t *used)
{
	struct dubbo_cutter c = { .payload_max = DUBBO_PAYLOAD_MAX };
	enum dubbo_cut cut = dubbo_cut(&c, buf_live(&p->got), h, body, used);

	cr_assert(cut == DUBBO_CUT_FRAME || cut == DUBBO_CUT_MORE);
	return cut == DUBBO_CUT_FRAME;
}

struct dubbo_header peer_frame(struct peer *p, struct buf *body)
{
	struct dubbo_header h;
	struct bytes view;
	size_t used;

	RUN_UNTIL(&loop, whole_frame(p, &h, &view, &used));
	buf_init(body);
	buf_put_bytes(body, view);
	buf_take(&p->got, used);
	return h;
}

struct dubbo_result peer_result(struct peer *p, uint64_t id, struct buf *body)
{
	struct dubbo_header h = peer_frame(p, body);
	struct dubbo_result r;
	const char *why = NULL;

	cr_assert(!h.request && !h.event && h.id == id);
	cr_assert_eq(dubbo_result_decode(h.status, buf_live(body), &r, &why), 0,
		     "%s", why);
	return r;
}

void peer_end(struct peer *p)
{
	stream_close(&p->stream, 0);
	RUN_UNTIL(&loop, p->closed);
	buf_close(&p->got);
}

/* ---- The service ---- */

static void reply(struct dubbo_call *call, struct bytes text)
{
	Rain__GrabResponse response = RAIN__GRAB_RESPONSE__INIT;
	Rain__GrabReply grab = RAIN__GRAB_REPLY__INIT;

	grab.message = to_pb(text);
	response.reply = &grab;
	dubbo_reply(call, &response.base);
}

static void grab(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	static uint8_t big[100 * 1024];
	struct service_state *s = ctx;
	Rain__GrabRequest *r =
		rain__grab_request__unpack(NULL, argument.n, argument.p);
	struct bytes what = r != NULL ? from_pb(r->activity_id) : BYTES("null");

	s->handled++;
	s->deadline = dubbo_call_deadline(call);
	if (bytes_eq(what, BYTES("null"))) {
		dubbo_reply(call, NULL);
	} else if (bytes_eq(what, BYTES("throw"))) {
		dubbo_throw(call, "rain.SoldOut", "no more");
	} else if (bytes_eq(what, BYTES("fail"))) {
		dubbo_fail(call, DUBBO_STATUS_SERVER_ERROR, "broken");
	} else if (bytes_eq(what, BYTES("big"))) {
		reply(call, bytes_make(big, sizeof(big)));
	} else if (bytes_eq(what, BYTES("hold"))) {
		cr_assert(s->held_count < HELD_MAX);
		s->held[s->held_count++] = call;
	} else {
		reply(call, what);
	}
	if (r != NULL) {
		rain__grab_request__free_unpacked(r, NULL);
	}
}

static const struct dubbo_method methods[] = {
	{ "grab", "Lrain/GrabRequest;", grab },
};

const struct dubbo_interface service_interfaces[1] = {
	{ "rain.GrabService", "1.0.0", methods, 1, &service },
};

struct dubbo_server_options server_options(const char *listen)
{
	return (struct dubbo_server_options){
		.listen = listen,
		.secret = "",
		.calls_max = 1000,
		.connections_max = 100,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.idle_ms = 180000,
	};
}

struct dubbo_server *server_start(const struct dubbo_server_options *o)
{
	struct dubbo_server *s;

	cr_assert_eq(dubbo_server_new(hub, o, service_interfaces, 1, &s), 0);
	return s;
}

void put_grab(struct buf *out, uint64_t id, bool two_way,
	      const char *activity_id)
{
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;
	struct dubbo_request r = {
		.protocol = BYTES("2.0.2"),
		.path = BYTES("rain.GrabService"),
		.version = BYTES("1.0.0"),
		.method = BYTES("grab"),
		.types = BYTES("Lrain/GrabRequest;"),
	};

	m.activity_id = to_pb_str(activity_id);
	dubbo_request_encode(out, id, two_way, &r, &m.base);
}

void answer_held(size_t i, const char *text)
{
	cr_assert(i < service.held_count && service.held[i] != NULL);
	reply(service.held[i], bytes_str(text));
	service.held[i] = NULL;
}

void assert_answer(const struct dubbo_result *r, const char *text)
{
	Rain__GrabResponse *m;

	cr_assert(r->kind == DUBBO_VALUE, "status %d: %.*s", r->status,
		  BYTES_FMT(r->message));
	m = rain__grab_response__unpack(NULL, r->value.n, r->value.p);
	cr_assert(m != NULL && m->reply != NULL);
	cr_assert(bytes_eq(from_pb(m->reply->message), bytes_str(text)), "%.*s",
		  BYTES_FMT(from_pb(m->reply->message)));
	rain__grab_response__free_unpacked(m, NULL);
}
