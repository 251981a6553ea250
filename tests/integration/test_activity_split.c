/* ActivityService and how the money is split: by each algorithm, and by tiers,
 * which are a part of the plan. */
#include <criterion/criterion.h>

#include "base/rand.h"
#include "grab-service/claim.h"
#include "lib/activity_rig.h"
#include "plan/plan.h"
#include "proto/proto_util.h"

static struct activity_rig g;

static void start(void)
{
	activity_rig_open(&g, NULL);
}

static void stop(void)
{
	activity_rig_close(&g);
}

TestSuite(activity_split, .init = start, .fini = stop);

static const char *meta(const char *field)
{
	return redis_server_ask(&g.server, "HGET rain:{quiz}:meta %s", field);
}

/* 20 packets with 20.00, as the plan of quiz has them. */
static const struct allocate_rule prizes = {
	.tier_count = 3,
	.tiers = { { 1000, 1 }, { 60, 5 }, { 50, 14 } }
};

static struct plan_tiers memory;

static Rain__Plan plan_of(const char *algorithm)
{
	Rain__Plan m = activity_plan("quiz", 20);

	m.algorithm = to_pb_str(algorithm);
	if (strcmp(algorithm, "tiers") == 0) {
		plan_tiers_message(&prizes, &memory, &m);
	}
	return m;
}

static void create_plan_of(const char *algorithm)
{
	Rain__Plan m = plan_of(algorithm);

	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s: %s", algorithm,
		     g.message);
}

static void did(const char *method)
{
	activity_ask(&g, method, "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s: %s", method,
		     g.message);
}

/* The amounts in Redis from the first packet to the last, with their sum. */
static int64_t listed(int64_t amounts[20])
{
	int64_t sum = 0;

	for (int i = 0; i < 20; i++) {
		const char *text = redis_server_ask(
			&g.server, "LINDEX rain:{quiz}:packets %d", -i - 1);
		struct packet p;
		const char *why;

		cr_assert(packet_parse(bytes_str(text), &p, &why), "%s", text);
		amounts[i] = p.amount_cents;
		sum += amounts[i];
	}
	return sum;
}

Test(activity_split, every_algorithm_is_created_loaded_and_opened)
{
	for (int a = 0; a < ALLOCATE_ALGORITHMS; a++) {
		const char *name = allocate_name((enum allocate_algorithm)a);
		int64_t there[20], expected[20];
		uint8_t seed[ALLOCATE_SEED];
		char why[PLAN_WHY];
		const char *hex;
		struct plan p;
		Rain__Plan m = plan_of(name);

		create_plan_of(name);
		cr_assert_str_eq(activity_text(g.activity->plan->algorithm),
				 name);
		cr_assert_eq(g.activity->plan->n_tiers,
			     a == ALLOCATE_TIERS ? 3 : 0);
		did("preload");
		cr_assert_eq(listed(there), 2000, "%s", name);
		hex = meta("seed");
		cr_assert_eq(hex_decode(hex, strlen(hex), seed, sizeof(seed)),
			     0);
		cr_assert(plan_read(&m, &p, why), "%s", why);
		allocate(seed, &p.rule, expected);
		cr_assert_arr_eq(there, expected, sizeof(expected), "%s", name);
		did("open");
		cr_assert_eq(g.activity->state, RAIN__STATE__OPEN);
		redis_server_ask(&g.server, "FLUSHALL");
	}
}

Test(activity_split, tiers_are_shown_and_kept)
{
	int64_t there[20];
	int counts[3] = { 0 };

	create_plan_of("tiers");
	cr_assert_str_eq(meta("tiers"), "1000x1,60x5,50x14");
	did("get");
	cr_assert_eq(g.activity->plan->n_tiers, 3);
	for (int t = 0; t < 3; t++) {
		cr_assert_eq(g.activity->plan->tiers[t]->amount_cents,
			     prizes.tiers[t].amount_cents);
		cr_assert_eq(g.activity->plan->tiers[t]->packets,
			     prizes.tiers[t].count);
	}
	did("preload");
	(void)listed(there);
	for (int i = 0; i < 20; i++) {
		for (int t = 0; t < 3; t++) {
			counts[t] += there[i] == prizes.tiers[t].amount_cents;
		}
	}
	for (int t = 0; t < 3; t++) {
		cr_assert_eq((uint64_t)counts[t], prizes.tiers[t].count);
	}
}

Test(activity_split, other_tiers_are_another_plan)
{
	/* The same in another order; other prizes; and a packet more. */
	const struct allocate_rule others[] = {
		{ .tier_count = 3,
		  .tiers = { { 60, 5 }, { 1000, 1 }, { 50, 14 } } },
		{ .tier_count = 2, .tiers = { { 500, 2 }, { 100, 10 } } },
		{ .tier_count = 2, .tiers = { { 1050, 1 }, { 50, 19 } } },
	};
	Rain__Plan m = plan_of("tiers");

	create_plan_of("tiers");
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__ALREADY, "%s", g.message);
	plan_tiers_message(&others[0], &memory, &m);
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
	cr_assert(strstr(g.message, "its tiers differ") != NULL, "%s",
		  g.message);
	cr_assert_eq(g.activity->plan->tiers[0]->amount_cents, 1000);
	plan_tiers_message(&others[1], &memory, &m);
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID, "%s", g.message);
	cr_assert(strstr(g.message, "have 12 packets with 20.00") != NULL, "%s",
		  g.message);
	plan_tiers_message(&others[2], &memory, &m);
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
	m = plan_of("equal");
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
	cr_assert(strstr(g.message,
			 "its algorithm is tiers there and equal here") != NULL,
		  "%s", g.message);
	cr_assert_str_eq(meta("tiers"), "1000x1,60x5,50x14");
}

/* Whatever is in the field tiers of meta, and the method is refused. */
static void notices(const char *method, const char *tiers, const char *said)
{
	if (tiers != NULL) {
		redis_server_ask(&g.server, "HSET rain:{quiz}:meta tiers %s",
				 tiers);
	} else {
		redis_server_ask(&g.server, "HDEL rain:{quiz}:meta tiers");
	}
	activity_ask(&g, method, "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s: %s",
		     method, g.message);
	cr_assert(strstr(g.message, said) != NULL, "%s: %s", method, g.message);
}

Test(activity_split, tiers_that_a_stranger_changed_are_noticed)
{
	static const char *const methods[] = { "preload", "open" };

	create_plan_of("tiers");
	for (int i = 0; i < 2; i++) {
		const char *method = methods[i];

		notices(method, "1050x1,50x19", "not those of the plan's text");
		notices(method, "60x5,1000x1,50x14", "the plan's text");
		notices(method, "1000x1,60x5", "tiers have 6 packets with 13");
		notices(method, "1000x1,60x5,50x14,", "no tiers");
		notices(method, "junk", "no tiers");
		notices(method, "", "0 tiers: 1 to 32 are allowed");
		notices(method, NULL, "0 tiers: 1 to 32 are allowed");
		cr_assert_str_eq(
			redis_server_ask(&g.server, "LLEN rain:{quiz}:packets"),
			i == 0 ? "0" : "20");
		redis_server_ask(&g.server, "HSET rain:{quiz}:meta tiers %s",
				 "1000x1,60x5,50x14");
		did(method);
	}
}

/* A stranger may change the plan's text with it; not the commitment's past. */
Test(activity_split, another_plan_all_over_is_not_the_committed_one)
{
	struct allocate_rule other = { .tier_count = 2,
				       .tiers = { { 1050, 1 }, { 50, 19 } } };
	Rain__Plan m = plan_of("tiers");
	char why[PLAN_WHY], text[PLAN_TEXT_MAX];
	struct plan p;

	create_plan_of("tiers");
	plan_tiers_message(&other, &memory, &m);
	cr_assert(plan_read(&m, &p, why), "%s", why);
	(void)plan_text(&p, text);
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta tiers %s plan %s",
			 "1050x1,50x19", text);
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
	cr_assert(strstr(g.message, "commitment") != NULL, "%s", g.message);
	cr_assert_str_eq(
		redis_server_ask(&g.server, "LLEN rain:{quiz}:packets"), "0");
}

Test(activity_split, no_activity_without_tiers_has_any)
{
	create_plan_of("equal");
	cr_assert_str_eq(meta("tiers"), "(nil)");
	notices("preload", "1000x1,60x5,50x14", "tiers are for the algorithm");
}

/* No amount is above 2^53 - 1 cents, so neither is a bound of one. */
Test(activity_split, a_maximum_that_is_no_amount_is_refused)
{
	Rain__Plan m = plan_of("equal");

	create_plan_of("equal");
	m.max_cents = INT64_MAX;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID, "%s", g.message);
	cr_assert(strstr(g.message, "a maximum of 92233720368547758.07") !=
			  NULL,
		  "%s", g.message);
}
