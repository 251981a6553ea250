/*
 * Rules of the packets: which one has its turn, of which tranche it is, and when
 * there was none. Packets are added while people grab.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault/check.h"

/* Room doubles at each power of two. */
static void append(struct check_packet **list, uint64_t *count,
		   struct bytes packet, int64_t cents)
{
	struct check_packet *p;

	if ((*count & (*count - 1)) == 0) {
		*list = xrealloc(*list,
				 (*count > 0 ? *count * 2 : 1) * sizeof **list);
	}
	p = &(*list)[(*count)++];
	*p = (struct check_packet){ .amount_cents = cents };
	snprintf(p->id, sizeof p->id, "%.*s", BYTES_FMT(packet));
}

void check_enter_plan(struct check_activity *a, struct bytes packet,
		      int64_t cents)
{
	append(&a->plan, &a->plan_count, packet, cents);
}

void check_enter_left(struct check_activity *a, struct bytes packet,
		      int64_t cents)
{
	append(&a->left, &a->left_count, packet, cents);
	a->books.left.count++;
	a->books.left.cents += cents;
}

void check_enter_tranche(struct check_activity *a,
			 const uint8_t seed[ALLOCATE_SEED],
			 const struct allocate_rule *rule, uint64_t id_base)
{
	int64_t *amounts;
	char id[32];

	a->tranches[a->tranche_count++] =
		(struct check_tranche){ .packets = rule->count,
					.loaded = rule->count,
					.cents = rule->total_cents };
	if (a->adopted) {
		return;
	}
	amounts = xcalloc(rule->count, sizeof *amounts);
	allocate(seed, rule, amounts);
	for (uint64_t i = 0; i < rule->count; i++) {
		snprintf(id, sizeof id, "%" PRIu64, id_base + i);
		check_enter_plan(a, bytes_str(id), amounts[i]);
	}
	free(amounts);
}

void check_event_tranche(struct check_event *e, uint32_t tranche,
			 uint64_t packets, int64_t cents,
			 struct bytes commitment)
{
	snprintf(e->what, sizeof e->what,
		 "tranche %" PRIu32 ", %" PRIu64 " packets, %" PRId64
		 " cents, commitment %.*s",
		 tranche, packets, cents, BYTES_FMT(commitment));
}

uint32_t check_tranche_of(const struct check_activity *a, uint64_t seq)
{
	uint64_t end = 0;

	for (size_t i = 0; i < a->tranche_count; i++) {
		end += a->tranches[i].packets;
		if (seq <= end) {
			return (uint32_t)i + 1;
		}
	}
	return 0;
}

uint64_t check_announced(const struct check_activity *a, int64_t at_ms)
{
	const struct check_event *e = a->events[CHECK_REDIS];
	size_t tranches = 1;
	uint64_t sum = 0;

	for (size_t i = 0; i < a->event_count[CHECK_REDIS]; i++) {
		tranches +=
			e[i].kind == RAIN__ACTIVITY_EVENT__CHANGE_TOPPED_UP &&
			e[i].at_ms <= at_ms;
	}
	for (size_t i = 0; i < a->tranche_count && i < tranches; i++) {
		sum += a->tranches[i].packets;
	}
	return sum;
}

static int64_t made_at(const struct check_activity *a, uint64_t seq)
{
	return seq > 0 && seq <= a->made_count ? a->made_ms[seq - 1] : 0;
}

/* Whether there were just b packets, and all were taken, at a moment between
 * the two: then the next one was taken later, or never. */
static bool taken(const struct check_activity *a, uint64_t b, int64_t from_ms,
		  int64_t to_ms)
{
	int64_t last = made_at(a, b);
	int64_t next = made_at(a, b + 1);

	return last != 0 && last <= to_ms && (next == 0 || next >= from_ms);
}

/* Once, before each tranche that was added, and between two chunks of it. */
static bool sold_out_between(const struct check_activity *a, int64_t from_ms,
			     int64_t to_ms)
{
	uint64_t end = 0;

	for (size_t i = 0; i < a->tranche_count; i++) {
		const struct check_tranche *t = &a->tranches[i];

		for (uint64_t k = CHECK_CHUNK; i > 0 && k < t->loaded;
		     k += CHECK_CHUNK) {
			if (taken(a, end + k, from_ms, to_ms)) {
				return true;
			}
		}
		end += t->loaded;
		if (taken(a, end, from_ms, to_ms)) {
			return true;
		}
	}
	return false;
}

/* That of a live one is what its services went by: that they were told so
 * excuses nothing. */
static uint64_t left_of(const struct check_activity *a)
{
	uint64_t made = a->books.sums[BOOK_REDIS].count;

	if (!a->live) {
		return a->books.left.count;
	}
	return a->plan_count > made ? a->plan_count - made : 0;
}

bool check_sold_out(const struct check_activity *a, int64_t asked_ms,
		    int64_t answered_ms, char why[CHECK_WHAT_MAX])
{
	int64_t to_ms = answered_ms + CHECK_CLOCK_MS;
	uint64_t left = left_of(a);

	why[0] = '\0';
	if (a->tranche_count > 1) {
		if (!sold_out_between(a, asked_ms - CHECK_STATE_MS, to_ms)) {
			snprintf(why, CHECK_WHAT_MAX,
				 "packets were there at each moment in "
				 "between");
		}
	} else if (a->last_claim_ms > to_ms) {
		/* Then it is for ever: no claim follows, nothing is left. */
		snprintf(why, CHECK_WHAT_MAX, "there was a claim at %" PRId64,
			 a->last_claim_ms);
	} else if (left > 0) {
		snprintf(why, CHECK_WHAT_MAX, "%" PRIu64 " packets are left",
			 left);
	}
	return why[0] == '\0';
}

/* What is left is what follows on the claims, packet for packet. */
static void judge_left(struct check *c, const struct check_activity *a)
{
	uint64_t made = a->books.sums[BOOK_REDIS].count;

	for (uint64_t i = 0; i < a->left_count; i++) {
		const struct check_packet *p = &a->left[i];
		const struct check_packet *want =
			made + i < a->plan_count ? &a->plan[made + i] : NULL;

		if (want == NULL) {
			check_violation(
				c,
				"%s: packet %s, %" PRId64
				" cents, is left, and the plan has only "
				"%" PRIu64,
				a->id, p->id, p->amount_cents, a->plan_count);
		} else if (strcmp(want->id, p->id) != 0 ||
			   want->amount_cents != p->amount_cents) {
			check_violation(c,
					"%s: packet %s, %" PRId64
					" cents, is left in place %" PRIu64
					", and the plan has packet %s, %" PRId64
					" cents",
					a->id, p->id, p->amount_cents,
					made + i + 1, want->id,
					want->amount_cents);
		}
	}
}

/* Each tranche that was added is the one that was announced. */
static void judge_announced(struct check *c, const struct check_activity *a)
{
	enum check_place place = a->lists_gone ? CHECK_TOPIC : CHECK_REDIS;
	const struct check_event *e = a->events[place];
	size_t n = 1;

	for (size_t i = 0; i < a->event_count[place]; i++) {
		struct check_event want = { 0 };
		const struct check_tranche *t;

		if (e[i].kind != RAIN__ACTIVITY_EVENT__CHANGE_TOPPED_UP) {
			continue;
		}
		if (++n > a->tranche_count) {
			continue;
		}
		t = &a->tranches[n - 1];
		check_event_tranche(&want, (uint32_t)n, t->packets, t->cents,
				    bytes_str(t->commitment));
		if (strcmp(want.what, e[i].what) != 0) {
			check_violation(c,
					"%s: revision %" PRIu64
					" announces %s; meta has %s",
					a->id, e[i].revision, e[i].what,
					want.what);
		}
	}
	if (n != a->tranche_count) {
		check_violation(
			c,
			"%s: meta has %zu tranches, its events announce "
			"%zu",
			a->id, a->tranche_count, n);
	}
}

void check_judge_plan(struct check *c, const struct check_activity *a)
{
	if (a->tranche_count == 0) {
		return;
	}
	judge_announced(c, a);
	if (a->plan != NULL && !a->lists_gone) {
		judge_left(c, a);
	}
	if (a->adopted && a->plan != NULL &&
	    a->plan_count != a->tranches[0].packets) {
		check_violation(c,
				"%s: it is of %" PRIu64 " packets, and %" PRIu64
				" lay in the list that it adopted",
				a->id, a->tranches[0].packets, a->plan_count);
	}
}
