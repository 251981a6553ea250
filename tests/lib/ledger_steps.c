#include "lib/ledger_steps.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { SEED = 20260501, CLAIM_CENTS = 3 };

void ledger_steps_begin(struct fixture *x)
{
	fixture_created(x, "a", 1000000, 100000);
	fixture_loaded(x, "a", 3, 1, 1000000, 100000);
	(void)fixture_apply(x);
}

/* xorshift: the same sequence on every machine. */
static uint64_t state = SEED;

size_t ledger_steps_below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % n);
}

/* Claim n, which stands at offset n - 1 of the topic. */
static void add_claim(struct fixture *x, int64_t n)
{
	char packet[24];
	char user[24];

	(void)snprintf(packet, sizeof packet, "p%lld", (long long)n);
	(void)snprintf(user, sizeof user, "u%lld", (long long)n % 400);
	/* One packet a user: the rest of them is held. */
	fixture_claim(x, "a", packet, user, CLAIM_CENTS, (uint64_t)n);
}

int ledger_steps_next(struct fixture *x, struct ledger_result *result)
{
	struct event events[LEDGER_STEPS_BATCH];
	struct ledger_move move = { BYTES("rain.claims"), 0, x->next[1],
				    x->next[1] + LEDGER_STEPS_BATCH };
	struct ledger_batch b = { .cluster_id = BYTES("test"),
				  .moves = &move,
				  .move_count = 1,
				  .events = events,
				  .event_count = LEDGER_STEPS_BATCH,
				  .now_ms = 1 };
	size_t first = x->count;
	int rv;

	for (size_t i = 0; i < LEDGER_STEPS_BATCH; i++) {
		add_claim(x, x->next[1] + 1 + (int64_t)i);
	}
	for (size_t i = 0; i < LEDGER_STEPS_BATCH; i++) {
		struct event_place place = {
			.topic = BYTES("rain.claims"),
			.offset = x->next[1] + (int64_t)i,
			.value = buf_live(&x->messages[first + i].value),
		};

		event_read(&events[i], EVENT_TOPIC_CLAIMS, &place);
	}
	rv = ledger_apply(x->ledger, &b, result);
	while (x->count > first) {
		buf_close(&x->messages[--x->count].value);
	}
	if (rv == 0 && !result->moved) {
		x->next[1] = move.to;
	}
	return rv;
}

void ledger_steps_exact(struct fixture *x)
{
	int64_t n = fixture_number(x, "SELECT next_offset FROM consumer_offset "
				      "WHERE topic = 'rain.claims'");
	struct ledger_totals t = fixture_totals(x, "a");

	cr_assert_eq(t.books.credited_packets + t.books.held_packets, n);
	cr_assert_eq(t.books.credited_cents + t.books.held_cents,
		     n * CLAIM_CENTS);
	cr_assert_eq(t.books.whole_seq, n);
	fixture_sound(x);
}
