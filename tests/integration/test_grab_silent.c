/* A Redis that says nothing: frozen, or busy with another tenant's script.
 * Whoever is in flight is told at the deadline that nobody knows, nobody else
 * waits, and it recovers by itself. F26, F66. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

static struct grab_rig rig;
static struct grab_env *env;

static void short_stall(struct grab_options *o)
{
	o->redis_stall_ms = 200;
}

static void start(void)
{
	static struct rig_got got;

	rig_open(&rig);
	lua_open(&rig.redis, "a", 100);
	rig_service(&rig, 0, false, short_stall);
	env = &rig.services[0].env;
	lane_metrics();
	lane_watch_start(env);
	rig_grab(&rig, 0, "a", "warm", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
}

static void stop(void)
{
	struct lane_watch *watch = env->watch;

	RUN_UNTIL(&rig.loop,
		  directory_find(env->directory, BYTES("a"))->pins == 0);
	cr_assert_not_null(watch);
	lane_watch_stop(env);
	rig_close(&rig);
}

TestSuite(grab_silent, .init = start, .fini = stop, .timeout = 60);

static void put(const char *user, uint64_t patience_ms, struct rig_got *got)
{
	rig_put(&rig, 0, LANE_GRAB, "a", user, got);
	if (!got->done) {
		got->ask.deadline_ms = uv_now(&rig.loop) + patience_ms;
		rig_pump(&rig, 0, LANE_GRAB, "a");
	}
}

static void expect_refused(const struct rig_got *got)
{
	cr_assert(got->done);
	cr_assert_eq(got->status, RAIN__STATUS__BUSY);
	cr_assert_geq(got->retry_after_ms, 75);
	cr_assert_leq(got->retry_after_ms, 4000);
}

Test(grab_silent, nobody_waits_for_a_frozen_redis)
{
	static struct rig_got flying;
	static struct rig_got behind;
	static struct rig_got later[1000];
	long calls;

	calls = rig_script_calls(&rig);
	redis_server_pause(&rig.redis);
	put("flying", 500, &flying);
	put("behind", 8000, &behind);
	RUN_UNTIL(&rig.loop, behind.done);
	cr_assert(lane_redis_silent(env));
	expect_refused(&behind);
	/* All at once, inside the call. */
	for (int i = 0; i < 1000; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "later%d", i);
		put(user, 8000, &later[i]);
		expect_refused(&later[i]);
	}
	cr_assert_eq(env->queued, 0);
	RUN_UNTIL(&rig.loop, flying.done);
	cr_assert_eq(flying.status, RAIN__STATUS__PENDING);
	cr_assert_gt(flying.retry_after_ms, 0);

	redis_server_resume(&rig.redis);
	RUN_UNTIL(&rig.loop, !lane_redis_silent(env));
	rig_grab(&rig, 0, "a", "flying", &flying);
	cr_assert_eq(flying.status, RAIN__STATUS__ALREADY_GRABBED,
		     "what was in flight was executed");
	rig_grab(&rig, 0, "a", "behind", &behind);
	cr_assert_eq(behind.status, RAIN__STATUS__WON,
		     "what was BUSY never was");
	/* One for each of the three that left, none for the thousand. */
	cr_assert_eq(rig_script_calls(&rig), calls + 3);
}

/* Frozen for longer than the client bears: it connects again. */
Test(grab_silent, the_connection_is_made_anew)
{
	static struct rig_got got;
	uint64_t first = redis_connection(env->redis);

	redis_server_pause(&rig.redis);
	put("u", 300, &got);
	RUN_UNTIL(&rig.loop, got.done);
	cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	RUN_UNTIL(&rig.loop, redis_connection(env->redis) != first);
	cr_assert(lane_redis_silent(env));
	put("v", 8000, &got);
	expect_refused(&got);
	redis_server_resume(&rig.redis);
	RUN_UNTIL(&rig.loop, !lane_redis_silent(env));
	rig_grab(&rig, 0, "a", "v", &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
}

/* Sends a script that runs for ms, and does not wait for it. */
static int busy_script(int ms)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[512];
	int n = snprintf(text, sizeof text,
			 "EVAL \"local function now() local t = "
			 "redis.call('TIME') return t[1] * 1000 + t[2] / 1000 "
			 "end local e = now() + %d while now() < e do end "
			 "return 1\" 0\r\n",
			 ms);

	cr_assert_geq(fd, 0);
	(void)snprintf(to.sun_path, sizeof to.sun_path, "%s", rig.redis.path);
	cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
	cr_assert_eq(write(fd, text, (size_t)n), n);
	return fd;
}

/* Another tenant's script: silence, then -BUSY to all, then all is well. */
Test(grab_silent, anothers_script_is_busy_and_passes)
{
	static struct rig_got got;
	int fd;

	(void)redis_server_ask(&rig.redis,
			       "CONFIG SET busy-reply-threshold 600");
	fd = busy_script(1500);
	/* Until it runs, Redis answers. */
	do {
		put("u", 400, &got);
		RUN_UNTIL(&rig.loop, got.done);
	} while (got.status != RAIN__STATUS__PENDING);
	RUN_UNTIL(&rig.loop, lane_redis_silent(env));
	put("v", 8000, &got);
	expect_refused(&got);
	/* It says BUSY now, which is a word. */
	RUN_UNTIL(&rig.loop, !lane_redis_silent(env));
	do {
		put("v", 8000, &got);
		RUN_UNTIL(&rig.loop, got.done);
	} while (got.status == RAIN__STATUS__BUSY);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
	(void)close(fd);
}
