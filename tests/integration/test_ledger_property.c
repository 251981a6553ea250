/* Whatever order messages come in, and however often: the books end equal. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ledger_fixture.h"

enum { SHUFFLES = 60, SEED = 20260501, WINNERS = 12, STEPS_MAX = 256 };

/* xorshift: the same sequence on every machine. */
static uint64_t state = SEED;

static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % n);
}

static void claim(struct fixture *f, unsigned seq, uint32_t tranche)
{
	char packet[16];
	char user[16];

	(void)snprintf(packet, sizeof packet, "p%u", seq);
	(void)snprintf(user, sizeof user, "u%u", seq);
	fixture_claim_in(f, "rain", packet, user, 10 + seq, seq, tranche);
}

/* A rain with a top-up, a pause and a halt that leaves 500 cents, a sold out
 * one, and one that is cancelled. */
static void record_history(struct fixture *f)
{
	fixture_created(f, "rain", 1000, 20);
	fixture_loaded(f, "rain", 3, 1, 1000, 20);
	fixture_changed(f, "rain", 4, EVENT_OPENED);
	for (unsigned seq = 1; seq <= 6; seq++) {
		claim(f, seq, 1);
	}
	fixture_changed(f, "rain", 5, EVENT_PAUSED);
	fixture_loaded(f, "rain", 6, 2, 300, 5);
	fixture_changed(f, "rain", 7, EVENT_RESUMED);
	for (unsigned seq = 7; seq <= WINNERS; seq++) {
		claim(f, seq, seq <= 9 ? 1 : 2);
	}
	fixture_changed(f, "rain", 8, EVENT_HALTED);
	fixture_changed(f, "rain", 9, EVENT_RESUMED);
	fixture_closed(f, "rain", 10, WINNERS, 13);
	/* 1300 less the sum of 11 .. 22. */
	fixture_counted(f, "rain", 11, 1300 - 198);
	fixture_changed(f, "rain", 12, EVENT_SETTLED);

	fixture_created(f, "gone", 700, 7);
	fixture_loaded(f, "gone", 3, 1, 700, 7);
	fixture_changed(f, "gone", 4, EVENT_CANCELLED);
	fixture_changed(f, "gone", 5, EVENT_SETTLED);

	fixture_created(f, "sold", 33, 1);
	fixture_loaded(f, "sold", 3, 1, 33, 1);
	fixture_changed(f, "sold", 4, EVENT_OPENED);
	fixture_claim(f, "sold", "p1", "u1", 33, 1);
	fixture_closed(f, "sold", 5, 1, 0);
	fixture_counted(f, "sold", 6, 0);
	/* Void: held, in whatever place it comes. */
	fixture_created(f, "hole", 50, 2);
	fixture_loaded(f, "hole", 3, 1, 50, 2);
	fixture_claim(f, "hole", "p1", "u1", 20, 1);
	fixture_claim(f, "hole", "p2", "#2", 30, 2);
	fixture_closed(f, "hole", 5, 2, 0);
	fixture_counted(f, "hole", 6, 0);
}

static void say(struct fixture *f, const char *activity, struct buf *out)
{
	struct ledger_totals t = fixture_totals(f, activity);
	const struct settle_books *b = &t.books;

	buf_printf(out, "%s %s rev %lld", activity, settle_state_name(b->state),
		   (long long)t.revision);
	buf_printf(out, " total %lld/%lld funded %lld/%lld",
		   (long long)t.total_cents, (long long)t.total_packets,
		   (long long)b->funded_cents, (long long)b->funded_packets);
	buf_printf(out, " credited %lld/%lld held %lld/%lld",
		   (long long)b->credited_cents, (long long)b->credited_packets,
		   (long long)b->held_cents, (long long)b->held_packets);
	buf_printf(out, " refunded %lld/%lld done %d pool %lld/%lld",
		   (long long)b->refunded_cents, (long long)b->refunded_packets,
		   b->refund_done, (long long)b->pool_cents,
		   (long long)b->pool_packets);
	buf_printf(out, " final %lld left %lld max %lld whole %lld seqs %lld",
		   (long long)b->final_claims, (long long)b->leftover_cents,
		   (long long)b->max_seq, (long long)b->whole_seq,
		   (long long)t.seq_count);
	buf_printf(out, " parked %lld conflicts %lld alarm '%s'\n",
		   (long long)b->parked, (long long)t.conflict_count, t.alarm);
}

/* All that the books say, as text. */
static void describe(struct fixture *f, struct buf *out)
{
	static const char *const ids[] = { "rain", "gone", "sold", "hole" };
	char user[16];

	buf_init(out);
	for (size_t i = 0; i < 4; i++) {
		say(f, ids[i], out);
	}
	for (unsigned u = 1; u <= WINNERS; u++) {
		(void)snprintf(user, sizeof user, "u%u", u);
		buf_printf(out, "%s %lld ", user,
			   (long long)fixture_balance(f, user));
	}
	buf_printf(out, "sponsor %lld dead %lld",
		   (long long)fixture_number(f, "SELECT balance FROM account "
						"WHERE kind = 'sponsor'"),
		   (long long)fixture_number(f, "SELECT count(*) FROM "
						"dead_letter"));
	fixture_sound(f);
}

static void expect_books(struct fixture *f, struct buf *want, const char *how,
			 size_t number)
{
	struct buf got;

	describe(f, &got);
	cr_assert(bytes_eq(buf_live(&got), buf_live(want)),
		  "%s %zu:\n%.*s\nwant:\n%.*s", how, number,
		  BYTES_FMT(buf_live(&got)), BYTES_FMT(buf_live(want)));
	buf_close(&got);
}

static void reference(struct buf *want)
{
	struct fixture f;

	fixture_open(&f);
	record_history(&f);
	for (size_t i = 0; i < f.count; i++) {
		(void)fixture_apply_some(&f, &i, 1);
	}
	describe(&f, want);
	fixture_close(&f);
}

/* Apply the messages of order in batches of random size. */
static void apply_order(struct fixture *f, const size_t *order, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t take = 1 + below(9);

		if (take > n - at) {
			take = n - at;
		}
		(void)fixture_apply_some(f, order + at, take);
		at += take;
	}
}

Test(property, the_reference_is_what_it_should_be)
{
	struct buf want;

	static const char rain[] =
		"rain SETTLED rev 12 total 1300/25 funded 1300/25 credited "
		"198/12 held 0/0 refunded 1102/13 done 1 pool 0/0 final 12 "
		"left 1102 max 12 whole 12 seqs 12 parked 0 conflicts 0 "
		"alarm ''";

	reference(&want);
	cr_assert_not_null(memmem(buf_live(&want).p, buf_len(&want), rain,
				  sizeof rain - 1),
			   "%.*s", BYTES_FMT(buf_live(&want)));
	buf_close(&want);
}

Test(property, any_order_and_any_repetition_ends_in_the_same_books,
     .timeout = 100)
{
	struct buf want;

	reference(&want);
	for (size_t round = 0; round < SHUFFLES; round++) {
		size_t order[STEPS_MAX];
		size_t n = 0;
		struct fixture f;

		fixture_open(&f);
		record_history(&f);
		cr_assert(f.count * 2 < STEPS_MAX);
		for (size_t i = 0; i < f.count; i++) {
			order[n++] = i;
			if (below(3) == 0) {
				order[n++] = i;
			}
		}
		for (size_t i = n - 1; i > 0; i--) {
			size_t j = below(i + 1);
			size_t swap = order[i];

			order[i] = order[j];
			order[j] = swap;
		}
		apply_order(&f, order, n);
		expect_books(&f, &want, "shuffle", round);
		fixture_close(&f);
	}
	buf_close(&want);
}

Test(property, any_prefix_or_suffix_and_then_all_again, .timeout = 100)
{
	struct buf want;
	size_t all[STEPS_MAX];

	reference(&want);
	for (size_t i = 0; i < STEPS_MAX; i++) {
		all[i] = i;
	}
	for (size_t cut = 0, n = 1; cut <= n; cut++) {
		struct fixture f;

		fixture_open(&f);
		record_history(&f);
		n = f.count;
		/* A restart from offset 0 after `cut` messages. */
		apply_order(&f, all, cut);
		apply_order(&f, all, n);
		expect_books(&f, &want, "prefix", cut);
		apply_order(&f, all, n);
		expect_books(&f, &want, "all again", cut);
		fixture_close(&f);

		fixture_open(&f);
		record_history(&f);
		apply_order(&f, all + cut, n - cut);
		apply_order(&f, all, n);
		expect_books(&f, &want, "suffix", cut);
		fixture_close(&f);
	}
	buf_close(&want);
}

/* Claims that contradict each other in every way, some of nobody, some of a
 * tranche that is never funded. */
static void add_nonsense(struct fixture *f, size_t n)
{
	char packet[16];
	char user[16];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(packet, sizeof packet, "p%zu", below(12));
		(void)snprintf(user, sizeof user,
			       below(8) == 0 ? "#%zu" : "u%zu", below(12));
		fixture_claim_in(f, "mad", packet, user,
				 (int64_t)(1 + below(3)) * 10, 1 + below(15),
				 (uint32_t)(1 + below(3)));
	}
}

Test(property, contradictions_never_move_money_twice, .timeout = 100)
{
	for (size_t round = 0; round < SHUFFLES; round++) {
		size_t order[STEPS_MAX];
		struct ledger_result r;
		struct ledger_totals before;
		struct ledger_totals after;
		struct fixture f;

		fixture_open(&f);
		add_nonsense(&f, 40);
		fixture_created(&f, "mad", 100, 10);
		fixture_loaded(&f, "mad", 3, 1, 100, 10);
		add_nonsense(&f, 40);
		fixture_loaded(&f, "mad", 4, 2, 80, 8);
		add_nonsense(&f, 40);
		if (below(4) == 0) {
			fixture_changed(&f, "mad", 5, EVENT_CANCELLED);
		} else {
			fixture_closed(&f, "mad", 5, below(16), 1);
			fixture_counted(&f, "mad", 6, (int64_t)below(3) * 10);
		}
		add_nonsense(&f, 20);
		cr_assert(f.count < STEPS_MAX);
		for (size_t i = 0; i < f.count; i++) {
			order[i] = i;
		}
		apply_order(&f, order, f.count);
		before = fixture_totals(&f, "mad");
		/* Records and held packets together: each packet once. */
		cr_assert_eq(
			fixture_number(
				&f,
				"SELECT count(*) FROM (SELECT red_packet_id "
				"FROM (SELECT red_packet_id FROM "
				"red_packet_record UNION ALL SELECT "
				"red_packet_id FROM conflict WHERE transfer IS "
				"NOT NULL) GROUP BY red_packet_id HAVING "
				"count(*) > 1)"),
			0);
		r = fixture_apply_some(&f, order, f.count);
		after = fixture_totals(&f, "mad");
		cr_assert_eq(r.credits + r.conflicts + r.refunds + r.parked, 0,
			     "round %zu: %lld credits %lld conflicts "
			     "%lld refunds %lld parked",
			     round, (long long)r.credits,
			     (long long)r.conflicts, (long long)r.refunds,
			     (long long)r.parked);
		cr_assert_eq(memcmp(&before.books, &after.books,
				    sizeof before.books),
			     0);
		fixture_sound(&f);
		fixture_close(&f);
	}
}
