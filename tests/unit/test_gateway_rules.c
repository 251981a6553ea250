/* What a gateway decides from numbers alone. */
#include <criterion/criterion.h>

#include "base/clock.h"
#include "gateway/admission.h"
#include "gateway/memory.h"
#include "gateway/retry_budget.h"
#include "gateway/server_clock.h"
#include "gateway/verdict.h"
#include "gateway/window.h"
#include "proto/proto_util.h"

static const struct admission_view calm = {
	.now_ms = 1000,
	.expires_ms = 2000,
	.in_flight = 1,
	.in_flight_max = 2,
	.loop_in_flight = 10,
	.loop_in_flight_max = 20,
	.window = 15,
};

Test(admission, each_bound_refuses_by_name)
{
	struct admission_view v = calm;

	cr_assert_eq(admission_decide(&v), ADMITTED);
	v.now_ms = 2000;
	cr_assert_eq(admission_decide(&v), TOKEN_EXPIRED);
	v = calm;
	v.in_flight = 2;
	cr_assert_eq(admission_decide(&v), CONNECTION_FULL);
	v = calm;
	v.loop_in_flight = 20;
	cr_assert_eq(admission_decide(&v), GATEWAY_FULL);
	v.loop_in_flight = 15;
	cr_assert_eq(admission_decide(&v), SERVICES_SLOW);
	/* What waits for the ledger does not count there, and is at most half. */
	v.ledger_in_flight = 1;
	cr_assert_eq(admission_decide(&v), ADMITTED);
	v.for_ledger = true;
	v.ledger_in_flight = 9;
	cr_assert_eq(admission_decide(&v), ADMITTED);
	v.ledger_in_flight = 10;
	cr_assert_eq(admission_decide(&v), LEDGER_FULL);
	v = (struct admission_view){ .expires_ms = 1,
				     .in_flight_max = 1,
				     .loop_in_flight_max = 1,
				     .for_ledger = true };
	cr_assert_eq(admission_decide(&v), ADMITTED);
}

/* F66: what the services do not answer in time is not taken. */
Test(window, closes_while_answers_are_slow_and_opens_again)
{
	enum { MOST = 25000, SLOW = 250 };
	uint64_t now = 1000;
	struct window w;
	size_t before;

	window_init(&w, MOST);
	cr_assert_eq(w.size, WINDOW_FIRST);
	for (int i = 0; i < 3000; i++) {
		window_done(&w, now, 20, SLOW, w.size, 100);
	}
	cr_assert_eq(w.size, MOST);
	window_done(&w, now, 500, SLOW, 20000, 100);
	cr_assert_eq(w.size, 15000, "by a quarter of what is out");
	window_done(&w, now + 10, 500, SLOW, 20000, 100);
	cr_assert_eq(w.size, 15000, "once in a round trip");
	for (int i = 0; i < 100; i++) {
		now += 500;
		window_done(&w, now, 500, SLOW, w.size, 100);
	}
	cr_assert_eq(w.size, WINDOW_LEAST);
	before = w.size;
	window_done(&w, now, 20, SLOW, 10, 10);
	cr_assert_eq(w.size, before, "nobody needs more");
	for (int i = 0; i < 3000; i++) {
		window_done(&w, now, 20, SLOW, w.size, 100);
	}
	cr_assert_eq(w.size, MOST);
}

Test(window, a_small_gateway_has_a_small_one)
{
	struct window w;

	window_init(&w, 8);
	window_done(&w, 1000, 500, 250, 8, 8);
	cr_assert_eq(w.size, 8);
}

static void expect_not_after(int64_t asked, enum not_after want,
			     int64_t want_ms, uint64_t want_left)
{
	int64_t resolved;
	uint64_t left;

	cr_assert_eq(admission_not_after(50000, asked, &resolved, &left), want);
	cr_assert_eq(resolved, want_ms);
	cr_assert_eq(left, want_left);
}

Test(admission, not_after)
{
	expect_not_after(0, NOT_AFTER_AHEAD, 51000, 1000);
	expect_not_after(50001, NOT_AFTER_AHEAD, 50001, 1);
	expect_not_after(60000, NOT_AFTER_AHEAD, 60000, 10000);
	expect_not_after(50000, NOT_AFTER_PASSED, 50000, 0);
	expect_not_after(1, NOT_AFTER_PASSED, 1, 0);
	expect_not_after(60251, NOT_AFTER_TOO_FAR, 60251, 0);
	expect_not_after(INT64_MAX, NOT_AFTER_TOO_FAR, INT64_MAX, 0);
	expect_not_after(-1, NOT_AFTER_NEGATIVE, -1, 0);
	expect_not_after(INT64_MIN, NOT_AFTER_NEGATIVE, INT64_MIN, 0);
}

static enum verdict with_status(uint8_t status)
{
	struct dubbo_result r = { .kind = DUBBO_ERROR, .status = status };

	return verdict_of(DUBBO_DONE, &r);
}

Test(verdict, of_a_call)
{
	struct dubbo_result r = { .kind = DUBBO_VALUE };

	cr_assert_eq(verdict_of(DUBBO_NOT_SENT, NULL), VERDICT_NOT_SENT);
	cr_assert_eq(verdict_of(DUBBO_UNKNOWN, NULL), VERDICT_LOST);
	cr_assert_eq(verdict_of(DUBBO_DONE, &r), VERDICT_VALUE);
	r.kind = DUBBO_NULL;
	cr_assert_eq(verdict_of(DUBBO_DONE, &r), VERDICT_UNKNOWN);
	r.kind = DUBBO_EXCEPTION;
	cr_assert_eq(verdict_of(DUBBO_DONE, &r), VERDICT_UNKNOWN);
	cr_assert_eq(with_status(DUBBO_STATUS_THREADPOOL_EXHAUSTED),
		     VERDICT_REFUSED);
	cr_assert_eq(with_status(DUBBO_STATUS_SERVICE_NOT_FOUND),
		     VERDICT_NOT_SENT);
	cr_assert_eq(with_status(DUBBO_STATUS_BAD_REQUEST), VERDICT_REFUSED);
	cr_assert_eq(with_status(DUBBO_STATUS_SERVER_ERROR), VERDICT_UNKNOWN);
	cr_assert_eq(with_status(DUBBO_STATUS_SERVER_TIMEOUT), VERDICT_UNKNOWN);
	cr_assert_eq(with_status(255), VERDICT_UNKNOWN);
}

static Rain__GrabReply reply_of(Rain__Status status, bool earlier,
				Rain__RedPacket *packet)
{
	Rain__GrabReply in = RAIN__GRAB_REPLY__INIT;
	Rain__GrabReply out;

	in.status = status;
	in.red_packet = packet;
	verdict_reply(&in, earlier, 7, &out);
	return out;
}

Test(verdict, a_packet_comes_with_a_win_and_with_nothing_else)
{
	Rain__RedPacket p = RAIN__RED_PACKET__INIT;
	Rain__GrabReply out;

	p.red_packet_id = to_pb_str("1");
	p.amount_cents = 5;
	out = reply_of(RAIN__STATUS__WON, true, &p);
	cr_assert_eq(out.status, RAIN__STATUS__WON);
	cr_assert_eq(out.red_packet, &p);
	out = reply_of(RAIN__STATUS__WON, false, NULL);
	cr_assert_eq(out.status, RAIN__STATUS__PENDING);
	cr_assert_eq(out.retry_after_ms, 7);
	out = reply_of(RAIN__STATUS__SOLD_OUT, false, &p);
	cr_assert_eq(out.status, RAIN__STATUS__PENDING);
	cr_assert(out.red_packet == NULL);
	p.amount_cents = 0;
	out = reply_of(RAIN__STATUS__ALREADY_GRABBED, false, &p);
	cr_assert_eq(out.status, RAIN__STATUS__PENDING);
}

Test(verdict, after_a_lost_call_nobody_is_told_that_nothing_happened)
{
	cr_assert_eq(reply_of(RAIN__STATUS__BUSY, false, NULL).status,
		     RAIN__STATUS__BUSY);
	cr_assert_eq(reply_of(RAIN__STATUS__BUSY, true, NULL).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(reply_of(RAIN__STATUS__RATE_LIMITED, true, NULL).status,
		     RAIN__STATUS__PENDING);
	/* A call that lies with a grab-service that stands still is executed
	 * when that goes on, and the activity may have been resumed by then. */
	cr_assert_eq(reply_of(RAIN__STATUS__PAUSED, false, NULL).status,
		     RAIN__STATUS__PAUSED);
	cr_assert_eq(reply_of(RAIN__STATUS__PAUSED, true, NULL).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(reply_of(RAIN__STATUS__NOT_STARTED, true, NULL).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(reply_of(RAIN__STATUS__NOT_YET, true, NULL).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(reply_of(RAIN__STATUS__SOLD_OUT, true, NULL).status,
		     RAIN__STATUS__SOLD_OUT);
}

Test(verdict, statuses_of_another_age)
{
	cr_assert_eq(reply_of((Rain__Status)99, false, NULL).status,
		     RAIN__STATUS__PENDING);
	cr_assert_eq(
		reply_of(RAIN__STATUS__STATUS_UNSPECIFIED, false, NULL).status,
		RAIN__STATUS__PENDING);
}

Test(verdict, long_text_is_cut_between_characters)
{
	Rain__GrabReply in = RAIN__GRAB_REPLY__INIT;
	Rain__GrabReply out;
	uint8_t text[600];

	for (size_t i = 0; i < sizeof(text); i += 3) {
		memcpy(text + i, "\xe7\xba\xa2", 3);
	}
	in.status = RAIN__STATUS__ENDED;
	in.message = to_pb(bytes_make(text, sizeof(text)));
	verdict_reply(&in, false, 0, &out);
	cr_assert(out.message.len <= 512 && out.message.len > 500);
	cr_assert(bytes_utf8(from_pb(out.message)));
}

Test(server_clock, goes_on_from_the_quickest_answer)
{
	struct server_clock c = { 0 };
	int64_t wall = clock_wall_ms();

	cr_assert(server_clock_now(&c, 5) - wall < 5000);
	cr_assert(server_clock_stale(&c, 5));
	server_clock_sample(&c, 1000, 1010, 500005);
	cr_assert_eq(server_clock_now(&c, 1005), 500005);
	server_clock_sample(&c, 1100, 1200, 600000); /* slow: ignored */
	cr_assert_eq(server_clock_now(&c, 1205), 500205);
	server_clock_sample(&c, 1300, 1304, 500402); /* quick */
	cr_assert_eq(server_clock_now(&c, 1302), 500402);
	server_clock_sample(&c, 1400, 1401, 0); /* knows no time */
	cr_assert_eq(server_clock_now(&c, 1302), 500402);
	cr_assert(server_clock_stale(&c, 20000));
	server_clock_sample(&c, 20000, 20100, 900050);
	cr_assert_eq(server_clock_now(&c, 20050), 900050);
}

Test(retry_budget, a_burst_then_a_share)
{
	struct retry_budget b;
	unsigned taken = 0;

	retry_budget_init(&b, 10, 2);
	cr_assert(retry_budget_take(&b));
	cr_assert(retry_budget_take(&b));
	cr_assert(!retry_budget_take(&b));
	for (unsigned i = 0; i < 100; i++) {
		retry_budget_earn(&b);
		taken += retry_budget_take(&b) ? 1 : 0;
	}
	cr_assert_eq(taken, 10);
	for (unsigned i = 0; i < 1000; i++) {
		retry_budget_earn(&b);
	}
	cr_assert(retry_budget_take(&b));
	cr_assert(retry_budget_take(&b));
	cr_assert(!retry_budget_take(&b)); /* no more than the burst */
}

static void note_of(struct memory **m, const char *activity, int64_t cents)
{
	Rain__RedPacket p = RAIN__RED_PACKET__INIT;

	p.red_packet_id = to_pb_str(activity);
	p.amount_cents = cents;
	memory_note(m, 2, bytes_str(activity), &p);
}

Test(memory, keeps_the_newest)
{
	struct memory *m = NULL;
	Rain__RedPacket p;

	cr_assert(!memory_find(m, BYTES("a"), &p));
	note_of(&m, "a", 1);
	note_of(&m, "a", 9); /* a packet never changes */
	note_of(&m, "b", 2);
	cr_assert(memory_find(m, BYTES("a"), &p));
	cr_assert_eq(p.amount_cents, 1);
	note_of(&m, "c", 3);
	cr_assert(!memory_find(m, BYTES("a"), &p));
	cr_assert(memory_find(m, BYTES("b"), &p));
	cr_assert(memory_find(m, BYTES("c"), &p));
	cr_assert_eq(p.amount_cents, 3);
	cr_assert(bytes_eq(from_pb(p.red_packet_id), BYTES("c")));
	memory_free(&m);
}
