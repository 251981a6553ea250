/* From the text of an event to the message that Kafka carries. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "grab-service/event_text.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"

static Rain__ActivityEvent *convert(const char *text)
{
	struct buf out;
	const char *why = "";
	Rain__ActivityEvent *m;

	buf_init(&out);
	cr_assert(event_text_pack(BYTES("quiz"), bytes_str(text), &out, &why),
		  "%s: %s", text, why);
	m = proto_unpack(&rain__activity_event__descriptor, buf_live(&out),
			 65536);
	cr_assert_not_null(m);
	cr_assert(bytes_eq(from_pb(m->activity_id), BYTES("quiz")));
	buf_close(&out);
	return m;
}

static void expect_refused(const char *text)
{
	struct buf out;
	const char *why = NULL;

	buf_init(&out);
	cr_expect(!event_text_pack(BYTES("quiz"), bytes_str(text), &out, &why),
		  "%s", text);
	cr_expect_not_null(why);
	cr_expect_eq(buf_len(&out), 0);
	buf_close(&out);
}

Test(event_text, created)
{
	Rain__ActivityEvent *m = convert(
		"{\"type\":\"created\",\"revision\":1,\"atMs\":1764430000000,"
		"\"title\":\"Quiz \\\"night\\\" \\u7ea2\\u5305\",\"sponsor\":\"s\","
		"\"currency\":\"CNY\",\"total_cents\":\"10000000\","
		"\"packets\":\"20000\",\"commitment\":\"ab\",\"start_ms\":\"0\","
		"\"end_ms\":\"1764430009000\",\"ack\":\"redis\"}");

	cr_assert_eq(m->change_case, RAIN__ACTIVITY_EVENT__CHANGE_CREATED);
	cr_assert_eq(m->revision, 1);
	cr_assert_eq(m->at_ms, 1764430000000);
	cr_assert(bytes_eq(from_pb(m->created->title),
			   BYTES("Quiz \"night\" \xe7\xba\xa2\xe5\x8c\x85")));
	cr_assert_eq(m->created->total_cents, 10000000);
	cr_assert_eq(m->created->packets, 20000);
	cr_assert_eq(m->created->end_ms, 1764430009000);
	cr_assert(bytes_eq(from_pb(m->created->ack), BYTES("redis")));
	proto_free(m);
}

Test(event_text, loaded_and_topped_up)
{
	Rain__ActivityEvent *m = convert(
		"{\"type\":\"loaded\",\"revision\":3,\"atMs\":5,\"tranche\":\"1\","
		"\"packets\":\"20000\",\"total_cents\":\"10000000\"}");

	cr_assert_eq(m->change_case, RAIN__ACTIVITY_EVENT__CHANGE_LOADED);
	cr_assert_eq(m->loaded->tranche, 1);
	cr_assert_eq(m->loaded->packets, 20000);
	cr_assert_eq(m->loaded->total_cents, 10000000);
	proto_free(m);
	m = convert("{\"type\":\"topped_up\",\"revision\":3,\"atMs\":5,"
		    "\"tranche\":2,\"packets\":7,\"total_cents\":700}");
	cr_assert_eq(m->change_case, RAIN__ACTIVITY_EVENT__CHANGE_TOPPED_UP);
	cr_assert_eq(m->topped_up->total_cents, 700);
	cr_assert_eq(m->topped_up->commitment.len, 0);
	proto_free(m);
	m = convert("{\"type\":\"topped_up\",\"revision\":3,\"atMs\":5,"
		    "\"tranche\":2,\"packets\":7,\"total_cents\":700,"
		    "\"commitment\":\"c0ffee\"}");
	cr_assert(bytes_eq(from_pb(m->topped_up->commitment), BYTES("c0ffee")));
	proto_free(m);
}

Test(event_text, closed_and_counted)
{
	Rain__ActivityEvent *m = convert(
		"{\"type\":\"closed\",\"revision\":9,\"atMs\":5,\"claims\":\"3\","
		"\"packets_left\":\"2\",\"seed\":\"00ff\"}");

	cr_assert_eq(m->change_case, RAIN__ACTIVITY_EVENT__CHANGE_CLOSED);
	cr_assert_eq(m->closed->claims, 3);
	cr_assert_eq(m->closed->packets_left, 2);
	cr_assert(bytes_eq(from_pb(m->closed->seed), BYTES("00ff")));
	cr_assert_eq(m->closed->topup_seeds.len, 0);
	proto_free(m);
	m = convert(
		"{\"type\":\"closed\",\"revision\":9,\"atMs\":5,\"claims\":\"3\","
		"\"packets_left\":\"2\",\"seed\":\"00ff\",\"topup_seeds\":\"01,02\"}");
	cr_assert(bytes_eq(from_pb(m->closed->topup_seeds), BYTES("01,02")));
	proto_free(m);
	m = convert("{\"type\":\"counted\",\"revision\":10,\"atMs\":5,"
		    "\"leftover_cents\":\"0\",\"packets_left\":\"0\"}");
	cr_assert_eq(m->change_case, RAIN__ACTIVITY_EVENT__CHANGE_COUNTED);
	cr_assert_eq(m->counted->leftover_cents, 0);
	proto_free(m);
}

Test(event_text, changes_with_a_reason)
{
	static const struct {
		const char *type;
		Rain__ActivityEvent__ChangeCase expected;
	} all[] = {
		{ "paused", RAIN__ACTIVITY_EVENT__CHANGE_PAUSED },
		{ "resumed", RAIN__ACTIVITY_EVENT__CHANGE_RESUMED },
		{ "halted", RAIN__ACTIVITY_EVENT__CHANGE_HALTED },
		{ "cancelled", RAIN__ACTIVITY_EVENT__CHANGE_CANCELLED },
		{ "settled", RAIN__ACTIVITY_EVENT__CHANGE_SETTLED },
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		char text[128];
		Rain__ActivityEvent *m;

		(void)snprintf(text, sizeof text,
			       "{\"type\":\"%s\",\"revision\":4,\"atMs\":1,"
			       "\"reason\":\"r\"}",
			       all[i].type);
		m = convert(text);
		cr_expect_eq(m->change_case, all[i].expected, "%s",
			     all[i].type);
		cr_expect(bytes_eq(from_pb(m->halted->reason), BYTES("r")));
		proto_free(m);
	}
}

Test(event_text, entropy)
{
	Rain__ActivityEvent *m =
		convert("{\"type\":\"entropy\",\"revision\":2,\"atMs\":1,"
			"\"entropy\":\"00ff\",\"by\":\"ops\"}");

	cr_assert_eq(m->change_case, RAIN__ACTIVITY_EVENT__CHANGE_ENTROPY);
	cr_expect(bytes_eq(from_pb(m->entropy->entropy), BYTES("00ff")));
	cr_expect(bytes_eq(from_pb(m->entropy->by), BYTES("ops")));
	proto_free(m);
}

Test(event_text, what_is_no_event_is_refused)
{
	expect_refused("{\"type\":\"entropy\",\"revision\":2,\"atMs\":1,"
		       "\"entropy\":\"00ff\"}");
	expect_refused("");
	expect_refused("[]");
	expect_refused("{\"type\":\"opened\"");
	expect_refused("{\"type\":\"opened\",\"revision\":1,\"atMs\":1}");
	expect_refused("{\"type\":\"opened\",\"revision\":0,\"atMs\":1,"
		       "\"packets\":\"1\"}");
	expect_refused("{\"type\":\"opened\",\"revision\":1,\"atMs\":-1,"
		       "\"packets\":\"1\"}");
	expect_refused("{\"type\":\"opened\",\"revision\":1,\"atMs\":1,"
		       "\"packets\":\"1.5\"}");
	expect_refused("{\"type\":\"melted\",\"revision\":1,\"atMs\":1}");
	expect_refused("{\"type\":\"paused\",\"revision\":1,\"atMs\":1,"
		       "\"reason\":1}");
	expect_refused("{\"type\":\"loaded\",\"revision\":1,\"atMs\":1,"
		       "\"tranche\":\"4294967296\",\"packets\":\"1\","
		       "\"total_cents\":\"1\"}");
}
