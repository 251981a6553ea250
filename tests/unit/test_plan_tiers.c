/* Plans with tiers: the line of the canonical text, and what is refused. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "plan/plan.h"
#include "proto/proto_util.h"

static Rain__Plan good(void)
{
	Rain__Plan m = RAIN__PLAN__INIT;

	m.activity_id = to_pb_str("quiz-1");
	m.title = to_pb_str("Quiz night \xe6\xb5\x8b\xe8\xaf\x95");
	m.sponsor = to_pb_str("acme");
	m.currency = to_pb_str("CNY");
	m.algorithm = to_pb_str("equal");
	m.ack = to_pb_str("redis");
	m.total_cents = 10000;
	m.packets = 8;
	m.min_cents = 1;
	m.end_ms = 1764430000000;
	m.keep_days = 7;
	return m;
}

/* Tiers that are all of this plan. */
static const struct allocate_rule prizes = {
	.tier_count = 3,
	.tiers = { { 5000, 1 }, { 1000, 2 }, { 600, 5 } }
};

static Rain__Plan with_tiers(const struct allocate_rule *tiers)
{
	static struct plan_tiers memory;
	Rain__Plan m = good();

	m.algorithm = to_pb_str("tiers");
	plan_tiers_message(tiers, &memory, &m);
	return m;
}

Test(plan_tiers, only_tiers_have_a_line_of_tiers)
{
	static const char end[] = "keep_days=7\ntiers=5000x1,1000x2,600x5\n";
	Rain__Plan m = with_tiers(&prizes);
	char why[PLAN_WHY], text[PLAN_TEXT_MAX], hex[PLAN_COMMITMENT];
	uint8_t seed[ALLOCATE_SEED];
	struct plan p;
	size_t n;

	for (int i = 0; i < ALLOCATE_SEED; i++) {
		seed[i] = (uint8_t)i;
	}
	cr_assert(plan_read(&m, &p, why), "%s", why);
	n = plan_text(&p, text);
	cr_assert_str_eq(text + n - (sizeof(end) - 1), end);
	cr_assert(strstr(text, "\nalgorithm=tiers\n") != NULL, "%s", text);
	plan_commitment(seed, &p, hex);
	/* Computed by another program. */
	cr_assert_str_eq(hex, "feadcdf01115d2736ddcde5ca9aad225fd54ee92a4bce6dd"
			      "af1fbcf37da0bbfa");
	for (int a = 0; a < ALLOCATE_ALGORITHMS; a++) {
		const char *name = allocate_name((enum allocate_algorithm)a);
		char line[40];

		if (a == ALLOCATE_TIERS) {
			continue;
		}
		m = good();
		m.algorithm = to_pb_str(name);
		cr_assert(plan_read(&m, &p, why), "%s", why);
		n = plan_text(&p, text);
		(void)snprintf(line, sizeof(line), "\nalgorithm=%s\n", name);
		cr_assert(strstr(text, line) != NULL, "%s", text);
		cr_assert_str_eq(text + n - 12, "keep_days=7\n");
	}
}

Test(plan_tiers, the_most_tiers_have_a_text_that_is_read_again)
{
	struct allocate_rule most = { .tier_count = ALLOCATE_TIERS_MAX };
	struct allocate_rule again;
	char text[PLAN_TIERS_TEXT], longer[PLAN_TIERS_TEXT + 8];

	for (size_t i = 0; i < ALLOCATE_TIERS_MAX; i++) {
		most.tiers[i] =
			(struct allocate_tier){ AMOUNT_MAX_CENTS - (int64_t)i,
						ALLOCATE_COUNT_MAX - i };
	}
	plan_tiers_text(&most, text);
	cr_assert_eq(strlen(text), 32 * 26 - 1 - 31);
	cr_assert(plan_tiers_read(bytes_str(text), &again));
	cr_assert_eq(again.tier_count, ALLOCATE_TIERS_MAX);
	for (size_t i = 0; i < ALLOCATE_TIERS_MAX; i++) {
		cr_assert_eq(again.tiers[i].amount_cents,
			     most.tiers[i].amount_cents);
		cr_assert_eq(again.tiers[i].count, most.tiers[i].count);
	}
	(void)snprintf(longer, sizeof(longer), "%s,1x1", text);
	cr_assert(!plan_tiers_read(bytes_str(longer), &again), "33");
	cr_assert(plan_tiers_read(bytes_str(""), &again));
	cr_assert_eq(again.tier_count, 0);
}

Test(plan_tiers, what_is_not_the_text_of_tiers)
{
	static const char *const texts[] = {
		",",
		"x",
		"1",
		"1x",
		"x1",
		"1x1,",
		",1x1",
		"1x1,,1x1",
		"01x1",
		"1x01",
		"1 x1",
		"1x1, 1x1",
		"1x1 ",
		" 1x1",
		"1X1",
		"1x1x1",
		"-1x1",
		"+1x1",
		"1x-1",
		"1.00x1",
		"1x1\n",
		"0x1f",
		"1e2x1",
		"1x1;1x1",
		"9007199254740992x1", /* 2^53 */
		"1x10000001",
		"18446744073709551617x1", /* 2^64 + 1 */
		"1x18446744073709551617",
	};
	struct allocate_rule rule;

	cr_assert(plan_tiers_read(bytes_str("1x1"), &rule));
	cr_assert(
		plan_tiers_read(bytes_str("9007199254740991x10000000"), &rule));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_expect(!plan_tiers_read(bytes_str(texts[i]), &rule), "%s",
			  texts[i]);
	}
	cr_expect(!plan_tiers_read(BYTES("1x1\0"), &rule));
}

static void refuses(const Rain__Plan *m, const char *said)
{
	char why[PLAN_WHY];
	struct plan p;

	cr_expect(!plan_read(m, &p, why), "%s", said);
	cr_expect(strstr(why, said) != NULL, "%s", why);
}

Test(plan_tiers, tiers_are_all_of_the_plan_or_it_is_refused)
{
	struct allocate_rule rule = prizes;
	Rain__Plan m = with_tiers(&prizes);

	m.total_cents = 9999;
	refuses(&m, "the tiers have 8 packets with 100.00, the plan has 8 with "
		    "99.99");
	m = with_tiers(&prizes);
	m.packets = 9;
	refuses(&m, "the tiers have 8 packets with 100.00, the plan has 9 with "
		    "100.00");
	m = with_tiers(&prizes);
	m.min_cents = 601;
	refuses(&m, "a tier of 6.00: 6.01 to ");
	m.min_cents = 1;
	m.max_cents = 4999;
	refuses(&m, "a tier of 50.00: 0.01 to 49.99 are allowed");
	m = with_tiers(&prizes);
	m.algorithm = to_pb_str("equal");
	refuses(&m, "tiers are for the algorithm tiers, not for equal");
	m.n_tiers = 0;
	m.algorithm = to_pb_str("tiers");
	refuses(&m, "0 tiers: 1 to 32 are allowed");
	m.n_tiers = 33;
	refuses(&m, "33 tiers: 1 to 32 are allowed");
	rule.tiers[2].count = 0;
	m = with_tiers(&rule);
	refuses(&m, "a tier of 0 packets: 1 to 10000000 are allowed");
	rule.tiers[2].count = UINT64_MAX;
	m = with_tiers(&rule);
	refuses(&m, "a tier of 18446744073709551615 packets");
	rule.tiers[2] = (struct allocate_tier){ AMOUNT_MAX_CENTS / 2 + 1, 2 };
	m = with_tiers(&rule);
	refuses(&m, "the tiers hold more than 90071992547409.91");
	rule.tiers[2] = (struct allocate_tier){ -600, 5 };
	m = with_tiers(&rule);
	refuses(&m, "a tier of -6.00: 0.01 to ");
}

/* Titles and ids are as long as they can be, tiers have as many digits. */
Test(plan_tiers, the_longest_plan_has_a_text)
{
	struct allocate_rule rule = { .tier_count = ALLOCATE_TIERS_MAX };
	char title[PLAN_TITLE_MAX + 1], id[ID_MAX + 1];
	char why[PLAN_WHY], text[PLAN_TEXT_MAX];
	Rain__Plan m;
	struct plan p;

	for (size_t i = 0; i < ALLOCATE_TIERS_MAX; i++) {
		rule.tiers[i] = (struct allocate_tier){ 2800000000, 100000 };
	}
	m = with_tiers(&rule);
	m.packets = ALLOCATE_TIERS_MAX * 100000;
	m.total_cents = ALLOCATE_TIERS_MAX * 2800000000 * INT64_C(100000);
	memset(title, 'x', PLAN_TITLE_MAX);
	title[PLAN_TITLE_MAX] = '\0';
	memset(id, 'y', ID_MAX);
	id[ID_MAX] = '\0';
	m.title = to_pb_str(title);
	m.activity_id = m.sponsor = to_pb_str(id);
	m.max_cents = m.end_ms = AMOUNT_MAX_CENTS;
	m.start_ms = AMOUNT_MAX_CENTS - 1;
	m.keep_days = PLAN_KEEP_DAYS_MAX;
	cr_assert(plan_read(&m, &p, why), "%s", why);
	cr_assert_gt(plan_text(&p, text), 1000);
}

Test(plan_tiers, other_tiers_or_another_order_are_a_difference)
{
	const struct allocate_rule others[] = {
		{ .tier_count = 3,
		  .tiers = { { 1000, 2 }, { 5000, 1 }, { 600, 5 } } },
		{ .tier_count = 2, .tiers = { { 3000, 1 }, { 1000, 7 } } },
		{ .tier_count = 4,
		  .tiers = { { 5000, 1 },
			     { 1000, 1 },
			     { 1000, 1 },
			     { 600, 5 } } },
	};
	Rain__Plan m = with_tiers(&prizes);
	char why[PLAN_WHY];
	struct plan there, here;

	cr_assert(plan_read(&m, &there, why), "%s", why);
	plan_difference(&there, &there, why);
	cr_assert_str_eq(why, "");
	for (size_t i = 0; i < 3; i++) {
		m = with_tiers(&others[i]);
		cr_assert(plan_read(&m, &here, why), "%s", why);
		plan_difference(&there, &here, why);
		cr_expect_str_eq(why, "its tiers differ");
	}
}
