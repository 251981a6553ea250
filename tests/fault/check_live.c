/*
 * Rules of what is drawn while people grab: what is left is two numbers, and
 * these follow on the claims. That each claim is the packet of its place is a
 * rule of the persons, as for a list.
 */
#include <inttypes.h>

#include "fault/check.h"

static void equal(struct check *c, const struct check_activity *a,
		  const char *what, int64_t is, const char *as, int64_t want)
{
	if (is == want) {
		return;
	}
	if (is < 0) {
		check_violation(c, "%s: meta has no %s, %s is %" PRId64, a->id,
				what, as, want);
	} else {
		check_violation(c, "%s: %s is %" PRId64 ", but %s is %" PRId64,
				a->id, what, is, as, want);
	}
}

static bool is_loaded(const struct check_activity *a)
{
	for (size_t i = 0; i < a->event_count[CHECK_REDIS]; i++) {
		if (a->events[CHECK_REDIS][i].kind ==
		    RAIN__ACTIVITY_EVENT__CHANGE_LOADED) {
			return true;
		}
	}
	return false;
}

/* The shares of the places that nobody took. */
static int64_t untaken(const struct check_activity *a)
{
	int64_t sum = 0;

	for (uint64_t i = a->books.sums[BOOK_REDIS].count; i < a->plan_count;
	     i++) {
		sum += a->plan[i].amount_cents;
	}
	return sum;
}

static void judge_drawn(struct check *c, const struct check_activity *a)
{
	const struct book_sum *made = &a->books.sums[BOOK_REDIS];
	const struct check_tranche *t = &a->tranches[0];

	equal(c, a, "left", a->drawn.left, "packets less claims",
	      (int64_t)t->packets - (int64_t)made->count);
	equal(c, a, "balance", a->drawn.balance_cents,
	      "the total less all claims", t->cents - made->cents);
	equal(c, a, "claimed_cents", a->drawn.claimed_cents,
	      "the sum of the claims", made->cents);
	equal(c, a, "balance", a->drawn.balance_cents,
	      "the sum of the places that nobody took", untaken(a));
	if (a->leftover_cents >= 0) {
		equal(c, a, "leftover_cents", a->leftover_cents, "the balance",
		      a->drawn.balance_cents);
	}
}

void check_judge_live(struct check *c, const struct check_activity *a)
{
	if (a->known && a->live != a->planned_live) {
		check_violation(c, "%s: it was to %s, and %s", a->id,
				a->planned_live ? "be live" : "have a list",
				a->live ? "is live" : "has a list");
	}
	if (!a->live || a->lists_gone) {
		return;
	}
	if (a->left_count > 0) {
		check_violation(c,
				"%s: it is live, and has a list of %" PRIu64
				" packets",
				a->id, a->left_count);
	}
	if (a->tranche_count != 1) {
		check_violation(c, "%s: it is live, and has %zu tranches",
				a->id, a->tranche_count);
	} else if (is_loaded(a)) {
		judge_drawn(c, a);
	}
}

void check_enter_drawn(struct check_activity *a, const struct check_live *drawn)
{
	a->drawn = *drawn;
	if (drawn->left > 0) {
		a->books.left.count += (uint64_t)drawn->left;
	}
	if (drawn->balance_cents > 0) {
		a->books.left.cents += drawn->balance_cents;
	}
}
