/* Live activities: what is drawn while people grab is what the seed says. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"
#include "grab-service/claim.h"
#include "lib/grab_rig.h"
#include "lib/random_rule.h"
#include "plan/plan.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;

static void start(void)
{
	rig_open(&rig);
	rig_service(&rig, 0, false, NULL);
	rig_service(&rig, 1, false, NULL);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(grab_live, .init = start, .fini = stop, .timeout = 120);

static void open_with(const char *id, const struct allocate_rule *rule)
{
	lua_open_live(&rig.redis, id, (int)rule->count, rule->total_cents,
		      rule->min_cents, rule->max_cents);
}

/* So many users at once, half of them at the other service. */
static void grab_all(const char *id, int users, struct rig_got *got)
{
	for (int i = 0; i < users; i++) {
		char user[16];

		(void)snprintf(user, sizeof(user), "u%d", i);
		rig_put(&rig, i % 2, LANE_GRAB, id, user, &got[i]);
	}
	for (int i = 0; i < 2; i++) {
		rig_pump(&rig, i, LANE_GRAB, id);
	}
	for (int i = 0; i < users; i++) {
		RUN_UNTIL(&rig.loop, got[i].done);
	}
}

/* Every claim is the packet of its place, to the cent; their sum is told. */
static int64_t claims_are(const char *id, const int64_t *amounts)
{
	const char *n =
		redis_server_ask(&rig.redis, "LLEN rain:{%s}:claims", id);
	long count = strtol(n, NULL, 10);
	uint64_t base = strtoull(LUA_LIVE_BASE, NULL, 10);
	int64_t sum = 0;

	for (long seq = 1; seq <= count; seq++) {
		const char *text = redis_server_ask(
			&rig.redis, "LINDEX rain:{%s}:claims -%ld", id, seq);
		const char *why = "";
		struct claim c;
		char packet[24];

		cr_assert(claim_parse(bytes_str(text), &c, &why), "%s: %s",
			  text, why);
		cr_assert_eq(c.packet.amount_cents, amounts[seq - 1],
			     "%s is not %" PRId64, text, amounts[seq - 1]);
		(void)snprintf(packet, sizeof(packet), "%" PRIu64,
			       base + (uint64_t)seq - 1);
		cr_assert(bytes_eq(c.packet.red_packet_id, bytes_str(packet)),
			  "%s", text);
		cr_assert_eq(c.seq, (uint64_t)seq);
		sum += c.packet.amount_cents;
	}
	return sum;
}

static void is_left(const char *id, int64_t packets, int64_t cents)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%" PRId64 "\n%" PRId64, packets,
		       cents);
	cr_assert_str_eq(redis_server_ask(&rig.redis,
					  "HMGET rain:{%s}:meta left balance",
					  id),
			 text);
}

Test(grab_live, every_rule_is_drawn_as_it_is_computed)
{
	static const uint8_t seed[ALLOCATE_SEED];
	static struct rig_got got[RANDOM_RULE_PACKETS + 5];
	static int64_t amounts[RANDOM_RULE_PACKETS];
	uint64_t dice = 5;

	for (int i = 0; i < 1000; i++) {
		struct allocate_rule rule =
			random_rule_possible(&dice, ALLOCATE_DOUBLE_MEAN);
		int users = (int)rule.count + 5;
		char id[16];

		rule.live = true;
		(void)snprintf(id, sizeof(id), "a%d", i);
		open_with(id, &rule);
		memset(got, 0, sizeof(got));
		grab_all(id, users, got);
		allocate(seed, &rule, amounts);
		cr_assert_eq(claims_are(id, amounts), rule.total_cents);
		is_left(id, 0, 0);
	}
}

/* ---- Many at once ---- */

enum { CROWD = 3000, PACKETS = 2500, FEW = 4 };

static void small_batches(struct grab_options *o)
{
	o->batch_max = FEW;
}

static void large_batches(struct grab_options *o)
{
	o->batch_max = 1000;
}

static void user_name(int i, char out[16])
{
	(void)snprintf(out, 16, "u%d", i);
}

/* What they are told is in the claims, and each packet is told once. */
static void told_as_drawn(const struct rig_got *got, int users, int winners,
			  const int64_t *amounts)
{
	static bool seen[CROWD];
	uint64_t base = strtoull(LUA_LIVE_BASE, NULL, 10);
	int won = 0;

	memset(seen, 0, sizeof(seen));
	for (int i = 0; i < users; i++) {
		uint64_t seq = strtoull(got[i].packet, NULL, 10) - base;

		if (got[i].status == RAIN__STATUS__SOLD_OUT) {
			continue;
		}
		cr_assert_eq(got[i].status, RAIN__STATUS__WON, "u%d: %d (%s)",
			     i, got[i].status, got[i].message);
		cr_assert(seq < (uint64_t)winners && !seen[seq], "%s",
			  got[i].packet);
		cr_assert_eq(got[i].amount_cents, amounts[seq]);
		seen[seq] = true;
		won++;
	}
	cr_assert_eq(won, winners);
}

/* Both services take packets from under each other's draws, and nobody is sent
 * away for it. */
static void two_services(void (*change)(struct grab_options *o))
{
	static const uint8_t seed[ALLOCATE_SEED];
	static struct rig_got got[CROWD];
	static int64_t amounts[PACKETS];
	struct allocate_rule rule = { .total_cents = 5000000,
				      .count = PACKETS,
				      .min_cents = 1,
				      .live = true };

	rig_stop(&rig, 0);
	rig_stop(&rig, 1);
	rig_service(&rig, 0, false, change);
	rig_service(&rig, 1, false, change);
	open_with("a", &rule);
	grab_all("a", CROWD, got);
	allocate(seed, &rule, amounts);
	cr_assert_eq(claims_are("a", amounts), rule.total_cents);
	told_as_drawn(got, CROWD, PACKETS, amounts);
	is_left("a", 0, 0);
}

Test(grab_live, two_services_in_small_batches)
{
	two_services(small_batches);
}

/* A batch of the other one is more than the draws that are sent ahead. */
Test(grab_live, two_services_in_large_batches)
{
	two_services(large_batches);
}

/* One has seen nothing for long: its draws are of places that are gone. */
Test(grab_live, who_comes_late_is_told_the_places)
{
	static const uint8_t seed[ALLOCATE_SEED];
	static int64_t amounts[PACKETS];
	struct allocate_rule rule = { .total_cents = 5000000,
				      .count = PACKETS,
				      .min_cents = 1,
				      .live = true };
	struct rig_got got;
	char user[16];

	open_with("a", &rule);
	rig_grab(&rig, 1, "a", "late", &got);
	for (int i = 0; i < 300; i++) {
		user_name(i, user);
		rig_grab(&rig, 0, "a", user, &got);
		cr_assert_eq(got.status, RAIN__STATUS__WON);
	}
	allocate(seed, &rule, amounts);
	rig_grab(&rig, 1, "a", "later", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	cr_assert_eq(got.amount_cents, amounts[301]);
	/* Nor does it matter that it knows nothing any more. */
	rig_stop(&rig, 1);
	rig_service(&rig, 1, false, NULL);
	rig_grab(&rig, 1, "a", "later", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_eq(got.amount_cents, amounts[301]);
	rig_grab(&rig, 1, "a", "last", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	cr_assert_eq(got.amount_cents, amounts[302]);
	cr_assert_lt(claims_are("a", amounts), rule.total_cents);
}

/* ---- Which seed ---- */

static const struct allocate_rule thirty = { .total_cents = 100000,
					     .count = 30,
					     .min_cents = 1,
					     .live = true };

static void expect_amount(int service, const char *user, int64_t cents)
{
	struct rig_got got;

	rig_grab(&rig, service, "a", user, &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON, "%d (%s)", got.status,
		     got.message);
	cr_assert_eq(got.amount_cents, cents);
}

Test(grab_live, entropy_is_mixed_into_the_draws)
{
	static const uint8_t zeros[ALLOCATE_SEED];
	static const uint8_t entropy[16] = { 0xab, 0xcd };
	uint8_t mixed[ALLOCATE_SEED];
	int64_t amounts[30];

	open_with("a", &thirty);
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta entropy "
				     "abcd0000000000000000000000000000");
	plan_mix(zeros, entropy, sizeof(entropy), mixed);
	allocate(mixed, &thirty, amounts);
	for (int i = 0; i < 10; i++) {
		char user[16];

		user_name(i, user);
		expect_amount(i % 2, user, amounts[i]);
	}
}

static void write_seed(const char *hex, bool and_commitment)
{
	uint8_t seed[ALLOCATE_SEED];
	char commitment[PLAN_COMMITMENT];
	const char *plan;

	cr_assert_eq(hex_decode(hex, strlen(hex), seed, sizeof(seed)), 0);
	plan = lua_meta(&rig.redis, "a", "plan");
	plan_commit(seed, bytes_str(plan), commitment);
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta seed %s", hex);
	if (and_commitment) {
		redis_server_ask(&rig.redis, "HSET rain:{a}:meta commitment %s",
				 commitment);
	}
}

#define ONES                               \
	"11111111111111111111111111111111" \
	"11111111111111111111111111111111"

/* An activity that was thrown away is made again with another seed. */
Test(grab_live, a_seed_of_before_is_not_drawn_from)
{
	static const uint8_t zeros[ALLOCATE_SEED];
	uint8_t ones[ALLOCATE_SEED];
	int64_t amounts[30];

	open_with("a", &thirty);
	allocate(zeros, &thirty, amounts);
	expect_amount(0, "u", amounts[0]);
	redis_server_ask(&rig.redis, "FLUSHALL");
	open_with("a", &thirty);
	write_seed(ONES, true);
	memset(ones, 0x11, sizeof(ones));
	allocate(ones, &thirty, amounts);
	expect_amount(0, "u", amounts[0]);
	expect_amount(1, "v", amounts[1]);
}

/* Nobody has read it before, so nobody could tell a packet of it from another:
 * it is not that of the commitment. */
Test(grab_live, a_seed_that_was_edited_is_not_drawn_from)
{
	static const uint8_t zeros[ALLOCATE_SEED];
	int64_t amounts[30];
	struct rig_got got;

	open_with("a", &thirty);
	allocate(zeros, &thirty, amounts);
	expect_amount(0, "u", amounts[0]);
	write_seed(ONES, false);
	/* Who knows it goes on with it. */
	expect_amount(0, "v", amounts[1]);
	rig_grab(&rig, 1, "a", "w", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "reason"),
			 "the seed in Redis is not that of the commitment");
	cr_assert_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"),
			 "2");
}
