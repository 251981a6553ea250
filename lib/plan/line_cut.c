/*
 * line_cut: what is beyond the minimum of every packet is a line that is cut
 * at count - 1 places; shares above the maximum are cut to it, and what is cut
 * off goes to the others by the room that they have.
 */
#include "plan/allocate.h"

/* Money times packets times money. */
__extension__ typedef __int128 wide;

static void swap(int64_t *a, int64_t *b)
{
	int64_t kept = *a;

	*a = *b;
	*b = kept;
}

static void sift(int64_t *v, size_t at, size_t n)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= n) {
			return;
		}
		if (child + 1 < n && v[child + 1] > v[child]) {
			child++;
		}
		if (v[at] >= v[child]) {
			return;
		}
		swap(&v[at], &v[child]);
		at = child;
	}
}

/* Ascending, a heap sort: qsort() may take memory for another copy. */
static void sort(int64_t *v, size_t n)
{
	for (size_t i = n / 2; i > 0; i--) {
		sift(v, i - 1, n);
	}
	for (size_t i = n; i > 1; i--) {
		swap(&v[0], &v[i - 1]);
		sift(v, 0, i - 1);
	}
}

/* Cut what is above max, and give it to those below: to each its part of the
 * room that all have, then a cent each to the first, for what is left over. */
static void cap(int64_t *shares, uint64_t count, int64_t max)
{
	int64_t excess = 0;
	int64_t left;
	wide room = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (shares[i] > max) {
			excess += shares[i] - max;
			shares[i] = max;
		}
		room += max - shares[i];
	}
	if (excess == 0) {
		return;
	}
	check(room >= excess); /* a rule that is possible has it */
	left = excess;
	for (uint64_t i = 0; i < count; i++) {
		int64_t more =
			(int64_t)((wide)excess * (max - shares[i]) / room);

		shares[i] += more;
		left -= more;
	}
	for (uint64_t i = 0; i < count && left > 0; i++) {
		if (shares[i] < max) {
			shares[i]++;
			left--;
		}
	}
}

void allocate_line_cut(struct numbers *n, const struct allocate_rule *rule,
		       int64_t max, int64_t *amounts)
{
	int64_t spare =
		rule->total_cents - (int64_t)rule->count * rule->min_cents;
	uint64_t cuts = rule->count - 1;
	int64_t before = 0;

	for (uint64_t i = 0; i < cuts; i++) {
		amounts[i] = (int64_t)numbers_below(n, (uint64_t)spare + 1);
	}
	sort(amounts, cuts);
	amounts[cuts] = spare;
	for (uint64_t i = 0; i < rule->count; i++) {
		int64_t cut = amounts[i];

		amounts[i] = cut - before + rule->min_cents;
		before = cut;
	}
	cap(amounts, rule->count, max);
}
