/* Live activities: what is drawn while people grab is what the seed says. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "grab-service/claim.h"
#include "lib/grab_rig.h"
#include "lib/random_rule.h"
#include "plan/allocate.h"
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
