#include "lib/fake_ledger.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "proto/proto_util.h"
#include "rain/ledger_service.pb-c.h"

enum { PARTITIONS_MAX = 16 };

static bool away(struct fake_ledger *f, struct dubbo_call *call)
{
	if (f->away) {
		dubbo_fail(call, DUBBO_STATUS_SERVER_ERROR, "away");
	}
	return f->away;
}

static void totals(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct fake_ledger *f = ctx;
	Rain__TotalsReply r = RAIN__TOTALS_REPLY__INIT;

	(void)argument;
	f->totals_asked++;
	if (away(f, call)) {
		return;
	}
	r.known = f->known;
	r.revision = f->revision;
	r.state = to_pb_str(f->state);
	r.funded_cents = f->funded_cents;
	r.funded_packets = f->funded_packets;
	r.refunded_cents = f->refunded_cents;
	r.held_cents = f->held_cents;
	r.refund_done = f->refund_done;
	r.max_seq = f->max_seq;
	dubbo_reply(call, &r.base);
}

static void record(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct fake_ledger *f = ctx;
	Rain__RecordsReply r = RAIN__RECORDS_REPLY__INIT;
	Rain__LedgerRecord one = RAIN__LEDGER_RECORD__INIT;
	Rain__LedgerRecord *list[1] = { &one };
	Rain__RecordRequest *q;

	f->records_asked++;
	if (away(f, call)) {
		return;
	}
	q = proto_unpack(&rain__record_request__descriptor, argument, 65536);
	cr_assert_not_null(q);
	if (f->record_user != NULL &&
	    bytes_eq(from_pb(q->user_id), bytes_str(f->record_user))) {
		one.activity_id = q->activity_id;
		one.user_id = q->user_id;
		one.red_packet_id = to_pb_str("77");
		one.amount_cents = 1221;
		one.at_ms = 5;
		r.n_records = 1;
		r.records = list;
	}
	dubbo_reply(call, &r.base);
	proto_free(q);
}

static void positions(void *ctx, struct dubbo_call *call, struct bytes argument)
{
	struct fake_ledger *f = ctx;
	Rain__PositionsReply r = RAIN__POSITIONS_REPLY__INIT;
	Rain__PartitionPosition all[2 * PARTITIONS_MAX];
	Rain__PartitionPosition *list[2 * PARTITIONS_MAX];

	(void)argument;
	f->positions_asked++;
	if (away(f, call)) {
		return;
	}
	cr_assert(f->partitions <= PARTITIONS_MAX);
	for (int t = 0; t < 2; t++) {
		for (int p = 0; p < f->partitions; p++) {
			Rain__PartitionPosition *one = &all[r.n_positions];

			rain__partition_position__init(one);
			one->topic = to_pb_str(f->topics[t]);
			one->partition = p;
			one->next_offset = f->passed ? INT64_MAX : 0;
			list[r.n_positions++] = one;
		}
	}
	r.positions = list;
	dubbo_reply(call, &r.base);
}

static const struct dubbo_method methods[] = {
	{ "totals", "Lrain/TotalsRequest;", totals },
	{ "record", "Lrain/RecordRequest;", record },
	{ "positions", "Lrain/PositionsRequest;", positions },
};

static struct dubbo_interface interface = {
	.name = "rain.LedgerService",
	.version = "1.0.0",
	.methods = methods,
	.method_count = sizeof methods / sizeof methods[0],
};

void fake_ledger_start(struct fake_ledger *f, struct stream_hub *hub)
{
	struct dubbo_server_options o = {
		.listen = "127.0.0.1:0",
		.secret = "",
		.calls_max = 1000,
		.connections_max = 100,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.idle_ms = 180000,
	};

	if (f->state == NULL) {
		f->state = "";
	}
	interface.ctx = f;
	cr_assert_eq(dubbo_server_new(hub, &o, &interface, 1, &f->server), 0);
	(void)snprintf(f->address, sizeof f->address, "%s",
		       dubbo_server_address(f->server));
}

void fake_ledger_stop(struct fake_ledger *f)
{
	dubbo_server_free(f->server);
	f->server = NULL;
}
