#include "lib/gateway_fake.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "proto/proto_util.h"
#include "rain/ledger_service.pb-c.h"

enum { ARENA_MAX = 4 * 1024 * 1024 };

static void fill_response(const struct fake *f, Rain__GrabResponse *response)
{
	rain__grab_response__init(response);
	response->revision = f->revision;
	response->packets = f->packets;
	response->stands_ms = f->stands_ms;
}

static void fill_reply(const struct fake *f, Rain__GrabReply *reply,
		       Rain__RedPacket *packet)
{
	rain__grab_reply__init(reply);
	rain__red_packet__init(packet);
	reply->status = f->status;
	if (f->status == RAIN__STATUS__WON ||
	    f->status == RAIN__STATUS__ALREADY_GRABBED) {
		packet->red_packet_id = to_pb_str("365628617880842241");
		packet->amount_cents = 1221;
		packet->at_ms = 1764430000000;
		reply->red_packet = packet;
	}
}

static void answer_batch(struct fake *f, struct dubbo_call *call, size_t n)
{
	Rain__GrabBatchResponse m = RAIN__GRAB_BATCH_RESPONSE__INIT;
	Rain__GrabResponse response;
	Rain__GrabResponse **list = xcalloc(n + 1, sizeof(*list));
	Rain__RedPacket packet;
	Rain__GrabReply reply;

	fill_response(f, &response);
	fill_reply(f, &reply, &packet);
	response.reply = &reply;
	for (size_t i = 0; i < n; i++) {
		list[i] = &response;
	}
	m.responses = list;
	m.n_responses = n;
	m.time_ms = clock_wall_ms() + f->clock_ms;
	dubbo_reply(call, &m.base);
	free(list);
}

static void hold(struct fake *f, struct dubbo_call *call, size_t n)
{
	cr_assert(f->held_count < FAKE_HELD_MAX);
	f->held[f->held_count] = call;
	f->held_sizes[f->held_count++] = n;
}

void fake_release(struct fake *f)
{
	f->mode = FAKE_ANSWER;
	for (size_t i = 0; i < f->held_count; i++) {
		answer_batch(f, f->held[i], f->held_sizes[i]);
	}
	f->held_count = 0;
}

static void copy_id(char *out, size_t size, ProtobufCBinaryData id)
{
	(void)snprintf(out, size, "%.*s", (int)id.len, (const char *)id.data);
}

static void note_batch(struct fake *f, const Rain__GrabBatchRequest *m)
{
	const Rain__GrabRequest *last = m->grabs[m->n_grabs - 1];

	if (f->calls < sizeof(f->sizes) / sizeof(f->sizes[0])) {
		f->sizes[f->calls] = m->n_grabs;
	}
	f->calls++;
	f->grabs += m->n_grabs;
	f->last = *last;
	copy_id(f->last_user, sizeof(f->last_user), last->user_id);
	copy_id(f->last_activity, sizeof(f->last_activity), last->activity_id);
}

static void behave(struct fake *f, struct dubbo_call *call, size_t n)
{
	switch (f->mode) {
	case FAKE_ANSWER:
		answer_batch(f, call, n);
		break;
	case FAKE_HOLD:
		hold(f, call, n);
		break;
	case FAKE_DIE:
		if (f->server != NULL) {
			dubbo_server_free(f->server);
			f->server = NULL;
		}
		dubbo_fail(call, DUBBO_STATUS_SERVER_ERROR, "never seen");
		break;
	case FAKE_FAIL:
		dubbo_fail(call, f->dubbo_status, "as the test says");
		break;
	case FAKE_THROW:
		dubbo_throw(call, "java.lang.IllegalStateException", "oops");
		break;
	case FAKE_ODD:
		answer_batch(f, call, n - 1);
		break;
	}
}

static void grab_batch(void *ctx, struct dubbo_call *call, struct bytes arg)
{
	struct fake *f = ctx;
	Rain__GrabBatchRequest *m = proto_unpack(
		&rain__grab_batch_request__descriptor, arg, ARENA_MAX);
	size_t n;

	cr_assert(m != NULL);
	n = m->n_grabs;
	if (n == 0) {
		f->probes++;
		answer_batch(f, call, 0);
	} else {
		note_batch(f, m);
		behave(f, call, n);
	}
	proto_free(m);
}

static void result(void *ctx, struct dubbo_call *call, struct bytes arg)
{
	struct fake *f = ctx;
	Rain__ResultRequest *m =
		proto_unpack(&rain__result_request__descriptor, arg, ARENA_MAX);
	Rain__GrabResponse response;
	Rain__RedPacket packet;
	Rain__GrabReply reply;

	cr_assert(m != NULL);
	f->results++;
	f->last.not_after_ms = m->not_after_ms;
	copy_id(f->last_user, sizeof(f->last_user), m->user_id);
	proto_free(m);
	if (f->mode == FAKE_ANSWER) {
		fill_response(f, &response);
		fill_reply(f, &reply, &packet);
		response.reply = &reply;
		dubbo_reply(call, &response.base);
	} else {
		behave(f, call, 0);
	}
}

static void balance(void *ctx, struct dubbo_call *call, struct bytes arg)
{
	struct fake *f = ctx;
	Rain__BalanceRequest *m = proto_unpack(
		&rain__balance_request__descriptor, arg, ARENA_MAX);
	Rain__LedgerBalanceReply reply = RAIN__LEDGER_BALANCE_REPLY__INIT;

	cr_assert(m != NULL);
	f->balances++;
	copy_id(f->last_user, sizeof(f->last_user), m->user_id);
	proto_free(m);
	if (f->mode == FAKE_ANSWER) {
		reply.balance_cents = 4711;
		reply.currency = to_pb_str("CNY");
		dubbo_reply(call, &reply.base);
	} else {
		behave(f, call, 0);
	}
}

static const struct dubbo_method grab_methods[] = {
	{ "grabBatch", "Lrain/GrabBatchRequest;", grab_batch },
	{ "result", "Lrain/ResultRequest;", result },
};
static const struct dubbo_method ledger_methods[] = {
	{ "balance", "Lrain/BalanceRequest;", balance },
};

/* The interfaces of one fake; they stay in place as the server wants. */
struct offer {
	struct dubbo_interface list[2];
};

static struct offer offers[3];
static size_t offer_count;

void fake_start(struct fake *f, struct stream_hub *hub)
{
	static const struct dubbo_server_options options = {
		.listen = "127.0.0.1:0",
		.secret = "",
		.calls_max = 10000,
		.connections_max = 100,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.idle_ms = 180000,
	};
	struct offer *o = &offers[offer_count++];

	o->list[0] = (struct dubbo_interface){ "rain.GrabService", "1.0.0",
					       grab_methods, 2, f };
	o->list[1] = (struct dubbo_interface){ "rain.LedgerService", "1.0.0",
					       ledger_methods, 1, f };
	f->status = RAIN__STATUS__WON;
	cr_assert_eq(dubbo_server_new(hub, &options, o->list, 2, &f->server),
		     0);
}

void fake_stop(struct fake *f)
{
	for (size_t i = 0; i < f->held_count; i++) {
		dubbo_fail(f->held[i], DUBBO_STATUS_SERVER_ERROR, "over");
	}
	f->held_count = 0;
	if (f->server != NULL) {
		dubbo_server_free(f->server);
		f->server = NULL;
	}
}
