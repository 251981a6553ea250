/* The set of activities is lost while one is open: who wins is paid all the
 * same. Needs a broker. */
#include <criterion/criterion.h>

#include "grab-service/track.h"
#include "lib/grab_rig.h"
#include "rain/activity_service.pb-c.h"
#include "rain/gateway.pb-c.h"

enum { MANY = 40, LOOKS = 3 };

static struct grab_rig rig;

static void start(void)
{
	rig_open(&rig);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(relay_set_lost, .init = start, .fini = stop, .timeout = 90);

static void win(const char *user)
{
	struct rig_got got;

	rig_grab(&rig, 0, "a", user, &got);
	cr_assert_eq(got.status, RAIN__STATUS__WON);
}

static struct track *track_of_a(void)
{
	return directory_find(rig.services[0].env.directory, BYTES("a"))->track;
}

static bool is_listed(void)
{
	return strcmp(redis_server_ask(&rig.redis,
				       "SISMEMBER rain:activities a"),
		      "1") == 0;
}

/* An activity of the set, with one claim that is published. */
static void start_with_a_win(void)
{
	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
}

Test(relay_set_lost, a_win_puts_it_back)
{
	start_with_a_win();
	redis_server_ask(&rig.redis, "DEL rain:activities");
	RUN_UNTIL(&rig.loop, is_listed());
	win("u2");
	rig_until_relay(&rig, "a", "claims", "2");
	cr_assert_not_null(track_of_a());
}

/* Nobody wins any more, and it is to be closed and counted all the same. */
Test(relay_set_lost, it_comes_back_without_a_win)
{
	start_with_a_win();
	redis_server_ask(&rig.redis, "SREM rain:activities a");
	RUN_UNTIL(&rig.loop, is_listed());
	EXPECT("OK", &rig.redis, &lua_activity, "a", "close", "", "");
	rig_until_meta(&rig, "a", "leftover_cents", "900");
}

/* FLUSHALL: there is nobody to halt, but somebody is told. */
Test(relay_set_lost, a_redis_that_is_emptied_is_noticed)
{
	struct rig_got got;
	struct buf notes;

	start_with_a_win();
	redis_server_ask(&rig.redis, "FLUSHALL");
	RUN_UNTIL(&rig.loop, track_of_a()->lost && is_listed());
	buf_init(&notes);
	(void)relay_ready(rig.services[0].env.relay, &notes);
	buf_put_u8(&notes, 0);
	cr_assert_not_null(strstr((const char *)buf_live(&notes).p,
				  "a: is gone from Redis"));
	buf_close(&notes);
	rig_grab(&rig, 0, "a", "u1", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY, "%d", got.status);
	rig_grab(&rig, 0, "a", "u2", &got);
	cr_assert_eq(got.status, RAIN__STATUS__BUSY, "%d", got.status);
}

static bool lists(int count)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", count);
	return strcmp(redis_server_ask(&rig.redis, "SCARD rain:activities"),
		      text) == 0;
}

static void open_many(void)
{
	for (int i = 0; i < MANY; i++) {
		char id[16];

		(void)snprintf(id, sizeof id, "m%d", i);
		lua_open(&rig.redis, id, 1);
		redis_server_ask(&rig.redis, "SADD rain:activities %s", id);
	}
}

static size_t known(void)
{
	size_t n = 0;

	for (int i = 0; i < MANY; i++) {
		char id[16];
		struct activity *a;

		(void)snprintf(id, sizeof id, "m%d", i);
		a = directory_find(rig.services[0].env.directory,
				   bytes_str(id));
		n += a != NULL && a->track != NULL &&
		     a->track->state == RAIN__STATE__OPEN;
	}
	return n;
}

/* Until service i has looked at the set so many times. */
static void look(int i, int times)
{
	const struct relay *relay = rig.services[i].env.relay;
	uint64_t last = relay->scan + (uint64_t)times;

	RUN_UNTIL(&rig.loop, relay->scan >= last);
}

/* One look finds them all, and one command brings them all back. */
Test(relay_set_lost, many_come_back_at_once)
{
	long long calls;

	open_many();
	rig_service(&rig, 0, true, NULL);
	RUN_UNTIL(&rig.loop, known() == MANY);
	redis_server_ask(&rig.redis, "CONFIG RESETSTAT");
	redis_server_ask(&rig.redis, "DEL rain:activities");
	RUN_UNTIL(&rig.loop, lists(MANY));
	calls = redis_server_info(&rig.redis, "commandstats", "cmdstat_sadd",
				  "calls");
	cr_assert_leq(calls, 2, "%lld", calls);
}

/* A Redis that takes no write is not asked as fast as it can answer. */
Test(relay_set_lost, a_refusal_is_no_reason_to_hurry)
{
	uint64_t began;

	start_with_a_win();
	redis_server_ask(&rig.redis, "DEL rain:activities");
	redis_server_ask(&rig.redis, "ACL SETUSER default -sadd");
	began = uv_now(&rig.loop);
	look(0, LOOKS);
	cr_assert_geq(uv_now(&rig.loop) - began,
		      (LOOKS - 1) * rig.services[0].options.scan_ms);
	redis_server_ask(&rig.redis, "ACL SETUSER default +sadd");
	RUN_UNTIL(&rig.loop, is_listed());
}

/* Whether service i has read the activity: only what it knew can be lost. */
static bool has_read_a(int i)
{
	const struct activity *a =
		directory_find(rig.services[i].env.directory, BYTES("a"));

	return a != NULL && a->track != NULL && a->track->revision > 0;
}

/* A person has looked and gives it up: then nobody keeps it. */
Test(relay_set_lost, who_takes_out_what_is_gone_is_heard)
{
	lua_open(&rig.redis, "a", 10);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, NULL);
	rig_service(&rig, 1, true, NULL);
	win("u1");
	rig_until_relay(&rig, "a", "claims", "1");
	RUN_UNTIL(&rig.loop, has_read_a(0) && has_read_a(1));
	redis_server_ask(&rig.redis, "FLUSHALL");
	for (int i = 0; i < 2; i++) {
		struct activity *a = directory_find(
			rig.services[i].env.directory, BYTES("a"));

		RUN_UNTIL(&rig.loop, a->track->lost && is_listed());
	}
	look(0, 2);
	look(1, 2);
	redis_server_ask(&rig.redis, "SREM rain:activities a");
	RUN_UNTIL(&rig.loop, track_of_a() == NULL);
	look(0, 2);
	look(1, 2);
	cr_assert_not(is_listed());
}
