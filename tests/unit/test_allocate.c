/* Allocation: exact sums, honoured bounds, the bytes that anyone else who reads
 * allocate.h computes, and the memory that it takes. Rules at random are in
 * test_allocate_many.c, the odds of each place in test_allocate_fair.c. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/rand.h"
#include "lib/ways.h"
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

/* A rule by another algorithm; of tiers two, as even as can be. */
static struct allocate_rule by(enum allocate_algorithm algorithm,
			       struct allocate_rule rule)
{
	int64_t share = rule.total_cents / (int64_t)rule.count;
	uint64_t more = (uint64_t)rule.total_cents % rule.count;

	rule.algorithm = algorithm;
	if (algorithm == ALLOCATE_TIERS) {
		rule.tiers[0] =
			(struct allocate_tier){ share, rule.count - more };
		rule.tiers[1] = (struct allocate_tier){ share + 1, more };
		rule.tier_count = more > 0 ? 2 : 1;
	}
	return rule;
}

static struct allocate_rule in_way(const struct way *way,
				   struct allocate_rule rule)
{
	rule = by(way->algorithm, rule);
	rule.live = way->live;
	return rule;
}

ParameterizedTestParameters(allocate, the_edges)
{
	return cr_make_param_array(struct way, ways, WAYS);
}

ParameterizedTest(struct way *way, allocate, the_edges)
{
	static const struct allocate_rule edges[] = {
		RULE(500, 5, 100, 0),   /* total = n * min */
		RULE(501, 5, 100, 0),   /* a cent more */
		RULE(500, 5, 100, 100), /* and n * max */
		RULE(999, 3, 1, 333),   /* total = n * max */
		RULE(998, 3, 1, 333),   /* one cent less */
		RULE(1, 1, 1, 0),       /* one packet of one cent */
		RULE(1, 1, 1, 1),       /* which is also the most */
		RULE(12345, 1, 1, 0),   /* one packet */
		RULE(7, 7, 1, 5),       /* a cent each */
		RULE(8, 7, 1, 5),       /* and one more */
		RULE(AMOUNT_MAX_CENTS, 1, 1, 0),
		RULE(AMOUNT_MAX_CENTS, 1, 1, AMOUNT_MAX_CENTS),
		RULE(AMOUNT_MAX_CENTS, 1, AMOUNT_MAX_CENTS, AMOUNT_MAX_CENTS),
		RULE(AMOUNT_MAX_CENTS, 2, 1, 0),
		RULE(AMOUNT_MAX_CENTS, 2, AMOUNT_MAX_CENTS / 2, 0),
		RULE(AMOUNT_MAX_CENTS, 2, 1, AMOUNT_MAX_CENTS / 2 + 1),
		RULE(AMOUNT_MAX_CENTS, 100000, 1, 0),
		RULE(AMOUNT_MAX_CENTS, 100000, AMOUNT_MAX_CENTS / 100000, 0),
		RULE(AMOUNT_MAX_CENTS, 100000, 1, AMOUNT_MAX_CENTS),
		RULE(AMOUNT_MAX_CENTS, 100000, 1,
		     AMOUNT_MAX_CENTS / 100000 + 1),
		RULE(1000000, 1000000, 1, 0),
		RULE(1000001, 1000000, 1, 0),
		RULE(100000000, 1000000, 1, 0),
		RULE(100000000, 1000000, 1, 100),
		RULE(99999999, 1000000, 1, 100),
		RULE(AMOUNT_MAX_CENTS, 1000000, 1, 0),
	};
	uint8_t seed[ALLOCATE_SEED];

	count_up(seed);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		const struct allocate_rule rule = in_way(way, edges[i]);

		free(split(seed, &rule));
	}
}

/* 1.00 for 18 people: rounding each share to 0.06 would leave -0.02. */
Test(allocate, what_cannot_be_divided_is_a_cent_more_for_some)
{
	const struct allocate_rule rule =
		by(ALLOCATE_EQUAL, (struct allocate_rule)RULE(100, 18, 1, 0));
	uint8_t seed[ALLOCATE_SEED];
	int64_t *amounts;
	int more = 0;

	count_up(seed);
	amounts = split(seed, &rule);
	for (int i = 0; i < 18; i++) {
		cr_assert(amounts[i] == 5 || amounts[i] == 6);
		more += amounts[i] == 6;
	}
	cr_assert_eq(more, 10);
	free(amounts);
}

__extension__ typedef __int128 wide;

/* The cuts are the same without a maximum, and so is the shuffle: what each
 * share would have been is known, so what it must become can be computed. */
static void redistributed(const struct allocate_rule *rule,
			  const int64_t *uncapped, const int64_t *capped)
{
	int64_t max = rule->max_cents;
	wide excess = 0, room = 0, cents = 0;

	for (uint64_t i = 0; i < rule->count; i++) {
		excess += uncapped[i] > max ? uncapped[i] - max : 0;
		room += uncapped[i] < max ? max - uncapped[i] : 0;
	}
	cr_assert(excess > 0 && excess <= room);
	cents = excess;
	for (uint64_t i = 0; i < rule->count; i++) {
		int64_t below = uncapped[i] < max ? max - uncapped[i] : 0;
		int64_t more = (int64_t)(excess * below / room);
		int64_t cent = capped[i] - (max - below) - more;

		cr_assert(cent == 0 || (cent == 1 && more < below),
			  "packet %" PRIu64 ": %" PRId64, i, capped[i]);
		cents -= more + cent;
	}
	cr_assert_eq((int64_t)cents, 0);
}

Test(allocate, what_is_above_the_maximum_goes_to_the_others)
{
	static const struct allocate_rule rules[] = {
		RULE(1000000, 10000, 1, 110), /* one of three is cut */
		RULE(1000000, 10000, 1, 101),
		RULE(1000000, 10000, 1, 100), /* total = n * max */
		RULE(999999, 10000, 1, 100),  /* a cent less */
		RULE(999999, 10000, 99, 100), /* nearly n * min as well */
		RULE(1000000, 10000, 50, 100),
		RULE(1000000, 10000, 1, 600), /* few are cut */
		RULE(AMOUNT_MAX_CENTS, 100000, 1,
		     AMOUNT_MAX_CENTS / 100000 + 1),
		RULE(AMOUNT_MAX_CENTS, 3, 1, AMOUNT_MAX_CENTS / 3 + 1),
	};
	uint8_t seed[ALLOCATE_SEED];

	count_up(seed);
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct allocate_rule rule = by(ALLOCATE_LINE_CUT, rules[i]);
		int64_t *capped = split(seed, &rule);
		int64_t *uncapped;

		rule.max_cents = 0;
		uncapped = split(seed, &rule);
		redistributed(&rules[i], uncapped, capped);
		free(uncapped);
		free(capped);
	}
}

enum { MILLION = 1000000, COPY_KB = MILLION * 8 / 1024 };

/* The most memory that this process has had since the last call, in kB. */
static long peak_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	int forget = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	char line[128];
	long kb = -1;

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "VmHWM:", 6) == 0) {
			kb = strtol(line + 6, NULL, 10);
		}
	}
	(void)fclose(f);
	cr_assert_gt(kb, 0);
	/* What it has now is the peak from now on. */
	cr_assert_eq(write(forget, "5", 1), 1);
	close(forget);
	return kb;
}

ParameterizedTestParameters(allocate, a_million_takes_no_second_copy)
{
	return cr_make_param_array(struct way, ways, WAYS);
}

ParameterizedTest(struct way *way, allocate, a_million_takes_no_second_copy)
{
	const struct allocate_rule small =
		in_way(way, (struct allocate_rule)RULE(100, 10, 1, 0));
	const struct allocate_rule rule = in_way(
		way, (struct allocate_rule)RULE(100000000, MILLION, 1, 5000));
	int64_t *amounts = xmalloc(MILLION * sizeof(*amounts));
	int64_t *copy;
	uint8_t seed[ALLOCATE_SEED];
	long before, during;

	count_up(seed);
	free(split(seed, &small)); /* OpenSSL has what it keeps */
	memset(amounts, 1, MILLION * sizeof(*amounts));
	(void)peak_kb();
	before = peak_kb();
	allocate(seed, &rule, amounts);
	during = peak_kb();
	cr_assert(during - before < COPY_KB / 4, "%ld kB", during - before);
	/* A copy would have been noticed, also one that is gone again. */
	copy = xmalloc(MILLION * sizeof(*copy));
	memcpy(copy, amounts, MILLION * sizeof(*copy));
	cr_assert_eq(copy[MILLION - 1], amounts[MILLION - 1]);
	free(copy);
	during = peak_kb();
	cr_assert(during - before > COPY_KB / 4 * 3, "%ld kB", during - before);
	free(amounts);
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
		{ RULE(100, 2, 1, AMOUNT_MAX_CENTS + 1),
		  "a maximum of 90071992547409.92: up to 90071992547409.91" },
		{ RULE(100, 2, 1, INT64_MAX), "92233720368547758.07" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char why[ALLOCATE_WHY];

		cr_expect(!allocate_possible(&cases[i].rule, why));
		cr_expect(strstr(why, cases[i].number) != NULL, "%s", why);
	}
}

/* Nobody is given packets that were guessed. */
Test(allocate, an_adopted_list_is_not_computed, .signal = SIGABRT)
{
	static const uint8_t seed[ALLOCATE_SEED];
	struct allocate_rule rule = RULE(100, 1, 1, 0);
	int64_t amount;

	rule.algorithm = ALLOCATE_ADOPTED;
	allocate(seed, &rule, &amount);
}
