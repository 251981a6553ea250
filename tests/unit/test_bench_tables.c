/* Who taps next, which taps are open, what comes later, who has a packet. */
#include <criterion/criterion.h>

#include "bench/taps.h"
#include "bench/walk.h"
#include "bench/wheel.h"
#include "bench/winners.h"

Test(bench_walk, all_users_in_one_activity_after_the_other)
{
	static const uint64_t want[][2] = {
		{ 0, 0 }, { 1, 0 }, { 2, 0 }, { 0, 1 }, { 1, 1 }, { 2, 1 },
		{ 0, 0 }, { 1, 0 }, { 2, 0 }, { 0, 1 }, { 1, 1 }, { 2, 1 },
	};
	struct walk w = { .users = 3, .activities = 2, .taps = 2 };
	struct step step;

	for (size_t i = 0; i < 12; i++) {
		cr_assert(!walk_over(&w));
		cr_assert(walk_next(&w, &step));
		cr_assert_eq(step.user, want[i][0]);
		cr_assert_eq(step.activity, want[i][1]);
	}
	cr_assert(walk_over(&w));
	cr_assert(!walk_next(&w, &step));
}

Test(bench_walk, without_an_end)
{
	struct walk w = { .users = 1, .activities = 40 };
	struct step step;

	for (uint64_t i = 0; i < 1000; i++) {
		cr_assert(walk_next(&w, &step));
		cr_assert_eq(step.activity, i % 40);
	}
	cr_assert(!walk_over(&w));
}

static struct tap tap_of(uint64_t seq)
{
	return (struct tap){ .seq = seq, .due_us = seq * 3, .user = 7 };
}

/* Answers come in any order; one that is long in coming keeps its place. */
Test(bench_taps, are_found_by_seq)
{
	struct taps t = { 0 };
	struct tap tap;

	cr_assert(!taps_take(&t, 1, &tap));
	for (uint64_t seq = 1; seq <= 1000; seq++) {
		cr_assert(taps_room(&t, seq));
		tap = tap_of(seq);
		taps_put(&t, &tap);
		if (seq > 1) {
			cr_assert(taps_take(&t, seq, &tap));
			cr_assert_eq(tap.due_us, seq * 3);
			cr_assert(!taps_take(&t, seq, &tap));
		}
	}
	cr_assert_eq(t.open, 1);
	cr_assert(!taps_take(&t, 0, &tap));
	cr_assert(taps_take(&t, 1, &tap));
	cr_assert_eq(tap.seq, 1);
	cr_assert_eq(t.open, 0);
	taps_free(&t);
}

Test(bench_taps, have_a_bound)
{
	struct taps t = { 0 };
	struct tap tap;
	uint64_t seq;
	size_t from = 0;
	size_t count = 0;

	for (seq = 5; taps_room(&t, seq); seq++) {
		tap = tap_of(seq);
		taps_put(&t, &tap);
	}
	cr_assert_eq(t.open, TAPS_MAX);
	cr_assert(taps_take(&t, seq - TAPS_MAX, &tap));
	cr_assert(taps_room(&t, seq));
	while (taps_take_all(&t, &from, &tap)) {
		count++;
	}
	cr_assert_eq(count, TAPS_MAX - 1);
	cr_assert_eq(t.open, 0);
	taps_free(&t);
}

Test(bench_wheel, what_is_due_comes_once)
{
	struct wheel w = { 0 };
	struct later a = { .user = 1, .unsure = true };
	struct later b = { .user = 2, .connect = true };
	struct later l;

	wheel_add(&w, 0, &a);
	wheel_add(&w, 100, &b);
	cr_assert_eq(w.taps, 1);
	cr_assert(!wheel_next(&w, 9, &l));
	cr_assert(wheel_next(&w, 10, &l));
	cr_assert_eq(l.user, 1);
	cr_assert(l.unsure);
	cr_assert_eq(w.taps, 0);
	cr_assert(!wheel_next(&w, 100, &l));
	/* Late, because the loop was busy: still there. */
	cr_assert(wheel_next(&w, 5000, &l));
	cr_assert_eq(l.user, 2);
	cr_assert(!wheel_next(&w, 6000, &l));
	/* Further away than it reaches: at the end of its reach. */
	wheel_add(&w, 1000000, &a);
	cr_assert(!wheel_next(&w, 6000 + 10000, &l));
	cr_assert(wheel_next(&w, 6000 + 10240, &l));
	wheel_add(&w, 50, &a);
	wheel_clear(&w);
	cr_assert_eq(w.count, 0);
}

Test(bench_winners, one_packet_of_a_user_in_an_activity)
{
	struct winners *w = winners_new(10, 2);

	cr_assert_eq(winners_told(w, 3, 0, BYTES("365628617880842241"), 1221),
		     WINNERS_NEW);
	cr_assert_eq(winners_told(w, 3, 0, BYTES("365628617880842241"), 1221),
		     WINNERS_AGAIN);
	cr_assert_eq(winners_told(w, 3, 0, BYTES("365628617880842241"), 1222),
		     WINNERS_OTHER);
	cr_assert_eq(winners_told(w, 3, 0, BYTES("365628617880842242"), 1221),
		     WINNERS_OTHER);
	cr_assert_eq(winners_told(w, 3, 1, BYTES("365628617880842242"), 1221),
		     WINNERS_NEW);
	cr_assert_eq(winners_told(w, 4, 0, BYTES("365628617880842242"), 1221),
		     WINNERS_NEW);
	winners_free(w);
}
