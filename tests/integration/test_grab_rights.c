/* The user of Redis loses one right after the other while people grab: never a
 * wrong answer, never half a write, and it goes on by itself when the right is
 * back. Needs a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

enum { PACKETS = 2000, WINNERS = 3, SOON_MS = 15000 };

/* As docs/redis.md has them. */
static const char *const rights[] = {
	"ping",     "select",     "client|setname", "evalsha",   "eval",
	"time",     "info",       "type",           "llen",      "lindex",
	"lrange",   "lpush",      "rpop",           "hget",      "hgetall",
	"hmget",    "hset",       "hdel",           "hlen",      "unlink",
	"sadd",     "srem",       "smembers",       "sismember", "wait",
	"spublish", "ssubscribe", "sunsubscribe",
};

enum { RIGHTS = sizeof rights / sizeof rights[0] };

static struct grab_rig rig;
static char url[160];
static char packet[WINNERS][64];
static int users; /* new ones so far */
static bool live;

static void as_user(struct grab_options *o)
{
	o->redis_url = url;
	o->patience_ms = 200;
	o->redis_timeout_ms = 500;
}

static void start(void)
{
	const char *argv[RIGHTS + 10] = { "ACL",     "SETUSER",   "redrain",
					  "on",      ">PASSWORD", "~rain:*",
					  "&rain:*", "-@all" };
	static char plus[RIGHTS][32];
	int argc = 8;

	rig_open(&rig);
	rig.ledger.passed = true;
	for (int i = 0; i < RIGHTS; i++) {
		(void)snprintf(plus[i], sizeof plus[i], "+%s", rights[i]);
		argv[argc++] = plus[i];
	}
	cr_assert_str_eq(redis_server_askv(&rig.redis, argc, argv), "OK");
	(void)snprintf(url, sizeof url, "unix://redrain:PASSWORD@%s",
		       rig.redis.path);
}

static void stop(void)
{
	rig_close(&rig);
}

TestSuite(grab_rights, .init = start, .fini = stop, .timeout = 200);

static bool has_packet(int status)
{
	return status == RAIN__STATUS__WON ||
	       status == RAIN__STATUS__ALREADY_GRABBED;
}

static bool is_wait(int status)
{
	return status == RAIN__STATUS__BUSY || status == RAIN__STATUS__PENDING;
}

static long length(const char *command)
{
	return strtol(redis_server_ask(&rig.redis, command), NULL, 10);
}

static void expect_whole(const char *right)
{
	long claims = length("LLEN rain:{a}:claims");

	cr_assert_eq(length(live ? "HGET rain:{a}:meta left"
				 : "LLEN rain:{a}:packets") +
			     claims,
		     PACKETS, "without %s", right);
	cr_assert_eq(length("HLEN rain:{a}:users"), claims, "without %s",
		     right);
}

/* Whether everybody who must have a packet is told it. */
static bool ask_everybody(const char *right)
{
	struct rig_got got;
	char user[16];
	bool all = true;

	for (int i = 0; i < WINNERS; i++) {
		(void)snprintf(user, sizeof user, "w%d", i);
		if (i == 0) {
			rig_result(&rig, 0, "a", user, &got);
		} else {
			rig_grab(&rig, 0, "a", user, &got);
		}
		cr_assert(has_packet(got.status) || is_wait(got.status),
			  "without %s: %s is told %d (%s)", right, user,
			  got.status, got.message);
		if (has_packet(got.status)) {
			cr_assert_str_eq(got.packet, packet[i]);
		} else {
			all = false;
		}
	}
	(void)snprintf(user, sizeof user, "n%d", users++);
	rig_grab(&rig, 0, "a", user, &got);
	cr_assert(got.status == RAIN__STATUS__WON || is_wait(got.status),
		  "without %s: %s is told %d (%s)", right, user, got.status,
		  got.message);
	expect_whole(right);
	return all && got.status == RAIN__STATUS__WON;
}

static void lose(const char *right, bool reconnect)
{
	struct turns *turns;
	bool all;

	redis_server_ask(&rig.redis, "ACL SETUSER redrain -%s", right);
	if (reconnect) {
		redis_server_ask(&rig.redis, "SCRIPT FLUSH");
		redis_server_ask(&rig.redis, "CLIENT KILL USER redrain");
	}
	for (int i = 0; i < 3; i++) {
		(void)ask_everybody(right);
		uv_run(&rig.loop, UV_RUN_ONCE);
	}
	redis_server_ask(&rig.redis, "ACL SETUSER redrain +%s", right);
	turns = turns_start(&rig.loop, SOON_MS);
	do {
		all = ask_everybody(right);
	} while (!all && !turns->late);
	turns_stop(turns);
	cr_assert(all, "without %s: it does not go on, %s", right,
		  redis_server_ask(&rig.redis, "HGETALL rain:{a}:meta"));
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN", "%s: %s",
			 right,
			 redis_server_ask(&rig.redis, "HGETALL rain:{a}:meta"));
}

static void play(bool reconnect)
{
	char claims[16];

	if (live) {
		lua_open_live(&rig.redis, "a", PACKETS, PACKETS * 100, 1, 0);
	} else {
		lua_open(&rig.redis, "a", PACKETS);
	}
	redis_server_ask(&rig.redis, "SADD rain:activities a");
	rig_service(&rig, 0, true, as_user);
	for (int i = 0; i < WINNERS; i++) {
		struct rig_got got;
		char user[16];

		(void)snprintf(user, sizeof user, "w%d", i);
		rig_grab(&rig, 0, "a", user, &got);
		cr_assert_eq(got.status, RAIN__STATUS__WON);
		(void)snprintf(packet[i], sizeof packet[i], "%s", got.packet);
	}
	for (int i = 0; i < RIGHTS; i++) {
		lose(rights[i], reconnect);
	}
	/* And everything is published. */
	(void)snprintf(claims, sizeof claims, "%ld",
		       length("LLEN rain:{a}:claims"));
	rig_until_relay(&rig, "a", "claims", claims);
}

Test(grab_rights, one_after_the_other)
{
	play(false);
}

Test(grab_rights, one_after_the_other_on_a_new_connection)
{
	play(true);
}

/* RPOP is not needed; that everything is published says that every packet was
 * the plan's. */
Test(grab_rights, one_after_the_other_for_a_live_activity)
{
	live = true;
	play(false);
	cr_assert_eq(length("HGET rain:{a}:meta balance") +
			     length("HGET rain:{a}:meta claimed_cents"),
		     PACKETS * 100);
}
