/* ActivityService with a list that another program has pushed: it is adopted as
 * it lies there, or it is said which element is wrong. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "lib/activity_rig.h"
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

TestSuite(activity_adopt, .init = start, .fini = stop);

static void told(Rain__Outcome outcome, const char *said)
{
	cr_assert_eq(g.outcome, outcome, "%d: %s", (int)g.outcome, g.message);
	cr_assert(strstr(g.message, said) != NULL, "%s", g.message);
}

/* Create quiz with the list that is there or will be: 1.00 on average. */
static void adopt(uint64_t packets)
{
	Rain__Plan m = activity_plan("quiz", packets);

	m.algorithm = to_pb_str("adopted");
	m.max_cents = 5000;
	activity_create_plan(&g, &m);
}

static void ask(const char *operation, Rain__Outcome outcome, const char *said)
{
	activity_ask(&g, operation, "quiz");
	told(outcome, said);
}

#define redis(...) redis_server_ask(&g.server, __VA_ARGS__)

/* As a console would: the packet that is taken first is pushed first. */
static void push(const char *id, const char *amount)
{
	char text[128];

	(void)snprintf(text, sizeof(text),
		       "{\"redPacketId\":\"%s\",\"amount\":\"%s\"}", id,
		       amount);
	redis("LPUSH rain:{quiz}:packets %s", text);
}

/* Packets n0 to n(count - 1) of 1.00. */
static void push_many(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		char id[16];

		(void)snprintf(id, sizeof(id), "n%u", i);
		push(id, "1.00");
	}
}

/* The digest is sha256sum's, over the lines in the order of the grabs. */
Test(activity_adopt, a_list_is_taken_as_it_lies_there)
{
	push("365628617880842241", "2.21");
	push("b", "0.5");
	push("a:1", "0.29");
	adopt(3);
	told(RAIN__OUTCOME__DONE, "");
	cr_assert_str_eq(activity_text(g.activity->plan->algorithm), "adopted");
	ask("preload", RAIN__OUTCOME__DONE, "all 3 packets are in Redis");
	cr_assert_eq(g.activity->state, RAIN__STATE__LOADED);
	cr_assert_eq(g.activity->loaded, 3);
	cr_assert_str_eq(redis("HGET rain:{quiz}:meta list"), "(nil)");
	ask("preload", RAIN__OUTCOME__ALREADY, "");
	ask("open", RAIN__OUTCOME__DONE, "all 3 packets were checked");
	cr_assert_eq(g.activity->state, RAIN__STATE__OPEN);
	cr_assert_str_eq(
		activity_text(g.activity->list),
		"4b4a152f9eb3e438efbc76e7839c7edb12c3bde7bf8f558d12696289538444c9");
	cr_assert_str_eq(redis("LINDEX rain:{quiz}:packets -1"),
			 "{\"redPacketId\":\"365628617880842241\","
			 "\"amount\":\"2.21\"}");
	cr_assert_str_eq(redis("LINDEX rain:{quiz}:packets 0"),
			 "{\"redPacketId\":\"a:1\",\"amount\":\"0.29\"}");
	cr_assert_str_eq(redis("LLEN rain:{quiz}:packets"), "3");
	ask("open", RAIN__OUTCOME__ALREADY, "");
}

Test(activity_adopt, a_list_may_come_after_its_plan_and_bit_by_bit)
{
	adopt(2500);
	told(RAIN__OUTCOME__DONE, "");
	ask("preload", RAIN__OUTCOME__CONFLICT,
	    "there are 0 packets in Redis, and 2500 in the plan");
	push_many(2500);
	push("more", "1.00");
	ask("preload", RAIN__OUTCOME__CONFLICT,
	    "there are 2501 packets in Redis, and 2500 in the plan");
	redis("LPOP rain:{quiz}:packets");
	ask("preload", RAIN__OUTCOME__DONE, "");
	ask("open", RAIN__OUTCOME__DONE, "all 2500 packets were checked");
}

Test(activity_adopt, only_a_plan_that_says_so_takes_a_list)
{
	Rain__Plan m = activity_plan("quiz", 1);

	push("a", "1.00");
	activity_create_plan(&g, &m);
	told(RAIN__OUTCOME__CONFLICT, "rain:{quiz}:packets exists");
	cr_assert_str_eq(redis("EXISTS rain:{quiz}:meta"), "0");
	redis("DEL rain:{quiz}:packets");
	redis("SADD rain:{quiz}:packets x");
	adopt(1);
	told(RAIN__OUTCOME__CONFLICT, "rain:{quiz}:packets exists");
	redis("DEL rain:{quiz}:packets");
	redis("HSET rain:{quiz}:users u x");
	adopt(1);
	told(RAIN__OUTCOME__CONFLICT, "rain:{quiz}:users exists");
}

Test(activity_adopt, a_number_from_outside_would_mix_nothing)
{
	Rain__EntropyRequest m = RAIN__ENTROPY_REQUEST__INIT;
	struct activity_call c;

	adopt(3);
	m.activity_id = to_pb_str("quiz");
	m.entropy = to_pb_str("00112233445566778899aabbccddeeff");
	m.by = to_pb_str("me");
	activity_send(&g, &c, "entropy", "Lrain/EntropyRequest;", &m.base,
		      &rain__activity_reply__descriptor);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	told(RAIN__OUTCOME__CONFLICT,
	     "it has packets that are not made of a seed");
}

/* Put text at the place, see what open says, and put back what lay there. */
static void wrong(unsigned place, const char *text, const char *said)
{
	char before[128];

	(void)snprintf(before, sizeof(before), "%s",
		       redis("LINDEX rain:{quiz}:packets -%u", place));
	redis("LSET rain:{quiz}:packets -%u %s", place, text);
	ask("open", RAIN__OUTCOME__CONFLICT, said);
	cr_assert_eq(g.activity->state, RAIN__STATE__LOADED);
	redis("LSET rain:{quiz}:packets -%u %s", place, before);
}

Test(activity_adopt, open_names_the_element_that_is_wrong)
{
	push_many(2500);
	adopt(2500);
	ask("preload", RAIN__OUTCOME__DONE, "");
	wrong(17, "junk",
	      "packet 17 in Redis is no packet: does not begin with the id");
	wrong(2017, "{\"redPacketId\":\"n2016\",\"amount\":\"0.00\"}",
	      "packet 2017 in Redis is no packet: the amount is not 0.01 or "
	      "more");
	wrong(2500, "{\"redPacketId\":\"n2499\",\"amount\":\"50.01\"}",
	      "packet 2500 in Redis has 50.01, which is out of the plan's "
	      "bounds");
	wrong(1, "{\"redPacketId\":\"\",\"amount\":\"1.00\"}",
	      "packet 1 in Redis is no packet: the id is not 1 to 64");
	wrong(9, "{\"redPacketId\":\"n2\",\"amount\":\"1.00\"}",
	      "packets 3 and 9 in Redis have the same id n2");
	wrong(2, "{\"redPacketId\":\"n2400\",\"amount\":\"1.00\"}",
	      "packets 2 and 2401 in Redis have the same id n2400");
	wrong(1000, "{\"redPacketId\":\"n999\",\"amount\":\"0.99\"}",
	      "the packets in Redis hold 2499.99, 2500.00 in the plan");
	ask("open", RAIN__OUTCOME__DONE, "all 2500 packets were checked");
}

Test(activity_adopt, what_was_loaded_and_changed_its_length_is_not_opened)
{
	push_many(3);
	adopt(3);
	ask("preload", RAIN__OUTCOME__DONE, "");
	push("more", "1.00");
	ask("open", RAIN__OUTCOME__CONFLICT, "packets 4");
	redis("LTRIM rain:{quiz}:packets 2 -1");
	ask("open", RAIN__OUTCOME__CONFLICT,
	    "there are 2 packets in Redis, and 3 in the plan");
	ask("cancel", RAIN__OUTCOME__DONE, "");
}
