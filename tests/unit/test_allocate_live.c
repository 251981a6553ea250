/* What mode live draws of: the draw of a place, and what it says about so many
 * possibilities. The values were computed by another program, or here once more
 * in another way. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/rand.h"
#include "lib/random_rule.h"
#include "plan/allocate.h"

enum { SCALED = 1000000 };

__extension__ typedef unsigned __int128 wide;

static void from_hex(const char *hex, uint8_t *out, size_t n)
{
	cr_assert_eq(hex_decode(hex, strlen(hex), out, n), 0, "%s", hex);
}

/* ---- The draw of a place ---- */

/* Appendix A.1 of RFC 8439, and two places that its counter reaches late. */
Test(allocate_live, a_draw_is_the_head_of_its_block)
{
	static const struct {
		uint8_t seed[ALLOCATE_SEED];
		uint64_t block;
		const char *draw;
	} blocks[] = {
		{ { 0 }, 0, "76b8e0ada0f13d90405d6ae5" },
		{ { 0 }, 1, "9f07e7be5551387a98ba977c" },
		{ { [31] = 1 }, 1, "3aeb5224ecf849929b9d828d" },
		{ { [1] = 0xff }, 2, "72d54dfbf12ec44b362692df" },
		{ { 0 }, ALLOCATE_COUNT_MAX - 1, "a7f08a01e023fb575be8c6bb" },
		{ { 0 }, UINT32_MAX - 2, "582cb23e8f29e3b966b29d19" },
	};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		uint8_t draw[NUMBERS_DRAW], wanted[NUMBERS_DRAW];

		from_hex(blocks[i].draw, wanted, sizeof(wanted));
		numbers_draws(blocks[i].seed, blocks[i].block, 1, draw);
		cr_expect_arr_eq(draw, wanted, sizeof(draw), "%s",
				 blocks[i].draw);
	}
}

/* Also around the 64 blocks that are read at once. */
Test(allocate_live, draws_are_the_same_in_any_order)
{
	enum { ALL = 300 };
	static const uint8_t seed[ALLOCATE_SEED] = { 1, 2, 3 };
	static uint8_t all[ALL][NUMBERS_DRAW], some[ALL + 1][NUMBERS_DRAW];
	uint64_t dice = 1;

	numbers_draws(seed, 0, ALL, all[0]);
	for (int i = 0; i < ALL; i++) {
		for (int j = 0; j < i; j++) {
			cr_assert_arr_neq(all[i], all[j], NUMBERS_DRAW);
		}
	}
	for (size_t first = ALL; first-- > 0;) {
		size_t most = ALL - first;
		size_t count = 1 + random_rule_roll(&dice) % most;

		memset(some, 0, sizeof(some));
		numbers_draws(seed, first, count, some[0]);
		cr_assert_arr_eq(some, all[first], count * NUMBERS_DRAW,
				 "%zu from %zu on", count, first);
		cr_assert_eq(some[count][0] | some[count][11], 0,
			     "more than %zu are written", count);
	}
	memset(some, 0, sizeof(some));
	numbers_draws(seed, 7, 0, some[0]);
	cr_assert_eq(some[0][0] | some[0][11], 0);
}

/* ---- What it says ---- */

/* floor(draw * bound / 2^96): the least and the greatest draw, and for some
 * results the first that gives it with the last that does not. */
static const struct {
	const char *draw;
	uint64_t bound;
	uint64_t result;
} scaled[] = {
	{ "000000000000000000000000", 1, 0 },
	{ "ffffffffffffffffffffffff", 1, 0 },
	{ "000000000000000000000000", 2, 0 },
	{ "7fffffffffffffffffffffff", 2, 0 },
	{ "800000000000000000000000", 2, 1 },
	{ "ffffffffffffffffffffffff", 2, 1 },
	{ "555555555555555555555555", 3, 0 },
	{ "555555555555555555555556", 3, 1 },
	{ "aaaaaaaaaaaaaaaaaaaaaaaa", 3, 1 },
	{ "aaaaaaaaaaaaaaaaaaaaaaab", 3, 2 },
	{ "0020c8cded4d7a8ea9d01aa3", 1999, 0 },
	{ "0020c8cded4d7a8ea9d01aa4", 1999, 1 },
	{ "554a67bb5b90d725c7654c74", 1999, 665 },
	{ "554a67bb5b90d725c7654c75", 1999, 666 },
	{ "ffdf373212b28571562fe55c", 1999, 1997 },
	{ "ffdf373212b28571562fe55d", 1999, 1998 },
	{ "000001000001000001000001", 16777215, 0 },
	{ "000001000001000001000002", 16777215, 1 },
	{ "fffffefffffefffffefffffe", 16777215, 16777213 },
	{ "fffffefffffefffffeffffff", 16777215, 16777214 },
	{ "000000ffffffffffffffffff", 16777216, 0 },
	{ "000001000000000000000000", 16777216, 1 },
	{ "fffffeffffffffffffffffff", 16777216, 16777214 },
	{ "ffffff000000000000000000", 16777216, 16777215 },
	{ "000000ffffff000000ffffff", 16777217, 0 },
	{ "000000ffffff000001000000", 16777217, 1 },
	{ "ffffff000000ffffff000000", 16777217, 16777215 },
	{ "ffffff000000ffffff000001", 16777217, 16777216 },
	{ "fffffffffffeffffffffffff", 281474976710656, 281474976710654 },
	{ "ffffffffffff000000000000", 281474976710656, 281474976710655 },
	{ "000000000000080000000000", 9007199254740991, 0 },
	{ "000000000000080000000001", 9007199254740991, 1 },
	{ "55555555555552aaaaaaaaaa", 9007199254740991, 3002399751580329 },
	{ "55555555555552aaaaaaaaab", 9007199254740991, 3002399751580330 },
	{ "fffffffffffff7ffffffffff", 9007199254740991, 9007199254740989 },
	{ "fffffffffffff80000000000", 9007199254740991, 9007199254740990 },
	{ "ffffffffffffffffffffffff", 9007199254740991, 9007199254740990 },
	{ "000000000000000000000000", 9007199254740992, 0 },
	{ "00000000000007ffffffffff", 9007199254740992, 0 },
	{ "000000000000080000000000", 9007199254740992, 1 },
	{ "5555555555554fffffffffff", 9007199254740992, 3002399751580329 },
	{ "555555555555500000000000", 9007199254740992, 3002399751580330 },
	{ "fffffffffffff7ffffffffff", 9007199254740992, 9007199254740990 },
	{ "fffffffffffff80000000000", 9007199254740992, 9007199254740991 },
	{ "ffffffffffffffffffffffff", 9007199254740992, 9007199254740991 },
};

Test(allocate_live, a_draw_is_scaled_to_the_last_bit)
{
	for (size_t i = 0; i < sizeof(scaled) / sizeof(scaled[0]); i++) {
		uint8_t draw[NUMBERS_DRAW];
		uint64_t result;

		from_hex(scaled[i].draw, draw, sizeof(draw));
		result = numbers_scaled(draw, scaled[i].bound);
		cr_expect_eq(result, scaled[i].result,
			     "%s of %" PRIu64 ": %" PRIu64, scaled[i].draw,
			     scaled[i].bound, result);
	}
}

/* In two halves of 48 bits, of which 128 bits hold every product. */
static uint64_t by_halves(const uint8_t draw[NUMBERS_DRAW], uint64_t bound)
{
	uint64_t halves[2] = { 0 };

	for (int i = 0; i < NUMBERS_DRAW; i++) {
		halves[i / 6] = halves[i / 6] << 8 | draw[i];
	}
	return (uint64_t)(((wide)halves[0] * bound +
			   ((wide)halves[1] * bound >> 48)) >>
			  48);
}

Test(allocate_live, a_draw_is_scaled_as_with_wider_numbers)
{
	uint64_t dice = 2;

	for (int i = 0; i < SCALED; i++) {
		uint64_t words[2] = { random_rule_roll(&dice),
				      random_rule_roll(&dice) };
		uint64_t most = UINT64_C(1) << random_rule_roll(&dice) % 54;
		uint64_t bound = 1 + random_rule_roll(&dice) % most;
		uint8_t draw[sizeof(words)];
		uint64_t result;

		memcpy(draw, words, sizeof(words));
		if (i % 16 == 0) { /* a carry through all of it */
			memset(draw, i % 32 == 0 ? 0xff : 0, 11);
		}
		result = numbers_scaled(draw, bound);
		if (result != by_halves(draw, bound) || result >= bound) {
			cr_assert_fail("number %d: %" PRIu64 " of %" PRIu64, i,
				       result, bound);
		}
	}
}

/* ---- The rule ---- */

Test(allocate_live, only_one_algorithm_can_be_drawn)
{
	for (int a = 0; a <= ALLOCATE_ADOPTED; a++) {
		enum allocate_algorithm algorithm = (enum allocate_algorithm)a;
		struct allocate_rule rule = { .total_cents = 10000,
					      .count = 8,
					      .min_cents = 1,
					      .algorithm = algorithm };
		char why[ALLOCATE_WHY], wanted[ALLOCATE_WHY];

		if (algorithm == ALLOCATE_TIERS) {
			rule.tier_count = 1;
			rule.tiers[0] = (struct allocate_tier){ 1250, 8 };
		}
		cr_expect(allocate_possible(&rule, why), "%s", why);
		rule.live = true;
		if (algorithm == ALLOCATE_DOUBLE_MEAN) {
			cr_expect(allocate_possible(&rule, why), "%s", why);
			continue;
		}
		cr_expect(!allocate_possible(&rule, why));
		(void)snprintf(wanted, sizeof(wanted),
			       "mode live with the algorithm %s: only "
			       "double_mean can be drawn while people grab",
			       allocate_name(algorithm));
		cr_expect_str_eq(why, wanted);
	}
}

Test(allocate_live, no_tiers_can_be_drawn)
{
	const struct allocate_rule rule = { .total_cents = 10000,
					    .count = 8,
					    .min_cents = 1,
					    .live = true,
					    .tier_count = 1,
					    .tiers = { { 1250, 8 } } };
	char why[ALLOCATE_WHY];

	cr_assert_not(allocate_possible(&rule, why));
	cr_assert_str_eq(why, "tiers are for the algorithm tiers, not for "
			      "double_mean");
}
