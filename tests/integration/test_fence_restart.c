/* After a restart of Redis nothing is taken until it is shown that nothing was
 * lost; then it goes on by itself, or is halted with the reason. Needs a
 * broker. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/metrics.h"
#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;

static void stop(void)
{
	rig_close(&rig);
}

static void start(void)
{
	rig_open(&rig);
}

TestSuite(fence_restart, .init = start, .fini = stop, .timeout = 90);

static bool live;

static void open_activity(void)
{
	if (live) {
		lua_open_live(&rig.redis, "a", 500, 100000, 1, 0);
	} else {
		lua_open(&rig.redis, "a", 500);
	}
	redis_server_ask(&rig.redis, "SADD rain:activities a");
}

/* n users grab on service i; all win, and their claims are published. */
static void win(int i, int from, int n)
{
	struct rig_got *got = calloc((size_t)n, sizeof *got);

	for (int k = 0; k < n; k++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", from + k);
		rig_grab(&rig, i, "a", user, &got[k]);
		cr_assert_eq(got[k].status, RAIN__STATUS__WON, "%d",
			     got[k].status);
	}
	free(got);
}

static void until_claims(int n)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", n);
	rig_until_relay(&rig, "a", "claims", text);
}

/* What a ledger knows that has applied it all. */
static void ledger_knows(uint64_t claims)
{
	rig.ledger.known = true;
	rig.ledger.passed = true;
	rig.ledger.max_seq = claims;
	rig.ledger.revision = 4;
}

/* Ask until there is a packet; meanwhile it is BUSY, or PENDING for a grab that
 * may have been under way when Redis went. */
static bool gets_packet(int i, const char *user)
{
	struct turns *turns = turns_start(&rig.loop, 15000);
	struct rig_got got;

	do {
		rig_grab(&rig, i, "a", user, &got);
	} while ((got.status == RAIN__STATUS__BUSY ||
		  got.status == RAIN__STATUS__PENDING) &&
		 !turns->late);
	turns_stop(turns);
	return got.status == RAIN__STATUS__WON ||
	       got.status == RAIN__STATUS__ALREADY_GRABBED;
}

Test(fence_restart, plain_restart_goes_on_by_itself)
{
	char before[128];

	open_activity();
	rig_service(&rig, 0, true, NULL);
	win(0, 0, 30);
	until_claims(30);
	ledger_knows(30);
	(void)snprintf(before, sizeof before, "%s",
		       lua_meta(&rig.redis, "a", "incarnation"));
	redis_server_restart(&rig.redis);
	cr_assert(gets_packet(0, "new"));
	cr_assert_str_neq(lua_meta(&rig.redis, "a", "incarnation"), before);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
	win(0, 100, 10);
	until_claims(41);
	/* And a winner of before has what was won. */
	cr_assert(gets_packet(0, "u7"));
}

static void kill_with_an_aof(void)
{
	open_activity();
	rig_service(&rig, 0, true, NULL);
	rig_service(&rig, 1, true, NULL);
	win(0, 0, 30);
	win(1, 30, 30);
	until_claims(60);
	ledger_knows(60);
	redis_server_kill(&rig.redis);
	redis_server_restart(&rig.redis);
	/* Both are witnesses, and both confirm: nobody's patience is tried. */
	cr_assert(gets_packet(1, "new"));
	cr_assert(gets_packet(0, "newer"));
	/* Compared with the plan, they are published. */
	until_claims(62);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
}

Test(fence_restart, killed_redis_with_an_aof_goes_on_by_itself)
{
	kill_with_an_aof();
}

Test(fence_restart, a_live_activity_goes_on_by_itself_too)
{
	live = true;
	kill_with_an_aof();
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "left"), "438");
}

Test(fence_restart, nothing_is_taken_before_the_ledger_has_passed_kafkas_end)
{
	struct rig_got got;
	int asked;

	open_activity();
	rig_service(&rig, 0, true, NULL);
	win(0, 0, 10);
	until_claims(10);
	ledger_knows(10);
	rig.ledger.passed = false;
	redis_server_restart(&rig.redis);
	asked = rig.ledger.positions_asked;
	RUN_UNTIL(&rig.loop, rig.ledger.positions_asked > asked + 2);
	rig_grab(&rig, 0, "a", "new", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	rig.ledger.passed = true;
	cr_assert(gets_packet(0, "new"));
}

Test(fence_restart, ledger_that_is_away_is_waited_for)
{
	struct rig_got got;
	int asked;

	open_activity();
	rig_service(&rig, 0, true, NULL);
	win(0, 0, 10);
	until_claims(10);
	ledger_knows(10);
	rig.ledger.away = true;
	redis_server_restart(&rig.redis);
	asked = rig.ledger.positions_asked;
	RUN_UNTIL(&rig.loop, rig.ledger.positions_asked > asked + 2);
	rig_grab(&rig, 0, "a", "new", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
	rig.ledger.away = false;
	cr_assert(gets_packet(0, "new"));
}

Test(fence_restart, ledger_that_knows_more_halts)
{
	open_activity();
	rig_service(&rig, 0, true, NULL);
	win(0, 0, 10);
	until_claims(10);
	ledger_knows(11);
	redis_server_restart(&rig.redis);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "the ledger knows 11 claims, here are 10") != NULL);
}

static void patient(struct grab_options *o)
{
	o->patience_ms = 600;
}

/* What /readyz shows of service 0. */
static const char *notes(void)
{
	static struct buf text;

	buf_close(&text);
	cr_assert(relay_ready(rig.services[0].env.relay, &text));
	buf_put_u8(&text, 0);
	return (const char *)buf_live(&text).p;
}

/* The number of activities that are fenced, as /metrics shows it. */
static long fenced(void)
{
	static const char name[] = "\nrain_fenced_activities ";
	struct buf page;
	const char *found;
	long n;

	buf_init(&page);
	metrics_render(&page);
	buf_put_u8(&page, 0);
	found = strstr((const char *)buf_live(&page).p, name);
	cr_assert_not_null(found);
	n = strtol(found + sizeof name - 1, NULL, 10);
	buf_close(&page);
	return n;
}

static void very_patient(struct grab_options *o)
{
	o->patience_ms = 25000;
}

/* Killed and started again, it is another witness: the first one's word will
 * not come, and whoever wonders why is told. */
Test(fence_restart, the_wait_for_a_dead_witness_is_seen)
{
	struct rig_got got;
	char witness[9];

	relay_metrics();
	open_activity();
	rig_service(&rig, 0, true, very_patient);
	win(0, 0, 10);
	until_claims(10);
	ledger_knows(10);
	(void)snprintf(witness, sizeof witness, "%s",
		       rig.services[0].env.witness);
	rig_kill(&rig, 0);
	rig_service(&rig, 0, true, very_patient);
	cr_assert_str_eq(notes(), "");
	cr_assert_eq(fenced(), 0);
	redis_server_restart(&rig.redis);
	RUN_UNTIL(&rig.loop,
		  strcmp(rig_relay(&rig, "a", "fence_since"), "(nil)") != 0);
	RUN_UNTIL(&rig.loop,
		  redis_ready(rig.services[0].env.redis) &&
			  strstr(notes(), "a: waits up to 25 s for "
					  "the grab-service ") != NULL);
	cr_assert_not_null(strstr(notes(), witness), "%s", notes());
	cr_assert_eq(fenced(), 1);
	rig_grab(&rig, 0, "a", "new", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	cr_assert_str_eq(got.message, "Redis was restarted, checking that "
				      "nothing was lost");
	/* Its patience is at its end. */
	redis_server_ask(&rig.redis,
			 "HINCRBY rain:{a}:relay fence_since -25000");
	cr_assert(gets_packet(0, "new"));
	cr_assert_str_eq(notes(), "");
	cr_assert_eq(fenced(), 0);
}

Test(fence_restart, witness_that_died_is_waited_for_in_vain)
{
	open_activity();
	rig_service(&rig, 0, true, patient);
	rig_service(&rig, 1, false, patient);
	win(0, 0, 10);
	win(1, 10, 10);
	until_claims(20);
	ledger_knows(20);
	rig_stop(&rig, 1);
	redis_server_restart(&rig.redis);
	RUN_UNTIL(&rig.loop,
		  strcmp(rig_relay(&rig, "a", "fence_since"), "(nil)") != 0);
	cr_assert(gets_packet(0, "new"));
}

static void start_forgetful(void)
{
	rig_open_forgetful(&rig);
}

TestSuite(fence_loss, .init = start_forgetful, .fini = stop, .timeout = 90);

/* Saved after `saved` claims, killed after `all`: a tail is gone. */
static void lose(int saved, int all)
{
	win(0, 0, saved);
	until_claims(saved);
	cr_assert_str_eq(redis_server_ask(&rig.redis, "SAVE"), "OK");
	win(0, saved, all - saved);
	until_claims(all);
	redis_server_kill(&rig.redis);
	redis_server_restart(&rig.redis);
}

static void lose_the_tail(void)
{
	struct rig_got got;

	open_activity();
	rig_service(&rig, 0, true, NULL);
	ledger_knows(20);
	lose(20, 25);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "claim 25 of user u24 is not there") != NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
	rig_grab(&rig, 0, "a", "new", &got);
	cr_assert(got.status == RAIN__STATUS__BUSY ||
		  got.status == RAIN__STATUS__PAUSED);
	cr_assert_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"),
			 "20");
}

Test(fence_loss, lost_tail_halts_with_the_reason)
{
	lose_the_tail();
}

/* Its claims and its money went back together: only a witness knows. */
Test(fence_loss, lost_tail_of_a_live_activity_halts_too)
{
	live = true;
	lose_the_tail();
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "left"), "480");
}

Test(fence_loss, what_only_another_witness_saw_is_missed_too)
{
	open_activity();
	rig_service(&rig, 0, true, NULL);
	rig_service(&rig, 1, true, NULL);
	ledger_knows(10);
	win(0, 0, 10);
	until_claims(10);
	cr_assert_str_eq(redis_server_ask(&rig.redis, "SAVE"), "OK");
	win(1, 10, 1);
	redis_server_kill(&rig.redis);
	redis_server_restart(&rig.redis);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "claim 11 of user u10 is not there") != NULL);
}
