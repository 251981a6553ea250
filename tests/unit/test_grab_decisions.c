/* What the grab-service decides without asking anybody: times, the
 * window of what is in flight, the relay's next action, the keeper's next
 * task, and whether the ledger has passed the ends of Kafka. */
#include <criterion/criterion.h>

#include "grab-service/grab_service.h"
#include "grab-service/track.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"
#include "rain/gateway.pb-c.h"

/* ---- time ---- */

Test(redis_time, shortest_round_trip_tells_best)
{
	struct redis_time t = { 0 };

	redis_time_sample(&t, 1000000, 1100000, 5000);
	cr_assert_eq(redis_time_at(&t, 1050000), 5000);
	redis_time_sample(&t, 2000000, 2300000, 9000);
	cr_assert_eq(redis_time_at(&t, 1050000), 5000);
	redis_time_sample(&t, 3000000, 3000000, 7010);
	cr_assert_eq(redis_time_at(&t, 3000000), 7010);
	/* An old one is worth less than any new one. */
	redis_time_sample(&t, 14000000, 14200000, 20000);
	cr_assert_eq(redis_time_at(&t, 14100000), 20000);
}

Test(not_after, zero_is_a_second_and_nobody_waits_longer_than_ten)
{
	cr_assert_eq(grab_not_after(0, 50000), 51000);
	cr_assert_eq(grab_not_after(-5, 50000), 51000);
	cr_assert_eq(grab_not_after(50300, 50000), 50300);
	cr_assert_eq(grab_not_after(40000, 50000), 40000);
	cr_assert_eq(grab_not_after(990000, 50000), 60000);
}

/* ---- window ---- */

Test(window, done_moves_over_the_contiguous_prefix)
{
	struct window w;

	window_init(&w, 4);
	window_reset(&w, 10);
	cr_assert_eq(window_send(&w), 11);
	cr_assert_eq(window_send(&w), 12);
	cr_assert_eq(window_send(&w), 13);
	cr_assert(!window_ack(&w, 12));
	cr_assert_eq(w.done, 10);
	cr_assert_eq(window_room(&w), 1);
	cr_assert(window_ack(&w, 11));
	cr_assert_eq(w.done, 12);
	cr_assert_eq(window_room(&w), 3);
	cr_assert(window_ack(&w, 13));
	cr_assert_eq(w.done, 13);
	window_close(&w);
}

Test(window, what_did_not_leave_is_sent_again)
{
	struct window w;

	window_init(&w, 2);
	cr_assert_eq(window_send(&w), 1);
	cr_assert_eq(window_send(&w), 2);
	window_unsend(&w);
	cr_assert_eq(window_send(&w), 2);
	cr_assert(!window_ack(&w, 2));
	window_reset(&w, 0);
	cr_assert_eq(window_send(&w), 1);
	cr_assert(window_ack(&w, 1));
	cr_assert_eq(w.done, 1);
	window_close(&w);
}

/* ---- the relay ---- */

Test(track, takes_a_free_lease_when_there_is_work)
{
	struct track_view v = { .wanted = true,
				.free = true,
				.lease_ms = 3000 };

	cr_assert_eq(track_decide(&v), TRACK_ACQUIRE);
	v.free = false;
	cr_assert_eq(track_decide(&v), TRACK_WAIT);
	v.due = true;
	cr_assert_eq(track_decide(&v), TRACK_READ);
}

Test(track, idle_activity_costs_no_write)
{
	struct track_view v = { .free = true, .lease_ms = 3000 };

	cr_assert_eq(track_decide(&v), TRACK_WAIT);
	v.ours = true;
	v.lease_left_ms = 10;
	cr_assert_eq(track_decide(&v), TRACK_WAIT);
}

Test(track, renews_at_half_life_before_all_else)
{
	struct track_view v = { .ours = true,
				.wanted = true,
				.progress = true,
				.due = true,
				.lease_left_ms = 1499,
				.lease_ms = 3000 };

	cr_assert_eq(track_decide(&v), TRACK_RENEW);
	v.lease_left_ms = 1500;
	cr_assert_eq(track_decide(&v), TRACK_ADVANCE);
	v.progress = false;
	cr_assert_eq(track_decide(&v), TRACK_READ);
}

/* Whoever holds the lease: the cursors go back first. */
Test(track, goes_back_when_kafka_lost_a_topic)
{
	struct track_view v = { .rewind = true, .ours = true, .wanted = true };

	cr_assert_neq(track_decide(&v), TRACK_REWIND);
	v.due = true;
	cr_assert_eq(track_decide(&v), TRACK_REWIND);
	v.ours = false;
	cr_assert_eq(track_decide(&v), TRACK_REWIND);
}

/* ---- the keeper ---- */

Test(keeper, publishes_again_what_the_ledger_does_not_know_for_long)
{
	struct keeper k = { 0 };
	int first = 0;
	int second = 0;

	while (!keeper_unheard(&k, false, true)) {
		first++;
	}
	while (!keeper_unheard(&k, false, true)) {
		second++;
	}
	cr_assert_gt(first, 20);
	cr_assert_gt(second, first);
	cr_assert_not(keeper_unheard(&k, true, true));
	cr_assert_eq(k.unheard, 0);
	cr_assert_not(keeper_unheard(&k, false, false));
}

/* While it is published again nothing can be said, and it is no news: a ledger
 * that can't write for long is not given the same again and again. */
Test(keeper, is_as_patient_as_before_when_all_is_published_again)
{
	struct keeper k = { 0 };
	int first = 0;
	int second = 0;

	while (!keeper_unheard(&k, false, true)) {
		first++;
	}
	for (int i = 0; i < 5; i++) {
		cr_assert_not(keeper_unheard(&k, false, false));
	}
	while (!keeper_unheard(&k, false, true)) {
		second++;
	}
	cr_assert_gt(second, first + first / 2, "%d, %d", first, second);
}

#define DAY INT64_C(86400000)

Test(keeper, closes_at_the_end_and_not_before)
{
	struct keeper_facts f = { .known = true,
				  .state = RAIN__STATE__OPEN,
				  .end_ms = 1000 };

	cr_assert_eq(keeper_next(&f, 2999, 2000), KEEPER_NONE);
	cr_assert_eq(keeper_next(&f, 3000, 2000), KEEPER_CLOSE);
	f.state = RAIN__STATE__STATE_PAUSED;
	cr_assert_eq(keeper_next(&f, 3000, 2000), KEEPER_CLOSE);
	f.state = RAIN__STATE__HALTED;
	cr_assert_eq(keeper_next(&f, 3000, 2000), KEEPER_NONE);
	f.state = RAIN__STATE__OPEN;
	f.end_ms = 0;
	cr_assert_eq(keeper_next(&f, INT64_MAX, 2000), KEEPER_NONE);
}

Test(keeper, counts_settles_keeps_unlinks_forgets)
{
	struct keeper_facts f = { .known = true,
				  .state = RAIN__STATE__CLOSED,
				  .keep_days = 2,
				  .settled_ms = 500 };

	cr_assert_eq(keeper_next(&f, 0, 0), KEEPER_COUNT);
	f.counted = true;
	cr_assert_eq(keeper_next(&f, 0, 0), KEEPER_SETTLE);
	f.state = RAIN__STATE__SETTLED;
	cr_assert_eq(keeper_next(&f, 2 * DAY + 499, 0), KEEPER_NONE);
	cr_assert_eq(keeper_next(&f, 2 * DAY + 500, 0), KEEPER_UNLINK);
	f.keep_days = 0;
	cr_assert_eq(keeper_next(&f, 500, 0), KEEPER_UNLINK);
	f.unlinked = true;
	cr_assert_eq(keeper_next(&f, 500, 0), KEEPER_FORGET);
}

Test(keeper, settles_on_the_ledgers_word_about_this_revision)
{
	struct keeper_facts f = { .known = true,
				  .revision = 7,
				  .state = RAIN__STATE__CLOSED };
	Rain__TotalsReply t = RAIN__TOTALS_REPLY__INIT;

	t.known = 1;
	t.revision = 7;
	cr_assert(!keeper_may_settle(&f, &t));
	t.refund_done = 1;
	cr_assert(keeper_may_settle(&f, &t));
	t.revision = 6;
	cr_assert(!keeper_may_settle(&f, &t));

	/* Cancelled before the ledger heard of the money: 0 = 0 is no refund. */
	f.state = RAIN__STATE__CANCELLED;
	t.refund_done = 0;
	cr_assert(!keeper_may_settle(&f, &t));
	t.revision = 7;
	cr_assert(keeper_may_settle(&f, &t));
	t.funded_cents = 100;
	cr_assert(!keeper_may_settle(&f, &t));
	t.refunded_cents = 100;
	cr_assert(keeper_may_settle(&f, &t));
}

/* ---- evidence ---- */

Test(evidence, every_partition_must_be_passed)
{
	struct kafka_end ends[] = { { "c", 0, 5 },
				    { "c", 1, 0 },
				    { "a", 0, 2 } };
	Rain__PartitionPosition p[2] = { RAIN__PARTITION_POSITION__INIT,
					 RAIN__PARTITION_POSITION__INIT };
	Rain__PartitionPosition *list[2] = { &p[0], &p[1] };
	Rain__PositionsReply r = RAIN__POSITIONS_REPLY__INIT;

	r.positions = list;
	cr_assert(!evidence_passed(ends, 3, &r));
	p[0].topic = to_pb_str("c");
	p[0].next_offset = 5;
	p[1].topic = to_pb_str("a");
	p[1].next_offset = 1;
	r.n_positions = 2;
	cr_assert(!evidence_passed(ends, 3, &r));
	p[1].next_offset = 2;
	cr_assert(evidence_passed(ends, 3, &r));
	p[0].partition = 1;
	cr_assert(!evidence_passed(ends, 3, &r));
}
