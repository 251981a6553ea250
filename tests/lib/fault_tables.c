#include "lib/fault_tables.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct check check;

static void enter(struct check_activity *a, enum check_place place,
		  uint64_t seq, const char *user, int64_t cents, int64_t at_ms)
{
	struct check_claim claim = {
		.amount_cents = cents, .at_ms = at_ms, .seq = seq, .tranche = 1
	};

	snprintf(claim.packet, sizeof claim.packet, "%d", 999 + (int)seq);
	check_enter_claim(a, place, &claim, bytes_str(user));
}

/* Created, loaded, opened at 3000, closed at 9000, counted, settled. */
static void enter_events(struct check_activity *a, enum check_place place,
			 uint64_t without)
{
	static const struct check_event events[] = {
		{ 1, CHANGE(CREATED), 1000, "" },
		{ 3, CHANGE(LOADED), 2000, "" },
		{ 4, CHANGE(OPENED), 3000, "" },
		{ 5, CHANGE(CLOSED), 9000, "" },
		{ 6, CHANGE(COUNTED), 9001, "" },
		{ 7, CHANGE(SETTLED), 9500, "" },
	};

	for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
		if (events[i].revision != without) {
			check_enter_event(a, place, &events[i]);
		}
	}
}

static const int64_t plan[] = { 100, 200, 300 };

static void enter_redis(struct check_activity *a)
{
	a->wanted = true;
	a->known = true;
	a->state = RAIN__STATE__SETTLED;
	a->revision = 7;
	a->leftover_cents = 300;
	a->tranche_count = 1;
	a->tranches[0] = (struct check_tranche){ 3, 3, 600, "" };
	for (int i = 0; i < 3; i++) {
		char id[16];

		snprintf(id, sizeof id, "%d", 1000 + i);
		check_enter_plan(a, bytes_str(id), plan[i]);
	}
	check_enter_left(a, BYTES("1002"), 300);
	a->books.counts = (struct book_counts){ 2, 2, 1 };
}

static void enter_ledger(struct check_activity *a)
{
	a->row = (struct check_row){
		.there = true,
		.total_cents = 600,
		.funded_cents = 600,
		.funded_packets = 3,
		.credited_cents = 300,
		.credited_packets = 2,
		.refunded_cents = 300,
		.refunded_packets = 1,
		.leftover_cents = 300,
		.revision = 7,
		.refund_done = true,
	};
	a->books.funded_cents = 600;
	a->books.funded_packets = 3;
	a->books.refunded_cents = 300;
	a->books.refund_done = true;
}

/* Three packets, of which alice and bob have won two. */
struct check_activity *tables(struct hole hole)
{
	struct check_activity *a;

	check_init(&check);
	a = check_activity(&check, "friday");
	for (int i = 0; i < CHECK_PLACES; i++) {
		enter_events(a, i, 0);
		for (uint64_t seq = 1; seq <= 2; seq++) {
			const char *user = seq == 1 ? "alice" : "bob";

			if (hole.user == NULL || (int)hole.place != i ||
			    strcmp(hole.user, user) != 0) {
				enter(a, i, seq, user, plan[seq - 1],
				      4900 + 100 * (int64_t)seq);
			}
		}
	}
	enter_redis(a);
	enter_ledger(a);
	return a;
}

struct check_activity *sound(void)
{
	return tables((struct hole){ 0 });
}

void ask(uint64_t seq, bool query, const char *user, int64_t ms)
{
	check_log_line(&check,
		       &(struct check_line){ .kind = CHECK_ASK,
					     .mono_ms = (uint64_t)ms,
					     .wall_ms = ms,
					     .connection = 1,
					     .seq = seq,
					     .query = query,
					     .activity = "friday",
					     .user = user,
					     .not_after_ms = ms + 1000 });
}

void told(uint64_t seq, bool query, const char *status, int64_t ms,
	  const char *packet, int64_t cents, int64_t at_ms)
{
	check_log_line(&check, &(struct check_line){ .kind = CHECK_ANSWER,
						     .mono_ms = (uint64_t)ms,
						     .wall_ms = ms,
						     .connection = 1,
						     .seq = seq,
						     .query = query,
						     .status = status,
						     .packet = packet,
						     .amount_cents = cents,
						     .at_ms = at_ms });
}

void grab(uint64_t seq, const char *user, int64_t ms, const char *status)
{
	ask(seq, false, user, ms);
	told(seq, false, status, ms + 10, NULL, 0, 0);
}

void alice_wins(void)
{
	ask(1, false, "alice", 4995);
	told(1, false, "WON", 5010, "1000", 100, 5000);
}

void bob_wins(void)
{
	ask(2, false, "bob", 5095);
	told(2, false, "WON", 5110, "1001", 200, 5100);
}

void both_win(void)
{
	alice_wins();
	bob_wins();
}

/* The verdict: each word is in the report, or all is sound. */
void expect(const char *word)
{
	check_judge(&check);
	buf_put_u8(&check.report, 0);
	if (word == NULL) {
		cr_assert_eq(check.violations, 0, "%s",
			     (const char *)buf_live(&check.report).p);
	} else {
		cr_assert(check.violations > 0, "nothing was noticed");
		cr_assert(strstr((const char *)buf_live(&check.report).p,
				 word) != NULL,
			  "%s", (const char *)buf_live(&check.report).p);
	}
	check_close(&check);
}
