/* F76: a tie is decided the same way whatever comes first. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/check.h"
#include "console/luckiest.h"

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
