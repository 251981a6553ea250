#include "ledger.h"

#include <stdlib.h>

#include "base/log.h"
#include "client/dubbo_client.h"
#include "proto/proto_util.h"

struct ledger {
	struct dubbo_client *client;
	uint64_t timeout_ms;
};

/* One question: exactly one of the callbacks is set. */
struct question {
	const char *method;
	ledger_totals_cb totals;
	ledger_record_cb record;
	ledger_positions_cb positions;
	void *ctx;
};

int ledger_new(struct stream_hub *hub, const struct grab_options *options,
	       struct ledger **out)
{
	struct dubbo_client_options o;
	struct ledger *l = xcalloc(1, sizeof *l);
	int rv;

	*out = NULL;
	dubbo_client_defaults(&o);
	o.addresses = options->ledger_addresses;
	o.secret = options->ledger_secret;
	o.application = "grab-service";
	o.calls_max = options->ledger_calls_max;
	l->timeout_ms = (uint64_t)options->ledger_timeout_ms;
	rv = dubbo_client_new(hub, &o, &l->client);
	if (rv != 0) {
		free(l);
		return rv;
	}
	*out = l;
	return 0;
}

void ledger_free(struct ledger *l)
{
	dubbo_client_free(l->client);
	free(l);
}

bool ledger_ready(const struct ledger *l)
{
	return dubbo_client_ready(l->client) > 0;
}

static void give(const struct question *q, const ProtobufCMessage *message)
{
	if (q->totals != NULL) {
		q->totals(q->ctx, (const void *)message);
	} else if (q->record != NULL) {
		q->record(q->ctx, (const void *)message);
	} else {
		q->positions(q->ctx, (const void *)message);
	}
}

static const ProtobufCMessageDescriptor *expected(const struct question *q)
{
	if (q->totals != NULL) {
		return &rain__totals_reply__descriptor;
	}
	if (q->record != NULL) {
		return &rain__records_reply__descriptor;
	}
	return &rain__positions_reply__descriptor;
}

static void answered(void *ctx, enum dubbo_outcome outcome,
		     const struct dubbo_result *result, int provider)
{
	struct question *q = ctx;
	ProtobufCMessage *message = NULL;
	struct bytes why = { 0 };

	(void)provider;
	if (outcome == DUBBO_DONE) {
		message = dubbo_result_message(result, expected(q), &why);
		if (message == NULL) {
			log_warn("the ledger refused",
				 log_str("method", q->method),
				 log_bytes("why", why));
		}
	}
	give(q, message);
	if (message != NULL) {
		proto_free(message);
	}
	free(q);
}

static void ask(struct ledger *l, const struct question *question,
		const char *types, const ProtobufCMessage *request)
{
	struct question *q = xmalloc(sizeof *q);
	struct dubbo_target target = {
		.path = "rain.LedgerService",
		.version = "1.0.0",
		.method = question->method,
		.types = types,
	};

	*q = *question;
	dubbo_client_call(l->client, &target, request, l->timeout_ms, -1,
			  answered, q);
}

void ledger_totals(struct ledger *l, struct bytes activity_id,
		   ledger_totals_cb done, void *ctx)
{
	struct question q = { .method = "totals", .totals = done, .ctx = ctx };
	Rain__TotalsRequest request = RAIN__TOTALS_REQUEST__INIT;

	request.activity_id = to_pb(activity_id);
	ask(l, &q, "Lrain/TotalsRequest;", &request.base);
}

void ledger_record(struct ledger *l, struct bytes activity_id,
		   struct bytes user_id, ledger_record_cb done, void *ctx)
{
	struct question q = { .method = "record", .record = done, .ctx = ctx };
	Rain__RecordRequest request = RAIN__RECORD_REQUEST__INIT;

	request.activity_id = to_pb(activity_id);
	request.user_id = to_pb(user_id);
	ask(l, &q, "Lrain/RecordRequest;", &request.base);
}

void ledger_positions(struct ledger *l, ledger_positions_cb done, void *ctx)
{
	struct question q = { .method = "positions",
			      .positions = done,
			      .ctx = ctx };
	Rain__PositionsRequest request = RAIN__POSITIONS_REQUEST__INIT;

	ask(l, &q, "Lrain/PositionsRequest;", &request.base);
}
