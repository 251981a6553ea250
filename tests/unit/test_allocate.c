/* Allocation: exact sums, honoured bounds, and the bytes that anyone else who
 * reads allocate.h computes. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/rand.h"
#include "plan/allocate.h"

#define RULE(total, n, min, max)                                          \
	{                                                                 \
		.total_cents = (total), .count = (n), .min_cents = (min), \
		.max_cents = (max)                                        \
	}

static void count_up(uint8_t seed[ALLOCATE_SEED])
{
	for (int i = 0; i < ALLOCATE_SEED; i++) {
		seed[i] = (uint8_t)i;
	}
}

static int64_t *split(const uint8_t seed[ALLOCATE_SEED],
		      const struct allocate_rule *rule)
{
	int64_t *amounts = xcalloc(rule->count, sizeof(*amounts));
	int64_t max =
		rule->max_cents != 0 ? rule->max_cents : rule->total_cents;
	int64_t sum = 0;
	char why[ALLOCATE_WHY];

	cr_assert(allocate_possible(rule, why), "%s", why);
	allocate(seed, rule, amounts);
	for (uint64_t i = 0; i < rule->count; i++) {
		cr_assert(amounts[i] >= rule->min_cents, "%" PRId64,
			  amounts[i]);
		cr_assert(amounts[i] <= max, "%" PRId64, amounts[i]);
		sum += amounts[i];
	}
	cr_assert_eq(sum, rule->total_cents);
	return amounts;
}

/* Computed by another program from the text of allocate.h. */
Test(allocate, golden_vectors)
{
	static const int64_t free_ones[] = { 1570, 169,  854,  1942,
					     858,  1630, 1820, 1157 };
	static const int64_t bounded[] = { 300, 605, 555, 442, 596,
					   405, 588, 401, 522, 586 };
	struct allocate_rule rule = { .total_cents = 10000,
				      .count = 8,
				      .min_cents = 1 };
	uint8_t seed[ALLOCATE_SEED];
	int64_t *amounts;

	count_up(seed);
	amounts = split(seed, &rule);
	cr_assert_arr_eq(amounts, free_ones, sizeof(free_ones));
	free(amounts);
	rule = (struct allocate_rule)RULE(5000, 10, 300, 650);
	amounts = split(seed, &rule);
	cr_assert_arr_eq(amounts, bounded, sizeof(bounded));
	free(amounts);
}

Test(allocate, golden_digest_of_twenty_thousand)
{
	const struct allocate_rule rule = RULE(10000000, 20000, 1, 20000);
	uint8_t seed[ALLOCATE_SEED], digest[32];
	char hex[65];
	uint8_t *le = xmalloc(20000 * 8);
	int64_t *amounts;

	count_up(seed);
	amounts = split(seed, &rule);
	for (size_t i = 0; i < 20000 * 8; i++) {
		le[i] = (uint8_t)((uint64_t)amounts[i / 8] >> (8 * (i % 8)));
	}
	cr_assert_eq(
		EVP_Digest(le, 20000 * 8, digest, NULL, EVP_sha256(), NULL), 1);
	hex_encode(digest, sizeof(digest), hex);
	cr_assert_str_eq(hex, "6219b648ea3b5b65150e0b084201cecad81e117c1f9c9346"
			      "dec93de5a89f5f50");
	free(le);
	free(amounts);
}

/* Random rules from a fixed start, among them very tight ones. */
Test(allocate, sum_and_bounds_of_many_rules)
{
	uint64_t x = 42;
	uint8_t seed[ALLOCATE_SEED] = { 0 };

	for (int i = 0; i < 3000; i++) {
		struct allocate_rule rule = { 0 };
		uint64_t n[4];

		for (int k = 0; k < 4; k++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			n[k] = x >> 33;
		}
		rule.count = 1 + n[0] % 300;
		rule.min_cents = 1 + (int64_t)(n[1] % 500);
		rule.max_cents = rule.min_cents + (int64_t)(n[2] % 400);
		rule.total_cents =
			(int64_t)rule.count * rule.min_cents +
			(int64_t)(n[3] % (uint64_t)((int64_t)rule.count *
							    (rule.max_cents -
							     rule.min_cents) +
						    1));
		if (n[2] % 3 == 0) {
			rule.max_cents = 0;
		}
		memcpy(seed, n, sizeof(n));
		free(split(seed, &rule));
	}
}

Test(allocate, the_edges)
{
	static const struct allocate_rule edges[] = {
		RULE(500, 5, 100, 0),   /* total = n * min */
		RULE(500, 5, 100, 100), /* and n * max */
		RULE(999, 3, 1, 333),   /* total = n * max */
		RULE(998, 3, 1, 333),   /* one cent less */
		RULE(1, 1, 1, 0),       /* one packet of one cent */
		RULE(12345, 1, 1, 0),   /* one packet */
		RULE(7, 7, 1, 5),       /* a cent each */
		RULE(AMOUNT_MAX_CENTS, 1, 1, AMOUNT_MAX_CENTS),
		RULE(AMOUNT_MAX_CENTS, 2, AMOUNT_MAX_CENTS / 2, 0),
		RULE(AMOUNT_MAX_CENTS, 100000, 1, 0),
		RULE(AMOUNT_MAX_CENTS, 100000, 1, AMOUNT_MAX_CENTS),
		RULE(AMOUNT_MAX_CENTS, 100000, 1,
		     AMOUNT_MAX_CENTS / 100000 + 1),
	};
	uint8_t seed[ALLOCATE_SEED];

	count_up(seed);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		free(split(seed, &edges[i]));
	}
}

/* Nobody is favoured by a place: the mean of each place is the mean of all. */
Test(allocate, no_place_is_better)
{
	const struct allocate_rule rule = RULE(1000, 5, 1, 0);
	double sums[5] = { 0 };
	uint8_t seed[ALLOCATE_SEED] = { 0 };

	for (uint32_t i = 0; i < 20000; i++) {
		int64_t amounts[5];

		memcpy(seed, &i, sizeof(i));
		allocate(seed, &rule, amounts);
		for (int k = 0; k < 5; k++) {
			sums[k] += (double)amounts[k];
		}
	}
	for (int k = 0; k < 5; k++) {
		/* A deviation of 120 per packet: 4 sigma of the mean is 3.4. */
		cr_assert(sums[k] / 20000 > 196 && sums[k] / 20000 < 204,
			  "place %d: %f", k, sums[k] / 20000);
	}
}

Test(allocate, a_refusal_names_the_numbers)
{
	static const struct {
		struct allocate_rule rule;
		const char *number;
	} cases[] = {
		{ RULE(499, 5, 100, 0),
		  "5 packets of at least 1.00 need more than the total of 4.99" },
		{ RULE(1000, 3, 1, 333), "at most 3.33" },
		{ RULE(100, 0, 1, 0), "0 packets" },
		{ RULE(100, 10000001, 1, 0), "10000001" },
		{ RULE(0, 1, 1, 0), "total of 0.00" },
		{ RULE(-5, 1, 1, 0), "total of -0.05" },
		{ RULE(AMOUNT_MAX_CENTS + 1, 1, 1, 0), "90071992547409.92" },
		{ RULE(100, 1, 0, 0), "minimum of 0.00" },
		{ RULE(100, 1, -1, 0), "-0.01" },
		{ RULE(100, 1, 50, 49), "maximum of 0.49" },
		{ RULE(100, 1, 1, -1), "-0.01" },
		{ RULE(100, 2, INT64_MAX, 0), "92233720368547758.07" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char why[ALLOCATE_WHY];

		cr_expect(!allocate_possible(&cases[i].rule, why));
		cr_expect(strstr(why, cases[i].number) != NULL, "%s", why);
	}
}
