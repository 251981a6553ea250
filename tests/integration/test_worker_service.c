/* LedgerService over Dubbo, and what the audit adds to its answers. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

#include "client/dubbo_client.h"
#include "lib/ledger_fixture.h"
#include "lib/turns.h"
#include "proto/proto_util.h"
#include "rain/ledger_service.pb-c.h"
#include "settle-worker/ledger_service.h"

static uv_loop_t loop;
static struct stream_hub *hub;
static struct fixture f;
static struct reads *reads;
static struct ledger_service service;
static struct dubbo_interface interface;
static struct dubbo_server *server;
static struct dubbo_client *client;
static const char *const topics[] = { "rain.activities", "rain.claims" };

static const char *cluster_id(void *ctx)
{
	(void)ctx;
	return "test";
}

static struct dubbo_server_options any_port(void)
{
	return (struct dubbo_server_options){ .listen = "127.0.0.1:0",
					      .secret = "",
					      .calls_max = 100,
					      .connections_max = 10,
					      .payload_max = DUBBO_PAYLOAD_MAX,
					      .idle_ms = 60000 };
}

static void setup(void)
{
	struct dubbo_server_options so = any_port();
	struct dubbo_client_options co;

	(void)signal(SIGPIPE, SIG_IGN);
	cr_assert_eq(uv_loop_init(&loop), 0);
	hub = stream_hub_new(&loop);
	fixture_open(&f);
	cr_assert_eq(reads_new(&loop, f.ledger, 2, 4, &reads), 0);
	service = (struct ledger_service){ .reads = reads,
					   .ledger_id = ledger_id(f.ledger),
					   .cluster_id = cluster_id,
					   .topics = topics,
					   .topic_count = 2 };
	interface = ledger_service_interface(&service);
	cr_assert_eq(dubbo_server_new(hub, &so, &interface, 1, &server), 0);
	dubbo_client_defaults(&co);
	co.addresses = dubbo_server_address(server);
	co.application = "test";
	cr_assert_eq(dubbo_client_new(hub, &co, &client), 0);
	RUN_UNTIL(&loop, dubbo_client_ready(client) == 1);
}

static void set_true(void *ctx)
{
	*(bool *)ctx = true;
}

static void teardown(void)
{
	bool freed = false;

	dubbo_client_free(client);
	dubbo_server_free(server);
	reads_free(reads, set_true, &freed);
	RUN_UNTIL(&loop, freed);
	/* What the hub still holds closes before it may go. */
	while (uv_run(&loop, UV_RUN_NOWAIT) != 0) {
	}
	stream_hub_free(hub);
	turns_end(&loop);
	fixture_close(&f);
}

TestSuite(service, .init = setup, .fini = teardown, .timeout = 60);

struct answer {
	const ProtobufCMessageDescriptor *type;
	ProtobufCMessage *message; /* NULL: refused */
	uint8_t status;
	bool done;
};

static void answered(void *ctx, enum dubbo_outcome outcome,
		     const struct dubbo_result *result, int provider)
{
	struct answer *a = ctx;
	struct bytes why;

	(void)provider;
	cr_assert_eq(outcome, DUBBO_DONE);
	a->status = result->status;
	a->message = dubbo_result_message(result, a->type, &why);
	a->done = true;
}

static struct answer ask(const char *method, const char *types,
			 const ProtobufCMessage *m,
			 const ProtobufCMessageDescriptor *type)
{
	struct dubbo_target t = { "rain.LedgerService", "1.0.0", method,
				  types };
	struct answer a = { .type = type };

	dubbo_client_call(client, &t, m, 5000, -1, answered, &a);
	RUN_UNTIL(&loop, a.done);
	return a;
}

static void forget(struct answer *a)
{
	if (a->message != NULL) {
		proto_free(a->message);
	}
}

static void rain(void)
{
	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "u2", 300, 2);
	(void)fixture_apply(&f);
}

Test(service, tells_balances)
{
	Rain__BalanceRequest q = RAIN__BALANCE_REQUEST__INIT;
	struct answer a;
	Rain__LedgerBalanceReply *r;

	rain();
	q.user_id = to_pb_str("u1");
	a = ask("balance", "Lrain/BalanceRequest;", &q.base,
		&rain__ledger_balance_reply__descriptor);
	r = (Rain__LedgerBalanceReply *)a.message;
	cr_assert_eq(r->balance_cents, 250);
	cr_assert(bytes_eq(from_pb(r->currency), BYTES("CNY")));
	forget(&a);
	q.user_id = to_pb_str("stranger");
	a = ask("balance", "Lrain/BalanceRequest;", &q.base,
		&rain__ledger_balance_reply__descriptor);
	r = (Rain__LedgerBalanceReply *)a.message;
	cr_assert_eq(r->balance_cents, 0);
	cr_assert_eq(r->currency.len, 0);
	forget(&a);
	q.user_id = to_pb_str("not an id");
	a = ask("balance", "Lrain/BalanceRequest;", &q.base,
		&rain__ledger_balance_reply__descriptor);
	cr_assert_null(a.message);
	cr_assert_eq(a.status, DUBBO_STATUS_BAD_REQUEST);
}

Test(service, tells_records_and_the_one_of_a_user)
{
	Rain__RecordsRequest q = RAIN__RECORDS_REQUEST__INIT;
	Rain__RecordRequest one = RAIN__RECORD_REQUEST__INIT;
	struct answer a;
	Rain__RecordsReply *r;

	rain();
	q.activity_id = to_pb_str("a");
	a = ask("records", "Lrain/RecordsRequest;", &q.base,
		&rain__records_reply__descriptor);
	r = (Rain__RecordsReply *)a.message;
	cr_assert_eq(r->n_records, 2);
	cr_assert_eq(r->records[1]->seq, 2);
	cr_assert(bytes_eq(from_pb(r->records[1]->user_id), BYTES("u2")));
	forget(&a);
	one.activity_id = to_pb_str("a");
	one.user_id = to_pb_str("u2");
	a = ask("record", "Lrain/RecordRequest;", &one.base,
		&rain__records_reply__descriptor);
	r = (Rain__RecordsReply *)a.message;
	cr_assert_eq(r->n_records, 1);
	cr_assert_eq(r->records[0]->amount_cents, 300);
	forget(&a);
	/* Neither or both of the ids is no question. */
	q.activity_id = to_pb_str("");
	a = ask("records", "Lrain/RecordsRequest;", &q.base,
		&rain__records_reply__descriptor);
	cr_assert_eq(a.status, DUBBO_STATUS_BAD_REQUEST);
}

Test(service, tells_totals_activities_and_positions)
{
	Rain__TotalsRequest q = RAIN__TOTALS_REQUEST__INIT;
	Rain__ActivitiesRequest all = RAIN__ACTIVITIES_REQUEST__INIT;
	Rain__PositionsRequest where = RAIN__POSITIONS_REQUEST__INIT;
	struct answer a;
	Rain__TotalsReply *t;
	Rain__PositionsReply *p;

	rain();
	q.activity_id = to_pb_str("a");
	a = ask("totals", "Lrain/TotalsRequest;", &q.base,
		&rain__totals_reply__descriptor);
	t = (Rain__TotalsReply *)a.message;
	cr_assert(t->known);
	cr_assert_eq(t->funded_cents, 1000);
	cr_assert_eq(t->credited_cents, 550);
	cr_assert_eq(t->credited_count, 2);
	cr_assert_eq(t->pool_cents, 450);
	cr_assert_eq(t->postings_cents, 0);
	cr_assert_eq(t->final_claims, -1);
	cr_assert_eq(t->max_seq, 2);
	cr_assert(bytes_eq(from_pb(t->state), BYTES("LOADED")));
	cr_assert(bytes_eq(from_pb(t->title), BYTES("Quiz night")));
	cr_assert(bytes_eq(from_pb(t->commitment), BYTES(FIXTURE_COMMITMENT)));
	forget(&a);
	q.activity_id = to_pb_str("b");
	a = ask("totals", "Lrain/TotalsRequest;", &q.base,
		&rain__totals_reply__descriptor);
	cr_assert_not(((Rain__TotalsReply *)a.message)->known);
	forget(&a);
	a = ask("activities", "Lrain/ActivitiesRequest;", &all.base,
		&rain__activities_reply__descriptor);
	cr_assert_eq(((Rain__ActivitiesReply *)a.message)->n_activities, 1);
	forget(&a);
	a = ask("positions", "Lrain/PositionsRequest;", &where.base,
		&rain__positions_reply__descriptor);
	p = (Rain__PositionsReply *)a.message;
	cr_assert_eq(p->n_positions, 2);
	cr_assert_eq(p->positions[1]->next_offset, 2);
	cr_assert(bytes_eq(from_pb(p->cluster_id), BYTES("test")));
	cr_assert_eq(p->ledger_id.len, 32);
	forget(&a);
}

static void expect_published(const char *id, const char *entropy,
			     bool cancelled)
{
	Rain__TotalsRequest q = RAIN__TOTALS_REQUEST__INIT;
	struct answer a;
	Rain__TotalsReply *t;

	q.activity_id = to_pb_str(id);
	a = ask("totals", "Lrain/TotalsRequest;", &q.base,
		&rain__totals_reply__descriptor);
	t = (Rain__TotalsReply *)a.message;
	cr_assert(t->known);
	cr_assert(bytes_eq(from_pb(t->entropy), bytes_str(entropy)), "%.*s",
		  BYTES_FMT(from_pb(t->entropy)));
	cr_assert_eq(t->cancelled, cancelled);
	forget(&a);
}

/* The first entropy that was published binds, whatever comes later. */
Test(service, tells_what_an_activity_was_mixed_with_and_that_it_was_cancelled)
{
	static const char *const hex = "00112233445566778899aabbccddeeff";
	char longest[2 * 200 + 1];

	for (int i = 0; i < 200; i++) {
		(void)snprintf(&longest[2 * i], 3, "\xc3\xa9");
	}
	fixture_created(&f, "plain", 1000, 4);
	fixture_created(&f, "mixed", 1000, 4);
	fixture_entropy(&f, "mixed", 2, hex);
	fixture_changed(&f, "mixed", 3, EVENT_CANCELLED);
	fixture_changed(&f, "mixed", 4, EVENT_SETTLED);
	fixture_created(&f, "twice", 1000, 4);
	fixture_entropy(&f, "twice", 2, hex);
	fixture_entropy(&f, "twice", 3, "ffffffffffffffffffffffffffffffff");
	fixture_created(&f, "odd", 1000, 4);
	fixture_entropy(&f, "odd", 2, longest);
	(void)fixture_apply(&f);
	expect_published("plain", "", false);
	expect_published("mixed", hex, true);
	expect_published("twice", hex, false);
	longest[2 * 129] = '\0';
	expect_published("odd", longest, false);
}

/* ---- What the audit found ---- */

static struct auditor auditor;

static void expect_audit(int64_t violations, const char *first,
			 const char *alarm)
{
	Rain__PositionsRequest where = RAIN__POSITIONS_REQUEST__INIT;
	Rain__ActivitiesRequest all = RAIN__ACTIVITIES_REQUEST__INIT;
	Rain__TotalsRequest q = RAIN__TOTALS_REQUEST__INIT;
	struct answer a = ask("positions", "Lrain/PositionsRequest;",
			      &where.base, &rain__positions_reply__descriptor);
	Rain__PositionsReply *p = (Rain__PositionsReply *)a.message;
	Rain__TotalsReply *t;

	cr_assert_eq(p->violations, violations);
	cr_assert(bytes_eq(from_pb(p->first_violation), bytes_str(first)),
		  "%.*s", BYTES_FMT(from_pb(p->first_violation)));
	forget(&a);
	a = ask("activities", "Lrain/ActivitiesRequest;", &all.base,
		&rain__activities_reply__descriptor);
	t = ((Rain__ActivitiesReply *)a.message)->activities[0];
	cr_assert(bytes_eq(from_pb(t->alarm), bytes_str(alarm)), "%.*s",
		  BYTES_FMT(from_pb(t->alarm)));
	forget(&a);
	q.activity_id = to_pb_str("a");
	a = ask("totals", "Lrain/TotalsRequest;", &q.base,
		&rain__totals_reply__descriptor);
	t = (Rain__TotalsReply *)a.message;
	cr_assert(bytes_eq(from_pb(t->alarm), bytes_str(alarm)));
	forget(&a);
}

Test(service, tells_what_the_audit_found)
{
	struct settle_options o = { .audit_ms = 10 };
	bool stopped = false;

	rain();
	auditor = (struct auditor){ 0 };
	service.auditor = &auditor;
	expect_audit(-1, "", "");
	auditor_start(&auditor, &loop, reads, &o);
	RUN_UNTIL(&loop, auditor_violations(&auditor) == 0);
	expect_audit(0, "", "");
	fixture_run(&f, "UPDATE red_packet_info SET parked_count = 1;"
			"UPDATE account SET balance = balance + 1 WHERE "
			"owner = 'u2'");
	RUN_UNTIL(&loop, auditor_violations(&auditor) == 2);
	expect_audit(2,
		     "activity a: parked_count: expected 0 (its parked "
		     "claims), found 1",
		     "the audit found: activity a: parked_count: expected 0 "
		     "(its parked claims), found 1; ");
	/* It is over when the books are sound again. */
	fixture_run(&f, "UPDATE red_packet_info SET parked_count = 0;"
			"UPDATE account SET balance = balance - 1 WHERE "
			"owner = 'u2'");
	RUN_UNTIL(&loop, auditor_violations(&auditor) == 0);
	expect_audit(0, "", "");
	auditor_stop(&auditor, set_true, &stopped);
	RUN_UNTIL(&loop, stopped);
}

static void count_answer(void *ctx, enum dubbo_outcome outcome,
			 const struct dubbo_result *result, int provider)
{
	size_t *counts = ctx;

	(void)provider;
	cr_assert_eq(outcome, DUBBO_DONE);
	counts[result->status == DUBBO_STATUS_OK ? 0 : 1]++;
	cr_assert(result->status == DUBBO_STATUS_OK ||
		  result->status == DUBBO_STATUS_THREADPOOL_EXHAUSTED);
}

Test(service, refuses_what_does_not_fit_its_queue)
{
	struct dubbo_target t = { "rain.LedgerService", "1.0.0", "totals",
				  "Lrain/TotalsRequest;" };
	Rain__TotalsRequest q = RAIN__TOTALS_REQUEST__INIT;
	size_t counts[2] = { 0 };

	rain();
	q.activity_id = to_pb_str("a");
	for (int i = 0; i < 50; i++) {
		dubbo_client_call(client, &t, &q.base, 5000, -1, count_answer,
				  counts);
	}
	RUN_UNTIL(&loop, counts[0] + counts[1] == 50);
	/* Two readers and four places in the queue, at the least. */
	cr_assert_geq(counts[0], 6);
}
