/* The way of a grab through queue, batch, script and answer, on a real Redis. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/metrics.h"
#include "grab-service/grab_service.h"
#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;

static void start(void)
{
	rig_open(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(grab_path, .init = start, .fini = stop, .timeout = 60);

static void change_meta(const char *operation, const char *more)
{
	EXPECT("OK", &rig.redis, &lua_activity, "a", operation, "", more);
}

Test(grab_path, lone_grab_is_one_script_call_at_once)
{
	struct rig_got got;
	long before;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "warm", &got);
	before = rig_script_calls(&rig);
	rig_put(&rig, 0, LANE_GRAB, "a", "u", &got);
	rig_pump(&rig, 0, LANE_GRAB, "a");
	/* It is with the client already: no turn of the loop, no timer. */
	cr_assert_eq(directory_find(rig.services[0].env.directory, BYTES("a"))
			     ->lanes[LANE_GRAB]
			     .calls,
		     1);
	RUN_UNTIL(&rig.loop, got.done);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	cr_assert_str_eq(got.packet, "1001");
	cr_assert_eq(got.amount_cents, 100);
	cr_assert_gt(got.revision, 0);
	cr_assert_eq(rig_script_calls(&rig) - before, 1);
}

Test(grab_path, same_user_a_thousand_times_has_one_packet)
{
	static struct rig_got got[1000];

	lua_open(&rig.redis, "a", 50);
	rig_service(&rig, 0, false, NULL);
	rig_service(&rig, 1, false, NULL);
	for (int i = 0; i < 1000; i++) {
		rig_put(&rig, i % 2, LANE_GRAB, "a", "u", &got[i]);
		if (i % 7 == 0) {
			rig_pump(&rig, 0, LANE_GRAB, "a");
			rig_pump(&rig, 1, LANE_GRAB, "a");
		}
	}
	rig_pump(&rig, 0, LANE_GRAB, "a");
	rig_pump(&rig, 1, LANE_GRAB, "a");
	for (int i = 0; i < 1000; i++) {
		RUN_UNTIL(&rig.loop, got[i].done);
		cr_assert(got[i].status == RAIN__STATUS__WON ||
			  got[i].status == RAIN__STATUS__ALREADY_GRABBED);
		cr_assert_str_eq(got[i].packet, got[0].packet);
	}
	cr_assert_str_eq(redis_server_ask(&rig.redis, "LLEN rain:{a}:claims"),
			 "1");
}

static double metric(const char *name)
{
	struct buf page;
	const char *found;
	double value;

	buf_init(&page);
	metrics_render(&page);
	buf_put_u8(&page, 0);
	found = strstr((const char *)buf_live(&page).p, name);
	cr_assert_not_null(found, "%s", name);
	value = strtod(found + strlen(name), NULL);
	buf_close(&page);
	return value;
}

static void big_queue(struct grab_options *o)
{
	o->queue_max = 200000;
	o->queue_total = 200000;
}

Test(grab_path, hundred_thousand_users_one_packet)
{
	enum { USERS = 100000 };
	struct rig_got *got = calloc(USERS, sizeof *got);
	int won = 0;
	long calls;

	lane_metrics();
	lua_open(&rig.redis, "a", 1);
	rig_service(&rig, 0, false, big_queue);
	calls = rig_script_calls(&rig);
	for (int i = 0; i < USERS; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", i);
		rig_put(&rig, 0, LANE_GRAB, "a", user, &got[i]);
		if (i % 16 == 0) {
			rig_pump(&rig, 0, LANE_GRAB, "a");
			uv_run(&rig.loop, UV_RUN_NOWAIT);
		}
	}
	rig_pump(&rig, 0, LANE_GRAB, "a");
	for (int i = 0; i < USERS; i++) {
		RUN_UNTIL(&rig.loop, got[i].done);
		won += got[i].status == RAIN__STATUS__WON;
		cr_assert(got[i].status == RAIN__STATUS__WON ||
			  got[i].status == RAIN__STATUS__SOLD_OUT);
	}
	cr_assert_eq(won, 1);
	calls = rig_script_calls(&rig) - calls;
	cr_assert_lt(calls * 8, USERS, "%ld script calls", calls);
	/* The operator sees the same. */
	cr_assert_gt(metric("rain_grab_batch_size_sum"), USERS - 1);
	cr_assert_gt(metric("rain_grab_batch_size_sum"),
		     8 * metric("rain_grab_batch_size_count"));
	free(got);
}

Test(grab_path, script_flush_in_mid_rain_is_not_seen)
{
	enum { USERS = 3000 };
	struct rig_got *got = calloc(USERS, sizeof *got);

	lua_open(&rig.redis, "a", USERS);
	rig_service(&rig, 0, false, NULL);
	for (int i = 0; i < USERS; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", i);
		rig_put(&rig, 0, LANE_GRAB, "a", user, &got[i]);
		rig_pump(&rig, 0, LANE_GRAB, "a");
		if (i % 500 == 250) {
			cr_assert_str_eq(
				redis_server_ask(&rig.redis, "SCRIPT FLUSH"),
				"OK");
		}
		uv_run(&rig.loop, UV_RUN_NOWAIT);
	}
	for (int i = 0; i < USERS; i++) {
		RUN_UNTIL(&rig.loop, got[i].done);
		cr_assert_eq(got[i].status, RAIN__STATUS__WON);
	}
	free(got);
}

Test(grab_path, winner_is_told_again_in_every_state)
{
	static const char *const steps[][2] = { { "pause", "r" },
						{ "resume", "r" },
						{ "close", "r" },
						{ "counted", "100" } };
	static const int others[] = { RAIN__STATUS__PAUSED, RAIN__STATUS__WON,
				      RAIN__STATUS__ENDED,
				      RAIN__STATUS__ENDED };
	struct rig_got got;

	lua_open(&rig.redis, "a", 3);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_str_eq(got.packet, "1000");
	for (size_t i = 0; i < 4; i++) {
		char user[16];

		EXPECT("OK", &rig.redis, &lua_activity, "a", steps[i][0], "",
		       steps[i][1], "1");
		rig_grab(&rig, 0, "a", "u", &got);
		cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
		cr_assert_str_eq(got.packet, "1000");
		rig_result(&rig, 0, "a", "u", &got);
		cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
		cr_assert_str_eq(got.packet, "1000");
		(void)snprintf(user, sizeof user, "other%zu", i);
		rig_grab(&rig, 0, "a", user, &got);
		cr_expect_eq(got.status, others[i], "%s: %d", steps[i][0],
			     got.status);
	}
}

Test(grab_path, result_is_pending_until_the_grab_can_not_come)
{
	struct rig_got got;

	lua_open(&rig.redis, "a", 3);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "w", &got);
	rig_put(&rig, 0, LANE_RESULT, "a", "u", &got);
	got.ask.not_after_ms = redis_time_now(&rig.services[0].env.time) + 5000;
	rig_pump(&rig, 0, LANE_RESULT, "a");
	RUN_UNTIL(&rig.loop, got.done);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	rig_result(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	cr_assert_str_eq(got.message, "no packet yet: this user's grab was not "
				      "executed; tap again");
	change_meta("close", "r");
	rig_result(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ENDED);
}

static void small_queue(struct grab_options *o)
{
	o->queue_max = 10;
	o->queue_total = 15;
	o->batch_max = 4;
}

Test(grab_path, full_queue_refuses_the_newest)
{
	static struct rig_got got[40];
	int busy = 0;

	lua_open(&rig.redis, "a", 50);
	lua_open(&rig.redis, "b", 50);
	rig_service(&rig, 0, false, small_queue);
	for (int i = 0; i < 20; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", i);
		rig_put(&rig, 0, LANE_GRAB, "a", user, &got[i]);
		rig_put(&rig, 0, LANE_GRAB, "b", user, &got[20 + i]);
	}
	rig_pump(&rig, 0, LANE_GRAB, "a");
	rig_pump(&rig, 0, LANE_GRAB, "b");
	for (int i = 0; i < 40; i++) {
		RUN_UNTIL(&rig.loop, got[i].done);
		if (got[i].status == RAIN__STATUS__BUSY) {
			busy++;
			cr_assert_gt(got[i].retry_after_ms, 0);
		} else {
			cr_assert_eq(got[i].status, RAIN__STATUS__WON);
		}
	}
	/* 15 had room in all. */
	cr_assert_eq(busy, 25);
	cr_assert_eq(rig.services[0].env.queued, 0);
}

static void impatient(struct grab_options *o)
{
	o->redis_timeout_ms = 100;
}

/* F12: the reply is lost, the grab is not. */
Test(grab_path, unknown_outcome_is_asked_again)
{
	struct rig_got got;
	struct rig_got late;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, impatient);
	rig_grab(&rig, 0, "a", "warm", &got);
	redis_server_pause(&rig.redis);
	rig_put(&rig, 0, LANE_GRAB, "a", "u", &got);
	rig_pump(&rig, 0, LANE_GRAB, "a");
	rig_put(&rig, 0, LANE_GRAB, "a", "v", &late);
	late.ask.deadline_ms = uv_now(&rig.loop) + 150;
	rig_pump(&rig, 0, LANE_GRAB, "a");
	RUN_UNTIL(&rig.loop, late.done);
	/* Whether it left or waited: BUSY only if it surely never left. */
	cr_assert(late.status == RAIN__STATUS__PENDING ||
		  late.status == RAIN__STATUS__BUSY);
	cr_assert(!got.done);
	redis_server_resume(&rig.redis);
	RUN_UNTIL(&rig.loop, got.done);
	cr_assert(got.status == RAIN__STATUS__WON ||
		  got.status == RAIN__STATUS__ALREADY_GRABBED);
	cr_assert_str_eq(got.packet, "1001");
}

Test(grab_path, redis_that_is_gone_is_busy_at_once)
{
	enum { USERS = 2000 }; /* more than two calls and a queue take */
	struct rig_got *got = calloc(USERS, sizeof *got);
	int at_once = 0;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, impatient);
	redis_server_kill(&rig.redis);
	RUN_UNTIL(&rig.loop, !redis_ready(rig.services[0].env.redis));
	for (int i = 0; i < USERS; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", i);
		rig_put(&rig, 0, LANE_GRAB, "a", user, &got[i]);
		rig_pump(&rig, 0, LANE_GRAB, "a");
		at_once += got[i].done;
	}
	cr_assert_geq(at_once, USERS / 2);
	for (int i = 0; i < USERS; i++) {
		RUN_UNTIL(&rig.loop, got[i].done);
		cr_assert_eq(got[i].status, RAIN__STATUS__BUSY);
	}
	free(got);
	redis_server_restart(&rig.redis);
}

Test(grab_path, outcome_that_stays_unknown_is_pending)
{
	struct rig_got got;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, impatient);
	rig_grab(&rig, 0, "a", "warm", &got);
	redis_server_pause(&rig.redis);
	rig_put(&rig, 0, LANE_GRAB, "a", "u", &got);
	got.ask.deadline_ms = uv_now(&rig.loop) + 250;
	rig_pump(&rig, 0, LANE_GRAB, "a");
	RUN_UNTIL(&rig.loop, got.done);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	redis_server_resume(&rig.redis);
}

Test(grab_path, tampered_list_is_halted_and_winners_keep_theirs)
{
	struct rig_got got;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "w", &got);
	redis_server_ask(&rig.redis, "RPOP rain:{a}:packets");
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"), "packets 3") !=
		  NULL);
	rig_grab(&rig, 0, "a", "w", &got);
	cr_assert_eq(got.status, RAIN__STATUS__ALREADY_GRABBED);
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PAUSED);
}

Test(grab_path, witness_is_registered_with_the_first_grab)
{
	char field[64];
	struct rig_got got;

	lua_open(&rig.redis, "a", 5);
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "u", &got);
	(void)snprintf(field, sizeof field, "w:%s",
		       rig.services[0].env.witness);
	cr_assert_str_neq(rig_relay(&rig, "a", field), "(nil)");
	redis_server_ask(&rig.redis, "HDEL rain:{a}:relay %s", field);
	rig_grab(&rig, 0, "a", "v", &got);
	cr_assert_str_eq(rig_relay(&rig, "a", field), "(nil)");
}
