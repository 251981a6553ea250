/* What came of the taps, and how it is told. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report.h"
#include "bench/tally.h"
#include "proto/proto_util.h"

static struct tally *t;
static struct winners *winners;

static void setup(void)
{
	t = tally_new(2);
	winners = winners_new(100, 2);
}

static void teardown(void)
{
	tally_free(t);
	winners_free(winners);
}

TestSuite(bench_tally, .init = setup, .fini = teardown);

/* An answer to a user's tap, within the window unless said otherwise. */
static void answer(uint64_t user, Rain__Status status, const char *packet,
		   int64_t cents)
{
	struct tally_answer a = { .user = user,
				  .latency_us = 1000,
				  .due_in_window = true,
				  .in_window = true };
	Rain__GrabReply m = RAIN__GRAB_REPLY__INIT;
	Rain__RedPacket p = RAIN__RED_PACKET__INIT;

	m.status = status;
	if (packet != NULL) {
		p.red_packet_id = to_pb_str(packet);
		p.amount_cents = cents;
		m.red_packet = &p;
	}
	tally_count(t, winners, &a, &m);
}

Test(bench_tally, users_with_a_packet_and_their_money)
{
	answer(1, RAIN__STATUS__WON, "a", 100);
	answer(1, RAIN__STATUS__ALREADY_GRABBED, "a", 100);
	answer(2, RAIN__STATUS__ALREADY_GRABBED, "b", 23);
	answer(3, RAIN__STATUS__SOLD_OUT, NULL, 0);
	cr_assert_eq(tally_won(t).winners, 2);
	cr_assert_eq(tally_won(t).cents, 123);
	cr_assert_eq(t->wins, 2);
	cr_assert_eq(t->useful, 4);
	cr_assert_eq(t->in_window, 4);
	cr_assert_eq(t->wrong, 0);
	cr_assert_eq(t->statuses[RAIN__STATUS__ALREADY_GRABBED], 2);
}

Test(bench_tally, answers_that_cannot_be)
{
	answer(1, RAIN__STATUS__WON, NULL, 0);
	answer(2, RAIN__STATUS__SOLD_OUT, "a", 100);
	answer(3, RAIN__STATUS__WON, "b", 0);
	answer(4, RAIN__STATUS__WON, "", 5);
	cr_assert_eq(t->wrong, 4);
	cr_assert_eq(tally_won(t).winners, 0);
	answer(5, RAIN__STATUS__WON, "c", 5);
	answer(5, RAIN__STATUS__WON, "d", 5);
	cr_assert_eq(t->wrong, 5);
	cr_assert_eq(tally_won(t).cents, 5);
}

/* Only what is due or comes in the window counts for latency and rate; money
 * always does. */
Test(bench_tally, what_is_outside_the_window)
{
	struct tally_answer late = { .latency_us = 2000000,
				     .due_in_window = true };
	struct tally_answer warm = { .latency_us = 10, .in_window = true };
	Rain__GrabReply m = RAIN__GRAB_REPLY__INIT;

	m.status = RAIN__STATUS__BUSY;
	tally_count(t, winners, &late, &m);
	m.retry_after_ms = 80;
	tally_count(t, winners, &warm, &m);
	tally_give_up(t, 3000000, true);
	tally_give_up(t, 3000000, false);
	cr_assert_eq(t->answers, 2);
	cr_assert_eq(t->in_window, 1);
	cr_assert_eq(t->useful, 0);
	/* A tap without an answer is as slow as it was waited for. */
	cr_assert_eq(t->all.total, 2);
	cr_assert_eq(t->all.max, 3000000);
	cr_assert_eq(t->refused.total, 1);
	cr_assert_eq(t->waits_missing, 1);
	cr_assert_eq(t->wait_min_ms, 80);
}

Test(bench_tally, threads_are_added_up)
{
	struct tally *sum = tally_new(2);

	answer(1, RAIN__STATUS__WON, "a", 100);
	tally_merge(sum, t);
	tally_merge(sum, t);
	cr_assert_eq(sum->answers, 2);
	cr_assert_eq(tally_won(sum).cents, 200);
	cr_assert_eq(sum->all.total, 2);
	tally_free(sum);
}

/* One in 10,000 is not known of 9,999. */
Test(bench_tally, percentiles_that_are_not_known)
{
	double ms = -1;

	cr_assert(!report_percentile(&t->all, 1, &ms));
	for (uint64_t i = 1; i <= 9999; i++) {
		histogram_add(&t->all, i);
	}
	cr_assert(!report_percentile(&t->all, 0.9999, &ms));
	cr_assert(report_percentile(&t->all, 0.999, &ms));
	histogram_add(&t->all, 10000);
	cr_assert(report_percentile(&t->all, 0.9999, &ms));
	cr_assert_float_eq(ms, 9.999, 0.01);
	cr_assert(report_percentile(&t->all, 1, &ms));
	cr_assert_eq(ms, 10);
}

Test(bench_tally, numbers_for_people)
{
	char text[32];

	cr_assert_str_eq(report_number(0, text), "0");
	cr_assert_str_eq(report_number(999, text), "999");
	cr_assert_str_eq(report_number(1000, text), "1,000");
	cr_assert_str_eq(report_number(1234567, text), "1,234,567");
}

/* 1 to 100 ms: five lines until half is left, then five for each halving. */
Test(bench_tally, hgrm)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (uint64_t i = 1; i <= 100; i++) {
		histogram_add(&t->all, i * 1000);
	}
	report_hgrm(&t->all, out);
	fclose(out);
	cr_assert(strstr(text, "Value     Percentile TotalCount") != NULL);
	cr_assert(strstr(text, "  1.000 0.000000000000          1") != NULL,
		  "%s", text);
	/* 50 ms is right to 0.1 %: its bucket ends at 50.015. */
	cr_assert(strstr(text, " 50.015 0.500000000000         50           "
			       "2.00") != NULL,
		  "%s", text);
	cr_assert(strstr(text, " 75.007 0.750000000000         75           "
			       "4.00") != NULL,
		  "%s", text);
	cr_assert(strstr(text, "100.000 1.000000000000        100            "
			       "inf") != NULL,
		  "%s", text);
	cr_assert(strstr(text, "Total count    =          100]") != NULL);
	free(text);
}
