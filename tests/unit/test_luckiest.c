/* F76: a tie is decided the same way whatever comes first. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/check.h"
#include "console/ctl.h"
#include "console/luckiest.h"
#include "proto/proto_util.h"

static const struct luckiest_one all[] = {
	{ 500, 30, 3, "carol" }, { 900, 20, 2, "bob" },
	{ 900, 10, 1, "alice" }, { 100, 40, 4, "dave" },
	{ 500, 30, 5, "erin" },
};

static void expect_order(const int *order, size_t most, const char *wanted)
{
	struct luckiest *l = xcalloc(1, sizeof(*l));
	struct buf got;

	buf_init(&got);
	l->most = most;
	for (int i = 0; i < 5; i++) {
		luckiest_enter(l, &all[order[i]]);
	}
	for (size_t i = 0; i < l->n; i++) {
		buf_printf(&got, "%s ", l->best[i].user);
	}
	cr_expect(bytes_eq(buf_live(&got), bytes_str(wanted)), "%.*s",
		  BYTES_FMT(buf_live(&got)));
	cr_expect_eq(l->entered, 5);
	buf_close(&got);
	free(l);
}

Test(luckiest, by_amount_then_time_then_seq_in_whatever_order_they_come)
{
	static const int orders[][5] = { { 0, 1, 2, 3, 4 },
					 { 4, 3, 2, 1, 0 },
					 { 2, 4, 0, 3, 1 },
					 { 3, 0, 4, 1, 2 } };

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		expect_order(orders[i], 10, "alice bob carol erin dave ");
		expect_order(orders[i], 3, "alice bob carol ");
		expect_order(orders[i], 1, "alice ");
	}
}

static Rain__Activity activity(Rain__State state, uint64_t claims)
{
	Rain__Activity a = RAIN__ACTIVITY__INIT;

	a.state = state;
	a.final_claims = claims;
	a.leftover_cents = state == RAIN__STATE__SETTLED ? 0 : -1;
	return a;
}

static void expect_over(const Rain__Activity *a, int rc, const char *sentence)
{
	struct buf why;

	buf_init(&why);
	cr_expect_eq(luckiest_over(a, &why), rc);
	cr_expect(bytes_eq(buf_live(&why), bytes_str(sentence)), "%.*s",
		  BYTES_FMT(buf_live(&why)));
	buf_close(&why);
}

Test(luckiest, is_known_when_it_is_closed)
{
	Rain__Activity a = activity(RAIN__STATE__OPEN, 0);

	expect_over(&a, CTL_NO,
		    "it is not closed: who is the luckiest is known when it "
		    "is");
	a = activity(RAIN__STATE__CLOSED, 5);
	expect_over(&a, CTL_OK, "");
	a = activity(RAIN__STATE__SETTLED, 5);
	expect_over(&a, CTL_OK, "");
	a = activity(RAIN__STATE__HALTED, 0);
	expect_over(&a, CTL_NO,
		    "it is halted, not closed: who is the luckiest is known "
		    "when it is closed");
	/* Its seed is public: it was closed before. */
	a.seed = to_pb_str("00");
	expect_over(&a, CTL_NO,
		    "it was closed and is halted: who is the luckiest is known "
		    "when it is closed again");
}

Test(luckiest, of_a_cancelled_one_is_nobody)
{
	Rain__Activity a = activity(RAIN__STATE__CANCELLED, 0);

	expect_over(&a, CTL_NO, "it was cancelled: nobody won");
	a = activity(RAIN__STATE__SETTLED, 0);
	a.leftover_cents = -1;
	expect_over(&a, CTL_NO, "it was cancelled: nobody won");
}

static void expect_enough(const Rain__Activity *a, uint64_t entered, int rc,
			  const char *sentence)
{
	struct buf why;

	buf_init(&why);
	cr_expect_eq(luckiest_enough(a, entered, &why), rc);
	cr_expect(bytes_eq(buf_live(&why), bytes_str(sentence)), "%.*s",
		  BYTES_FMT(buf_live(&why)));
	buf_close(&why);
}

/* Claims that the ledger holds back never arrive. */
Test(luckiest, waits_for_winners_only_while_more_can_come)
{
	Rain__Activity a = activity(RAIN__STATE__CLOSED, 5);

	expect_enough(&a, 5, CTL_OK, "");
	expect_enough(&a, 3, CTL_UNKNOWN,
		      "only 3 of 5 winners are credited so far: ask again");
	a = activity(RAIN__STATE__SETTLED, 5);
	expect_enough(&a, 5, CTL_OK, "");
	expect_enough(&a, 3, CTL_OK,
		      "only 3 of 5 winners are credited, the ledger holds the "
		      "others back");
}
