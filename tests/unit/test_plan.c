/* Plans: what is refused and how it is said, the canonical text, and the
 * commitment. */
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
	m.algorithm = to_pb_str("double_mean");
	m.ack = to_pb_str("redis");
	m.total_cents = 10000;
	m.packets = 8;
	m.min_cents = 1;
	m.end_ms = 1764430000000;
	m.keep_days = 7;
	return m;
}

Test(plan, the_canonical_text_and_its_commitment)
{
	static const char expected[] =
		"activity_id=quiz-1\n"
		"title=Quiz night \xe6\xb5\x8b\xe8\xaf\x95\n"
		"sponsor=acme\ncurrency=CNY\ntotal_cents=10000\npackets=8\n"
		"algorithm=double_mean\nmin_cents=1\nmax_cents=0\n"
		"start_ms=0\nend_ms=1764430000000\nack=redis\nkeep_days=7\n";
	Rain__Plan m = good();
	uint8_t seed[ALLOCATE_SEED];
	struct plan p;
	char why[PLAN_WHY], text[PLAN_TEXT_MAX], hex[PLAN_COMMITMENT];

	for (int i = 0; i < ALLOCATE_SEED; i++) {
		seed[i] = (uint8_t)i;
	}
	cr_assert(plan_read(&m, &p, why), "%s", why);
	cr_assert_eq(plan_text(&p, text), sizeof(expected) - 1);
	cr_assert_str_eq(text, expected);
	plan_commitment(seed, &p, hex);
	/* Computed by another program. */
	cr_assert_str_eq(hex, "0b8c824b1a23c77f2cc1fb632562e67ef1973ec4bd9ea5fe"
			      "4bae1a77382bd2a6");
	seed[31] ^= 1;
	plan_commitment(seed, &p, text);
	cr_assert_str_neq(text, hex);
}

Test(plan, the_longest_plan_has_a_text)
{
	Rain__Plan m = good();
	char title[PLAN_TITLE_MAX + 1], id[ID_MAX + 1];
	char why[PLAN_WHY], text[PLAN_TEXT_MAX];
	struct plan p;

	memset(title, 'x', PLAN_TITLE_MAX);
	title[PLAN_TITLE_MAX] = '\0';
	memset(id, 'y', ID_MAX);
	id[ID_MAX] = '\0';
	m.title = to_pb_str(title);
	m.activity_id = m.sponsor = to_pb_str(id);
	m.total_cents = m.max_cents = m.end_ms = AMOUNT_MAX_CENTS;
	m.start_ms = AMOUNT_MAX_CENTS - 1;
	m.min_cents = AMOUNT_MAX_CENTS / 8;
	m.keep_days = PLAN_KEEP_DAYS_MAX;
	cr_assert(plan_read(&m, &p, why), "%s", why);
	cr_assert(plan_text(&p, text) < PLAN_TEXT_MAX);
	cr_assert_str_eq(p.title, title);
}

#define REFUSED(field, value, said)                                \
	do {                                                       \
		Rain__Plan m_ = good();                            \
		char why_[PLAN_WHY];                               \
		struct plan p_;                                    \
                                                                   \
		m_.field = (value);                                \
		cr_expect(!plan_read(&m_, &p_, why_), #field);     \
		cr_expect(strstr(why_, said) != NULL, "%s", why_); \
	} while (0)

Test(plan, what_is_wrong_is_named_with_what_is_allowed)
{
	char long_title[PLAN_TITLE_MAX + 2];

	memset(long_title, 'x', PLAN_TITLE_MAX + 1);
	long_title[PLAN_TITLE_MAX + 1] = '\0';
	REFUSED(activity_id, to_pb_str(""), "activity_id must be 1 to 64");
	REFUSED(activity_id, to_pb_str("a b"), "activity_id must be 1 to 64");
	REFUSED(activity_id, to_pb(BYTES("a\0b")), "activity_id");
	REFUSED(title, to_pb_str(long_title), "201 bytes, 200 are allowed");
	REFUSED(title, to_pb_str("a\nb"), "without control");
	REFUSED(title, to_pb_str("a\x7f"), "without control");
	REFUSED(title, to_pb_str("a\xc2\x85"), "without control");
	REFUSED(title, to_pb(BYTES("a\0b")), "without control");
	REFUSED(title, to_pb_str("a\xff"), "UTF-8");
	REFUSED(sponsor, to_pb_str(""), "sponsor must be");
	REFUSED(currency, to_pb_str("cny"), "three letters");
	REFUSED(currency, to_pb_str("CNYX"), "three letters");
	REFUSED(algorithm, to_pb_str("fair"), "double_mean");
	REFUSED(algorithm, to_pb_str(""), "double_mean");
	REFUSED(algorithm, to_pb_str("adopt"), "or adopted");
	REFUSED(ack, to_pb_str("kafka"), "ack must be redis");
	REFUSED(packets, 0, "1 to 10000000");
	REFUSED(packets, 10001, "the total of 100.00");
	REFUSED(total_cents, 7,
		"8 packets of at least 0.01 need more than the total of 0.07");
	REFUSED(max_cents, 1249, "at most 12.49 hold less");
	REFUSED(max_cents, AMOUNT_MAX_CENTS + 1,
		"a maximum of 90071992547409.92: up to 90071992547409.91");
	REFUSED(total_cents, -150, "a total of -1.50: 0.01 to ");
	REFUSED(start_ms, -1, "start and end are times");
	REFUSED(end_ms, -1, "start and end are times");
	REFUSED(start_ms, 1764430000500,
		"start 2025-11-29 15:26:40.500 UTC must be before end "
		"2025-11-29 15:26:40 UTC");
	REFUSED(keep_days, 3651, "3651");
	REFUSED(mode, to_pb_str("fast"), "mode must be list or live");
	REFUSED(mode, to_pb_str("Live"), "mode must be list or live");
	REFUSED(mode, to_pb_str("live "), "mode must be list or live");
	REFUSED(mode, to_pb(BYTES("live\0")), "mode must be list or live");
}

Test(plan, its_end_is_to_come)
{
	Rain__Plan m = good();
	char why[PLAN_WHY];
	struct plan p;

	cr_assert(plan_read(&m, &p, why));
	cr_assert(plan_is_future(&p, 1764429999999, why));
	cr_assert(!plan_is_future(&p, 1764430000000, why));
	cr_assert(strstr(why, "end 2025-11-29 15:26:40 UTC is past") != NULL,
		  "%s", why);
	p.end_ms = 0;
	cr_assert(plan_is_future(&p, 1764430000000, why));
}

/* Packets are released from the start, and not before there is an activity. */
Test(plan, all_can_be_released_before_its_end)
{
	Rain__Plan m = good();
	char why[PLAN_WHY];
	struct plan p;

	m.release_ms = 20000;
	cr_assert(plan_read(&m, &p, why));
	cr_assert(plan_is_future(&p, 1764429980000, why), "%s", why);
	cr_assert_not(plan_is_future(&p, 1764429995000, why));
	cr_assert_str_eq(why, "release is 20000 ms, and only 5000 ms lie "
			      "between now and end");
	/* From a start that is to come, as plan_read() has it. */
	p.start_ms = 1764429980000;
	cr_assert(plan_is_future(&p, 1764429970000, why), "%s", why);
	/* A start that is past helps no more. */
	cr_assert_not(plan_is_future(&p, 1764429980001, why));
	cr_assert_str_eq(why, "release is 20000 ms, and only 19999 ms lie "
			      "between now and end");
	p.end_ms = 0;
	cr_assert(plan_is_future(&p, 1764429995000, why), "%s", why);
}

static void differs(const Rain__Plan *m, const char *said)
{
	Rain__Plan first = good();
	char why[PLAN_WHY];
	struct plan there, here;

	cr_assert(plan_read(&first, &there, why));
	cr_assert(plan_read(m, &here, why), "%s", why);
	plan_difference(&there, &here, why);
	cr_expect(said[0] != '\0' ? strstr(why, said) != NULL : why[0] == '\0',
		  "%s", why);
}

Test(plan, where_two_plans_differ_is_named)
{
	Rain__Plan m = good();

	differs(&m, "");
	m.end_ms += 60000;
	differs(&m, "end is 2025-11-29 15:26:40 UTC there and 2025-11-29 "
		    "15:27:40 UTC here (+SECONDS counts");
	m = good();
	m.start_ms = 1000;
	differs(&m, "start is none there and 1970-01-01 00:00:01 UTC here");
	m = good();
	m.sponsor = to_pb_str("acm");
	differs(&m, "sponsor is acme there and acm here");
	m = good();
	m.total_cents = 10050;
	differs(&m, "total is 100.00 there and 100.50 here");
	m = good();
	m.packets = 9;
	differs(&m, "number of packets is 8 there and 9 here");
	m = good();
	m.max_cents = AMOUNT_MAX_CENTS;
	differs(&m, "max is 0.00 there and 90071992547409.91 here");
	m = good();
	m.algorithm = to_pb_str("normal");
	differs(&m, "algorithm is double_mean there and normal here");
	m = good();
	m.mode = to_pb_str("live");
	differs(&m, "its mode is list there and live here");
	m.mode = to_pb_str("list");
	differs(&m, "");
	m = good();
	m.title = to_pb_str("another");
	differs(&m, "title differs");
}

Test(plan, an_adopted_list_has_a_plan_and_no_split)
{
	Rain__Plan m = good();
	char why[PLAN_WHY], text[PLAN_TEXT_MAX];
	struct plan p;

	m.algorithm = to_pb_str("adopted");
	cr_assert(plan_read(&m, &p, why), "%s", why);
	cr_assert(plan_is_adopted(&p));
	(void)plan_text(&p, text);
	cr_assert(strstr(text, "\nalgorithm=adopted\n") != NULL, "%s", text);
	m.algorithm = to_pb_str("equal");
	cr_assert(plan_read(&m, &p, why), "%s", why);
	cr_assert_not(plan_is_adopted(&p));
}

/* Only its text has another line, behind all the others. */
Test(plan, mode_live_is_the_last_line_of_the_text)
{
	static const uint8_t seed[ALLOCATE_SEED];
	Rain__Plan m = good();
	char why[PLAN_WHY], list[PLAN_TEXT_MAX], live[PLAN_TEXT_MAX];
	char wanted[PLAN_TEXT_MAX + 16], hex[PLAN_COMMITMENT];
	struct plan p;

	m.release_ms = 60000;
	m.mode = to_pb_str("list");
	cr_assert(plan_read(&m, &p, why), "%s", why);
	cr_assert_not(p.rule.live);
	cr_assert(plan_has_list(&p));
	cr_assert_str_eq(plan_mode(&p), "list");
	(void)plan_text(&p, list);
	cr_assert_null(strstr(list, "mode"));

	m.mode = to_pb_str("live");
	cr_assert(plan_read(&m, &p, why), "%s", why);
	cr_assert(p.rule.live);
	cr_assert_not(plan_has_list(&p));
	cr_assert_not(plan_is_adopted(&p));
	cr_assert_str_eq(plan_mode(&p), "live");
	(void)snprintf(wanted, sizeof(wanted), "%smode=live\n", list);
	cr_assert_eq(plan_text(&p, live), strlen(wanted));
	cr_assert_str_eq(live, wanted);
	plan_commitment(seed, &p, hex);
	/* (head -c 32 /dev/zero; printf TEXT) | sha256sum */
	cr_assert_str_eq(hex, "91b0d4e2c24a8f49b9288df12a88aa6c7e4fd4a8c12d1c72"
			      "0a52c1df8ad47ad7");
}

Test(plan, only_double_mean_can_be_live)
{
	for (int a = 0; a <= ALLOCATE_ADOPTED; a++) {
		const char *name = allocate_name((enum allocate_algorithm)a);
		Rain__Tier tier = RAIN__TIER__INIT;
		Rain__Tier *tiers[] = { &tier };
		Rain__Plan m = good();
		char why[PLAN_WHY], wanted[PLAN_WHY];
		struct plan p;

		tier.amount_cents = 1250;
		tier.packets = 8;
		m.tiers = tiers;
		m.n_tiers = a == ALLOCATE_TIERS;
		m.algorithm = to_pb_str(name);
		cr_expect(plan_read(&m, &p, why), "%s", why);
		m.mode = to_pb_str("live");
		if (a == ALLOCATE_DOUBLE_MEAN) {
			cr_expect(plan_read(&m, &p, why), "%s", why);
			m.n_tiers = 1;
			cr_expect_not(plan_read(&m, &p, why));
			cr_expect_str_eq(why, "tiers are for the algorithm "
					      "tiers, not for double_mean");
			continue;
		}
		(void)snprintf(wanted, sizeof(wanted),
			       "mode live with the algorithm %s: only "
			       "double_mean can be drawn while people grab",
			       name);
		cr_expect_not(plan_read(&m, &p, why));
		cr_expect_str_eq(why, wanted);
	}
}
