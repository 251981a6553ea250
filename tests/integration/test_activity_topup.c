/* ActivityService.topUp: announced, funded, loaded; and whatever stops it is
 * gone on from. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"
#include "grab-service/claim.h"
#include "lib/activity_rig.h"
#include "lib/lua_run.h"
#include "lib/turns.h"
#include "plan/tranche.h"
#include "proto/proto_util.h"

#define LATER    "99999999999999"
#define SOLD_OUT "3"

static struct activity_rig g;

/* 10 packets, OPEN, and funded as far as the tests say. */
static void start(void)
{
	Rain__Plan m = activity_plan("quiz", 10);

	activity_rig_open(&g, NULL);
	activity_create_plan(&g, &m);
	activity_ask(&g, "preload", "quiz");
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	g.ledger.known = true;
}

static void stop(void)
{
	activity_rig_close(&g);
}

TestSuite(activity_topup, .init = start, .fini = stop);

/* So many packets of 1.00 each. */
static void fund(uint64_t packets)
{
	g.ledger.funded_packets = packets;
	g.ledger.funded_cents = (int64_t)packets * 100;
}

static void send_topup(struct activity_call *c, uint32_t tranche,
		       uint64_t packets)
{
	Rain__TopUpRequest m = RAIN__TOP_UP_REQUEST__INIT;
	Rain__Plan plan = activity_plan("", packets);

	m.activity_id = to_pb_str("quiz");
	m.plan = &plan;
	m.tranche = tranche;
	activity_send(&g, c, "topUp", "Lrain/TopUpRequest;", &m.base,
		      &rain__activity_reply__descriptor);
}

static void told(Rain__Outcome outcome, const char *part)
{
	cr_assert_eq(g.outcome, outcome, "%d: %s", (int)g.outcome, g.message);
	cr_assert(strstr(g.message, part) != NULL, "%s", g.message);
}

static void topup(uint32_t tranche, uint64_t packets)
{
	struct activity_call c;

	send_topup(&c, tranche, packets);
	activity_wait(&g, &c);
	activity_take(&g, &c);
}

static uint64_t packets_now(void)
{
	return strtoull(
		redis_server_ask(&g.server, "HGET rain:{quiz}:meta packets"),
		NULL, 10);
}

static const char *grab(const char *user)
{
	RUN(&g.server, &lua_grab, "quiz", "", user, LATER);
	cr_assert_str_eq(reply.at[1], "OK", "%s", reply.at[1]);
	return reply.at[9];
}

/* What anybody can recompute who reads the page about fairness. */
static void expect_packets(uint32_t number, uint64_t first, uint64_t count)
{
	const struct allocate_rule rule = { .total_cents = (int64_t)count * 100,
					    .count = count,
					    .min_cents = 1 };
	int64_t *amounts = xcalloc(count, sizeof(*amounts));
	uint8_t seed[ALLOCATE_SEED];
	uint64_t base;
	const char *hex = redis_server_ask(
		&g.server, "HGET rain:{quiz}:meta t%u_seed", number);

	cr_assert_eq(hex_decode(hex, strlen(hex), seed, sizeof(seed)), 0);
	allocate(seed, &rule, amounts);
	base = strtoull(redis_server_ask(&g.server,
					 "HGET rain:{quiz}:meta t%u_id_base",
					 number),
			NULL, 10);
	for (unsigned i = 0; i < count; i++) {
		const char *text = redis_server_ask(
			&g.server, "LINDEX rain:{quiz}:packets -%u",
			(unsigned)first + i + 1);
		struct packet p;
		const char *why;
		char id[24];

		cr_assert(packet_parse(bytes_str(text), &p, &why), "%s", text);
		(void)snprintf(id, sizeof(id), "%" PRIu64, base + i);
		cr_assert(bytes_eq(p.red_packet_id, bytes_str(id)), "%s", text);
		cr_assert_eq(p.amount_cents, amounts[i]);
	}
	free(amounts);
}

Test(activity_topup, the_list_is_both_tranches)
{
	const Rain__Tranche *t;

	fund(1210);
	topup(2, 1200);
	told(RAIN__OUTCOME__DONE, "tranche 2 is there: 1200 packets, 1200.00");
	cr_assert_eq(g.activity->state, RAIN__STATE__OPEN);
	cr_assert_eq(g.activity->tranches, 2);
	cr_assert_eq(g.activity->loaded, 1210);
	cr_assert_eq(g.activity->plan->packets, 10, "the plan stays");
	cr_assert_eq(g.activity->unloaded_cents, 0);
	cr_assert_eq(g.activity->n_topups, 1);
	t = g.activity->topups[0];
	cr_assert_eq(t->number, 2);
	cr_assert_eq(t->total_cents, 120000);
	cr_assert_eq(t->packets, 1200);
	cr_assert_eq(t->loaded, 1200);
	cr_assert_eq(t->commitment.len, 64);
	cr_assert_eq(t->seed.len, 0, "not before it is closed");
	expect_packets(2, 10, 1200);
	topup(2, 1200);
	told(RAIN__OUTCOME__ALREADY, "tranche 2 is there already");
	topup(2, 1201);
	told(RAIN__OUTCOME__CONFLICT, "tranche 2 is another one: its total is "
				      "1200.00 there and 1201.00 here");
	fund(1215);
	topup(3, 5);
	told(RAIN__OUTCOME__DONE, "tranche 3 is there");
	expect_packets(3, 1210, 5);
	activity_ask(&g, "close", "quiz");
	told(RAIN__OUTCOME__DONE, "");
	cr_assert_eq(g.activity->n_topups, 2);
	cr_assert_eq(g.activity->topups[1]->seed.len, 64);
	topup(3, 5);
	told(RAIN__OUTCOME__ALREADY, "");
	topup(4, 5);
	told(RAIN__OUTCOME__CONFLICT,
	     "topup is not possible in state CLOSED: it is over");
}

/* Nobody gets a packet whose money is not there. */
Test(activity_topup, nothing_is_loaded_before_it_is_funded)
{
	struct activity_call c;

	fund(10);
	g.changed = 0;
	send_topup(&c, 2, 5);
	RUN_UNTIL(&g.loop, g.ledger.totals_asked >= 4);
	cr_assert_not(c.done);
	cr_assert_eq(g.changed, 1, "the relay is told to publish it");
	cr_assert_eq(packets_now(), 10);
	/* Its cents only, or its packets only, are another tranche. */
	g.ledger.funded_cents = 1500;
	RUN_UNTIL(&g.loop, g.ledger.totals_asked >= 6);
	cr_assert_eq(packets_now(), 10);
	fund(15);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	told(RAIN__OUTCOME__DONE, "tranche 2 is there");
	cr_assert_eq(packets_now(), 15);
}

Test(activity_topup, not_funded_in_time_it_is_asked_for_again)
{
	fund(10);
	g.call_ms = 1000;
	topup(2, 5);
	told(RAIN__OUTCOME__UNAVAILABLE_NOW,
	     "tranche 2 is announced, not funded yet (the ledger has 10.00 of "
	     "15.00): ask again");
	cr_assert_eq(g.activity->tranches, 1);
	cr_assert_eq(g.activity->unloaded_cents, 500);
	cr_assert_eq(g.activity->topups[0]->loaded, 0);
	topup(3, 5);
	told(RAIN__OUTCOME__CONFLICT, "it has tranche 2 still to load");
	g.ledger.away = true;
	topup(2, 5);
	told(RAIN__OUTCOME__UNAVAILABLE_NOW, "the ledger does not answer");
	g.ledger.away = false;
	g.call_ms = 9000;
	fund(15);
	topup(2, 5);
	told(RAIN__OUTCOME__DONE, "tranche 2 is there");
	cr_assert_str_eq(redis_server_ask(&g.server, "LLEN rain:{quiz}:events"),
			 "4", "announced once");
}

/* A crowd was told that all is gone: the grab after the first chunk wins. */
Test(activity_topup, sold_out_ends_with_the_first_chunk)
{
	struct activity_call c;
	char user[16];
	bool there, won;

	for (int i = 0; i < 10; i++) {
		(void)snprintf(user, sizeof(user), "u%d", i);
		cr_assert_str_eq(grab(user), "1");
	}
	fund(2010);
	activity_rig_replace(&g, 10);
	send_topup(&c, 2, 2000);
	do {
		there = packets_now() > 10;
		won = strcmp(grab("late"), SOLD_OUT) != 0;
		cr_assert(won || !there, "%s", reply.at[9]);
		uv_run(&g.loop, UV_RUN_NOWAIT);
	} while (!won);
	cr_assert_str_eq(reply.at[9], "1");
	cr_assert(strstr(reply.at[10], "\"tranche\":2}") != NULL);
	cr_assert_not(c.done, "while most of it is still to be loaded");
	activity_wait(&g, &c);
	activity_take(&g, &c);
	told(RAIN__OUTCOME__DONE, "tranche 2 is there");
	cr_assert_eq(packets_now(), 2010);
	EXPECT("OK", &g.server, &lua_relay_read, "quiz", "-1", "0", "-1", "0");
}

static void begin_and_crash(void)
{
	struct activity_call c;

	fund(5010);
	activity_rig_replace(&g, 10);
	send_topup(&c, 2, 5000);
	RUN_UNTIL(&g.loop, packets_now() >= 60);
	activity_rig_replace(&g, 500);
	cr_assert(c.done);
	cr_assert(packets_now() < 5010);
	activity_call_close(&c);
}

Test(activity_topup, a_crash_is_gone_on_from)
{
	begin_and_crash();
	cr_assert_str_eq(grab("u"), "1");
	topup(2, 4999);
	told(RAIN__OUTCOME__CONFLICT, "its total is 5000.00 there");
	activity_ask(&g, "close", "quiz");
	told(RAIN__OUTCOME__CONFLICT, "tranche 2 is half loaded: ask for the "
				      "same top-up again, then close it");
	activity_ask(&g, "pause", "quiz");
	topup(2, 5000);
	told(RAIN__OUTCOME__DONE, "tranche 2 is there");
	cr_assert_eq(g.activity->state, RAIN__STATE__STATE_PAUSED);
	cr_assert_eq(packets_now(), 5010);
	activity_ask(&g, "close", "quiz");
	told(RAIN__OUTCOME__DONE, "");
	cr_assert_eq(g.activity->final_left, 5009);
	cr_assert_eq(g.activity->unloaded_cents, 0);
}

Test(activity_topup, halted_in_the_middle_it_can_be_closed)
{
	begin_and_crash();
	EXPECT("OK", &g.server, &lua_activity, "quiz", "halt", "", "evidence",
	       "seen");
	topup(2, 5000);
	told(RAIN__OUTCOME__CONFLICT, "topup is not possible in state HALTED");
	activity_ask(&g, "close", "quiz");
	told(RAIN__OUTCOME__DONE, "");
	cr_assert(g.activity->unloaded_cents > 0);
	topup(2, 5000);
	told(RAIN__OUTCOME__CONFLICT, "topup is not possible in state CLOSED");
}

Test(activity_topup, who_asks_for_the_same_waits_and_for_another_is_refused)
{
	struct activity_call first, second, other;

	fund(10);
	send_topup(&first, 2, 5);
	RUN_UNTIL(&g.loop, g.ledger.totals_asked >= 2);
	send_topup(&second, 2, 5);
	send_topup(&other, 2, 6);
	activity_wait(&g, &other);
	activity_take(&g, &other);
	told(RAIN__OUTCOME__CONFLICT,
	     "it is being topped up with another tranche right now");
	fund(15);
	activity_wait(&g, &first);
	activity_wait(&g, &second);
	activity_take(&g, &first);
	told(RAIN__OUTCOME__DONE, "tranche 2 is there");
	activity_take(&g, &second);
	told(RAIN__OUTCOME__DONE, "tranche 2 is there");
	cr_assert_eq(packets_now(), 15);
}

Test(activity_topup, requests_that_can_not_be)
{
	topup(1, 5);
	told(RAIN__OUTCOME__INVALID, "tranche is 1, 2 to 16 are allowed");
	topup(3, 5);
	told(RAIN__OUTCOME__CONFLICT,
	     "it has tranche 1, so the next one is 2, not 3");
	topup(2, 0);
	told(RAIN__OUTCOME__INVALID, "packets");
	topup(2, 9999999);
	told(RAIN__OUTCOME__CONFLICT,
	     "it has 10 packets, and with 9999999 more it would have over "
	     "10000000");
	cr_assert_eq(g.activity->n_topups, 0);
}

Test(activity_topup, a_seed_that_is_not_that_of_its_commitment)
{
	fund(10);
	g.call_ms = 1000;
	topup(2, 5);
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta t2_seed %s",
			 "00112233445566778899aabbccddeeff"
			 "00112233445566778899aabbccddeeff");
	fund(15);
	topup(2, 5);
	told(RAIN__OUTCOME__CONFLICT, "commitment");
	cr_assert_eq(packets_now(), 10);
}
