/* ActivityService.preload and open: every packet of the plan, once. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rand.h"
#include "grab-service/claim.h"
#include "lib/activity_rig.h"
#include "lib/lua_run.h"
#include "lib/turns.h"
#include "plan/allocate.h"
#include "proto/proto_util.h"

static struct activity_rig g;

/* How many packets are in the list. */
static long pushed_now(void)
{
	return strtol(redis_server_ask(&g.server, "LLEN rain:{quiz}:packets"),
		      NULL, 10);
}

static void start(void)
{
	activity_rig_open(&g, NULL);
}

static void stop(void)
{
	activity_rig_close(&g);
}

TestSuite(activity_load, .init = start, .fini = stop);

static void create(const char *id, uint64_t packets)
{
	Rain__Plan m = activity_plan(id, packets);

	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

static void load(const char *id, uint64_t packets)
{
	create(id, packets);
	activity_ask(&g, "preload", id);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

Test(activity_load, the_list_is_the_plan)
{
	int64_t sum = 0;
	unsigned long long base;

	load("quiz", 1234);
	cr_assert_eq(g.activity->state, RAIN__STATE__LOADED);
	cr_assert_eq(g.activity->loaded, 1234);
	cr_assert_eq(g.activity->tranches, 1);
	cr_assert_eq(g.activity->revision, 3);
	base = strtoull(activity_text(g.activity->id_base), NULL, 10);
	for (unsigned i = 0; i < 1234; i++) {
		const char *text = redis_server_ask(
			&g.server, "LINDEX rain:{quiz}:packets -%d", i + 1);
		struct packet p;
		const char *why;
		char id[24];

		cr_assert(packet_parse(bytes_str(text), &p, &why), "%s", text);
		(void)snprintf(id, sizeof(id), "%llu", base + i);
		cr_assert(bytes_eq(p.red_packet_id, bytes_str(id)), "%s", text);
		sum += p.amount_cents;
	}
	cr_assert_eq(sum, 123400);
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__ALREADY);
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__OPEN);
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__ALREADY);
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
}

Test(activity_load, what_is_not_there_or_not_loaded)
{
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__NOT_FOUND);
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__NOT_FOUND);
	create("quiz", 3);
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT);
	cr_assert(strstr(g.message, "CREATED") != NULL, "%s", g.message);
	activity_ask(&g, "open", "not an id");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID);
}

/* The service vanishes in the middle; another one goes on from the list. */
Test(activity_load, a_crash_is_gone_on_from)
{
	struct activity_call c;
	long half;

	create("quiz", 5000);
	activity_rig_replace(&g, 10);
	activity_send_id(&g, &c, "preload", "quiz");
	RUN_UNTIL(&g.loop, pushed_now() >= 50);
	activity_rig_replace(&g, 500);
	cr_assert(c.done);
	half = pushed_now();
	cr_assert(half >= 50 && half < 5000, "%ld", half);
	activity_ask(&g, "get", "quiz");
	cr_assert_eq(g.activity->state, RAIN__STATE__LOADING);
	cr_assert(g.activity->loaded >= 50);
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->loaded, 5000);
	/* Each packet once and in its place: open compares them all. */
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

Test(activity_load, who_asks_meanwhile_waits_for_the_same)
{
	struct activity_call calls[5], opens;

	create("quiz", 3000);
	for (int i = 0; i < 5; i++) {
		activity_send_id(&g, &calls[i], "preload", "quiz");
	}
	activity_send_id(&g, &opens, "open", "quiz");
	for (int i = 0; i < 5; i++) {
		activity_wait(&g, &calls[i]);
		activity_take(&g, &calls[i]);
		cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	}
	activity_wait(&g, &opens);
	activity_take(&g, &opens);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT);
	cr_assert_str_eq(g.message, "it is being loaded right now");
	activity_ask(&g, "get", "quiz");
	cr_assert_eq(g.activity->loaded, 3000);
}

/* What the plan of quiz is, read as anybody could who may see the seed. */
struct known {
	uint64_t base;
	int64_t amounts[2000];
};

static void learn(struct known *k)
{
	const struct allocate_rule rule = { .total_cents = 200000,
					    .count = 2000,
					    .min_cents = 1 };
	uint8_t seed[ALLOCATE_SEED];
	const char *hex =
		redis_server_ask(&g.server, "HGET rain:{quiz}:meta seed");

	cr_assert_eq(hex_decode(hex, strlen(hex), seed, sizeof(seed)), 0);
	allocate(seed, &rule, k->amounts);
	k->base = strtoull(
		redis_server_ask(&g.server, "HGET rain:{quiz}:meta id_base"),
		NULL, 10);
}

/* Push the next packets, at most 7, as another process would. */
static void push_some(const struct known *k, unsigned n)
{
	unsigned offset = (unsigned)pushed_now();
	char texts[7][PACKET_TEXT_MAX], id[24], number[24];
	const char *args[9] = { number };

	(void)snprintf(number, sizeof(number), "%u", offset);
	for (unsigned i = 0; i < n; i++) {
		struct packet p = { .amount_cents = k->amounts[offset + i] };

		(void)snprintf(id, sizeof(id), "%" PRIu64,
			       k->base + offset + i);
		p.red_packet_id = bytes_str(id);
		(void)packet_format(&p, texts[i]);
		args[i + 1] = texts[i];
	}
	if (n > 0) {
		lua_run(&g.server, &lua_preload, "quiz", args);
		cr_assert_str_eq(reply.at[1], "OK");
	}
}

/* False at the end. */
static bool push_seven(const struct known *k)
{
	if (pushed_now() + 7 > 2000) {
		return false;
	}
	push_some(k, 7);
	return true;
}

/* Two processes push the same plan at once: the offsets keep it one list. */
Test(activity_load, another_process_loads_the_same)
{
	static struct known k;
	struct activity_call c;
	int pushed = 0;

	create("quiz", 2000);
	learn(&k);
	activity_rig_replace(&g, 100);
	activity_send_id(&g, &c, "preload", "quiz");
	RUN_UNTIL(&g.loop, pushed_now() >= 100);
	while (pushed < 20 && push_seven(&k)) {
		pushed++;
		uv_run(&g.loop, UV_RUN_NOWAIT);
	}
	cr_assert(pushed > 0);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

static void refused(const char *said)
{
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%d: %s", g.outcome,
		     g.message);
	cr_assert(strstr(g.message, said) != NULL, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__LOADED);
}

Test(activity_load, open_names_the_first_element_that_is_wrong)
{
	char *third, *fifth;

	load("quiz", 2000);
	third = strdup(
		redis_server_ask(&g.server, "LINDEX rain:{quiz}:packets -3"));
	fifth = strdup(
		redis_server_ask(&g.server, "LINDEX rain:{quiz}:packets -5"));
	redis_server_ask(&g.server, "LSET rain:{quiz}:packets -3 %s", "junk");
	redis_server_ask(&g.server, "LSET rain:{quiz}:packets -9 %s", "junk");
	refused("packet 3 in Redis is no packet");
	redis_server_ask(&g.server, "LSET rain:{quiz}:packets -3 %s",
			 "{\"redPacketId\":\"1\",\"amount\":\"99999.00\"}");
	refused("packet 3 in Redis has 99999.00, and ");
	/* The same packet twice. */
	redis_server_ask(&g.server, "LSET rain:{quiz}:packets -3 %s", fifth);
	refused("packet 3 in Redis ");
	redis_server_ask(&g.server, "LSET rain:{quiz}:packets -3 %s", third);
	refused("packet 9 in Redis is no packet");
	free(third);
	free(fifth);
}

Test(activity_load, open_refuses_a_packet_too_few_or_too_many)
{
	char *first;

	load("quiz", 1500);
	first = strdup(
		redis_server_ask(&g.server, "LINDEX rain:{quiz}:packets 0"));
	redis_server_ask(&g.server, "LPUSH rain:{quiz}:packets %s", first);
	refused("packets 1501");
	redis_server_ask(&g.server, "LTRIM rain:{quiz}:packets 2 -1");
	refused("there are 1499 packets in Redis, and 1500 in the plan");
	redis_server_ask(&g.server, "LPUSH rain:{quiz}:packets %s", first);
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	free(first);
}

Test(activity_load, open_refuses_two_packets_that_changed_places)
{
	char *first, *second;

	load("quiz", 10);
	first = strdup(
		redis_server_ask(&g.server, "LINDEX rain:{quiz}:packets -1"));
	second = strdup(
		redis_server_ask(&g.server, "LINDEX rain:{quiz}:packets -2"));
	redis_server_ask(&g.server, "LSET rain:{quiz}:packets -1 %s", second);
	redis_server_ask(&g.server, "LSET rain:{quiz}:packets -2 %s", first);
	refused("packet 1 in Redis ");
	free(first);
	free(second);
}

Test(activity_load, a_seed_that_is_not_that_of_the_commitment)
{
	create("quiz", 10);
	redis_server_ask(&g.server, "HSET rain:{quiz}:meta seed %s",
			 "00112233445566778899aabbccddeeff"
			 "00112233445566778899aabbccddeeff");
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT);
	cr_assert(strstr(g.message, "commitment") != NULL, "%s", g.message);
}

Test(activity_load, a_full_redis_stops_a_preload_that_can_go_on)
{
	struct activity_call c;

	create("quiz", 2000);
	activity_rig_replace(&g, 10);
	activity_send_id(&g, &c, "preload", "quiz");
	RUN_UNTIL(&g.loop, pushed_now() >= 50);
	redis_server_ask(&g.server, "CONFIG SET maxmemory 1");
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
		     g.message);
	cr_assert(strstr(g.message, "OOM") != NULL, "%s", g.message);
	redis_server_ask(&g.server, "CONFIG SET maxmemory 0");
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}

/* F17: what a plan needs is known before the rain. */
Test(activity_load, a_plan_that_does_not_fit_is_not_begun)
{
	Rain__Plan big = activity_plan("big", 1000000);
	char limit[64];

	create("quiz", 100000);
	(void)snprintf(
		limit, sizeof(limit), "CONFIG SET maxmemory %lld",
		redis_server_info(&g.server, "memory", "used_memory", NULL) +
			30000000);
	redis_server_ask(&g.server, limit);
	activity_create_plan(&g, &big);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
		     g.message);
	cr_assert(strstr(g.message, "when all is grabbed it takes 382 MiB") !=
			  NULL,
		  "%s", g.message);
	cr_assert_str_eq(redis_server_ask(&g.server, "EXISTS rain:{big}:meta"),
			 "0");
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
		     g.message);
	cr_assert_eq(pushed_now(), 0);
	redis_server_ask(&g.server, "CONFIG SET maxmemory 0");
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	/* What is loaded need not be found again. */
	activity_ask(&g, "preload", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__ALREADY);
}

Test(activity_load, a_service_that_stops_leaves_it_to_the_next)
{
	struct activity_call c;

	create("quiz", 5000);
	activity_rig_replace(&g, 10);
	activity_send_id(&g, &c, "preload", "quiz");
	RUN_UNTIL(&g.loop, pushed_now() >= 50);
	activity_service_stop(g.service);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW);
	cr_assert(strstr(g.message, "stopping") != NULL, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__LOADING);
}

/* Somebody else was faster: the list is whole, whoever has pushed it. */
Test(activity_load, another_process_loads_it_to_the_end)
{
	static struct known k;
	struct activity_call c;
	const char *last[4] = { "loaded", "", "200000" };

	create("quiz", 2000);
	learn(&k);
	activity_rig_replace(&g, 10);
	activity_send_id(&g, &c, "preload", "quiz");
	RUN_UNTIL(&g.loop, pushed_now() >= 10);
	while (push_seven(&k)) {
	}
	push_some(&k, 2000 - (unsigned)pushed_now());
	lua_run(&g.server, &lua_activity, "quiz", last);
	cr_assert_str_eq(reply.at[1], "OK");
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_str_eq(g.message, "all 2000 packets are in Redis");
	activity_ask(&g, "open", "quiz");
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
}
