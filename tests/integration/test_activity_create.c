/* ActivityService.create: what it refuses, and what it leaves in Redis. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rand.h"
#include "lib/activity_rig.h"
#include "lib/turns.h"
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

TestSuite(activity_create, .init = start, .fini = stop);

static const char *meta(const char *field)
{
	return redis_server_ask(&g.server, "HGET rain:{quiz}:meta %s", field);
}

Test(activity_create, an_activity_is_listed_committed_and_announced)
{
	Rain__Plan m = activity_plan("quiz", 20);
	uint8_t seed[ALLOCATE_SEED];
	char commitment[PLAN_COMMITMENT], why[PLAN_WHY];
	const char *hex;
	struct plan p;

	m.end_ms = clock_wall_ms() + 60000;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	cr_assert_eq(g.activity->state, RAIN__STATE__CREATED);
	cr_assert_eq(g.activity->revision, 1);
	cr_assert_eq(g.activity->plan->packets, 20);
	cr_assert_eq(g.activity->plan->end_ms, m.end_ms);
	cr_assert_str_eq(activity_text(g.activity->plan->title),
			 "Quiz \"night\"");
	cr_assert_eq(g.activity->leftover_cents, -1);
	cr_assert_eq(g.activity->seed.len, 0, "the seed is a secret yet");
	cr_assert_eq(strlen(activity_text(g.activity->id_base)), 19);
	cr_assert_eq(g.changed, 1);
	cr_assert_str_eq(g.changed_id, "quiz");
	cr_assert_str_eq(
		redis_server_ask(&g.server, "SMEMBERS rain:activities"),
		"quiz");
	cr_assert(plan_read(&m, &p, why), "%s", why);
	hex = meta("seed");
	cr_assert_eq(hex_decode(hex, strlen(hex), seed, sizeof(seed)), 0);
	plan_commitment(seed, &p, commitment);
	cr_assert_str_eq(activity_text(g.activity->commitment), commitment);
}

Test(activity_create, an_equal_plan_creates_once)
{
	Rain__Plan m = activity_plan("quiz", 20);
	char *seed;

	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE);
	seed = strdup(meta("seed"));
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__ALREADY, "%s", g.message);
	cr_assert_eq(g.activity->revision, 1);
	cr_assert_str_eq(meta("seed"), seed);
	free(seed);
	m.packets = 21;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
	cr_assert_eq(g.activity->plan->packets, 20);
	cr_assert_str_eq(redis_server_ask(&g.server, "LLEN rain:{quiz}:events"),
			 "1");
}

Test(activity_create, a_plan_that_cannot_be_says_why)
{
	Rain__Plan m = activity_plan("quiz", 20);

	m.min_cents = 101;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID);
	cr_assert(strstr(g.message,
			 "at least 1.01 need more than the total of 20.00") !=
			  NULL,
		  "%s", g.message);
	cr_assert_null(g.activity);
	m = activity_plan("quiz", 20);
	m.end_ms = clock_wall_ms();
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID);
	cr_assert(strstr(g.message, "is past") != NULL, "%s", g.message);
	m = activity_plan("", 20);
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID);
	cr_assert_str_eq(redis_server_ask(&g.server, "DBSIZE"), "0");
	cr_assert_eq(g.changed, 0);
}

Test(activity_create, no_message_is_a_bad_request)
{
	Rain__CreateRequest none = RAIN__CREATE_REQUEST__INIT;
	Rain__Plan text = RAIN__PLAN__INIT;
	struct activity_call c;

	activity_send(&g, &c, "create", "Lrain/CreateRequest;", &none.base,
		      &rain__activity_reply__descriptor);
	activity_wait(&g, &c);
	activity_take(&g, &c);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__INVALID);
	/* Field 1 as text where a message must be, and it is none. */
	text.activity_id = to_pb_str("\xff\xff\xff");
	activity_send(&g, &c, "create", "Lrain/CreateRequest;", &text.base,
		      &rain__activity_reply__descriptor);
	activity_wait(&g, &c);
	cr_assert_eq(c.kind, DUBBO_ERROR);
	activity_call_close(&c);
}

Test(activity_create, an_id_that_the_ledger_has_known_is_taken)
{
	Rain__Plan m = activity_plan("quiz", 20);

	g.ledger.known = true;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
	cr_assert_str_eq(redis_server_ask(&g.server, "DBSIZE"), "0");
}

Test(activity_create, without_the_ledger_nothing_is_created)
{
	Rain__Plan m = activity_plan("quiz", 20);

	g.ledger.away = true;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
		     g.message);
	cr_assert_str_eq(redis_server_ask(&g.server, "DBSIZE"), "0");
	g.ledger.away = false;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
	/* It exists: an equal plan need not ask. */
	g.ledger.away = true;
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__ALREADY, "%s", g.message);
}

Test(activity_create, lists_without_an_activity_take_the_id)
{
	Rain__Plan m = activity_plan("quiz", 20);

	redis_server_ask(&g.server, "LPUSH rain:{quiz}:packets x");
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__CONFLICT, "%s", g.message);
	cr_assert_null(g.activity);
	cr_assert_str_eq(redis_server_ask(&g.server, "EXISTS rain:{quiz}:meta"),
			 "0");
}

Test(activity_create, redis_that_refuses_says_so)
{
	Rain__Plan m = activity_plan("quiz", 20);

	redis_server_ask(&g.server, "ACL SETUSER default -lpush");
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
		     g.message);
	redis_server_ask(&g.server, "ACL SETUSER default +lpush -sadd");
	activity_create_plan(&g, &m);
	cr_assert_eq(g.outcome, RAIN__OUTCOME__UNAVAILABLE_NOW, "%s",
		     g.message);
	cr_assert(strstr(g.message, "NOPERM") != NULL, "%s", g.message);
	cr_assert_eq(g.changed, 0);
}
