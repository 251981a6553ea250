/* Redis fails over, or dies with much in flight: F33, F37. Needs a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/grab_rig.h"
#include "rain/gateway.pb-c.h"

enum { BEFORE = 20, LOST = 5, CROWD = 5000 };

static struct grab_rig rig;
static struct redis_server replica;
static char sock[128]; /* a link to the socket of the primary */
static char url[160];

static void start(void)
{
	rig_open(&rig);
	rig.ledger.passed = true;
	(void)snprintf(sock, sizeof sock, "%s/primary", rig.redis.dir);
	cr_assert_eq(symlink(rig.redis.path, sock), 0);
	(void)snprintf(url, sizeof url, "unix:%s", sock);
}

static void stop(void)
{
	rig_close(&rig);
	redis_server_close(&replica);
}

TestSuite(failover, .init = start, .fini = stop, .timeout = 120);

static void through_link(struct grab_options *o)
{
	o->redis_url = url;
}

static bool live;

static void open_activity(int packets)
{
	if (live) {
		lua_open_live(&rig.redis, "a", packets, packets * 100LL, 1, 0);
	} else {
		lua_open(&rig.redis, "a", packets);
	}
	redis_server_ask(&rig.redis, "SADD rain:activities a");
}

/* The first replica gives the primary a new replication id, and what that is
 * is to be shown: a moment of BUSY. */
static void win(int i, int from, int n)
{
	struct turns *turns = turns_start(&rig.loop, 15000);
	struct rig_got got;

	for (int k = from; k < from + n; k++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", k);
		do {
			rig_grab(&rig, i, "a", user, &got);
		} while (got.status == RAIN__STATUS__BUSY && !turns->late);
		cr_assert_eq(got.status, RAIN__STATUS__WON, "%d", got.status);
	}
	turns_stop(turns);
}

static void until_claims(int n)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", n);
	rig_until_relay(&rig, "a", "claims", text);
}

static bool is_synced(void)
{
	return redis_server_info(&replica, "replication", "slave_repl_offset",
				 NULL) ==
	       redis_server_info(&rig.redis, "replication",
				 "master_repl_offset", NULL);
}

static const char *link_of(struct redis_server *s)
{
	return strstr(redis_server_ask(s, "INFO replication"),
		      "master_link_status:up");
}

/* The replica has what was won so far, and hears nothing from here on. */
static void replicate_and_part(void)
{
	char port[16];

	redis_server_start_tcp(&replica, NULL);
	redis_server_ask(&replica, "CONFIG SET repl-diskless-sync-delay 0");
	redis_server_ask(&rig.redis, "CONFIG SET repl-diskless-sync-delay 0");
	(void)snprintf(port, sizeof port, "%u", (unsigned)replica.port);
	/* A port for the primary: it had none. */
	cr_assert_str_eq(redis_server_ask(&replica, "CONFIG SET port 0"), "OK");
	cr_assert_str_eq(
		redis_server_ask(&rig.redis, "CONFIG SET port %s", port), "OK");
	cr_assert_str_eq(
		redis_server_ask(&replica, "REPLICAOF 127.0.0.1 %s", port),
		"OK");
	RUN_UNTIL(&rig.loop, link_of(&replica) != NULL && is_synced());
	cr_assert_str_eq(redis_server_ask(&replica, "REPLICAOF NO ONE"), "OK");
}

static const char *at(struct redis_server *s, const char *field)
{
	return redis_server_ask(s, "HGET rain:{a}:meta %s", field);
}

/* Nobody gets a packet of those that were lost, and who won keeps quiet. */
static void expect_halted_at(struct redis_server *s)
{
	struct rig_got got;

	RUN_UNTIL_MS(&rig.loop, 20000, strcmp(at(s, "state"), "HALTED") == 0);
	cr_assert(strstr(at(s, "reason"), "is not there") != NULL ||
			  strstr(at(s, "reason"), "here are 20") != NULL,
		  "%s", at(s, "reason"));
	rig_grab(&rig, 0, "a", "new", &got);
	cr_assert(got.status == RAIN__STATUS__BUSY ||
			  got.status == RAIN__STATUS__PAUSED ||
			  got.status == RAIN__STATUS__PENDING,
		  "%d", got.status);
	rig_grab(&rig, 0, "a", "u24", &got);
	cr_assert(got.status == RAIN__STATUS__BUSY ||
			  got.status == RAIN__STATUS__PAUSED ||
			  got.status == RAIN__STATUS__PENDING,
		  "u24, whose packet is lost, is told %d", got.status);
	cr_assert_str_eq(redis_server_ask(s, "LLEN rain:{a}:claims"), "20");
}

/* It changes the replication id under connections that stay: both services
 * must say again what they saw, and neither waits for its own word. */
Test(failover, the_first_replica_costs_a_moment)
{
	open_activity(50);
	rig_service(&rig, 0, true, through_link);
	rig_service(&rig, 1, true, through_link);
	win(0, 0, 2);
	win(1, 2, 2);
	until_claims(4);
	replicate_and_part();
	win(0, 4, 2);
	win(1, 6, 2);
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
}

/* F33: a replica that lacks the last claims takes over. */
static void promote_a_replica_that_lacks_some(void)
{
	open_activity(50);
	rig_service(&rig, 0, true, through_link);
	win(0, 0, BEFORE);
	until_claims(BEFORE);
	replicate_and_part();
	win(0, BEFORE, LOST);
	until_claims(BEFORE + LOST);
	cr_assert_eq(unlink(sock), 0);
	cr_assert_eq(symlink(replica.path, sock), 0);
	redis_server_kill(&rig.redis);
	expect_halted_at(&replica);
}

Test(failover, replica_without_the_last_claims_is_promoted)
{
	promote_a_replica_that_lacks_some();
}

/* F33: the old primary was made a replica of it, and is promoted again: the
 * same process with another history. */
Test(failover, old_primary_comes_back_with_the_replicas_history)
{
	char port[16], run_id[64];
	const char *info;

	open_activity(50);
	rig_service(&rig, 0, true, through_link);
	win(0, 0, BEFORE);
	until_claims(BEFORE);
	replicate_and_part();
	win(0, BEFORE, LOST);
	until_claims(BEFORE + LOST);
	(void)snprintf(run_id, sizeof run_id, "%.40s",
		       lua_meta(&rig.redis, "a", "incarnation"));
	/* The port goes to the other. */
	(void)snprintf(port, sizeof port, "%u", (unsigned)replica.port);
	cr_assert_str_eq(redis_server_ask(&rig.redis, "CONFIG SET port 0"),
			 "OK");
	cr_assert_str_eq(redis_server_ask(&replica, "CONFIG SET port %s", port),
			 "OK");
	cr_assert_str_eq(
		redis_server_ask(&rig.redis, "REPLICAOF 127.0.0.1 %s", port),
		"OK");
	RUN_UNTIL(&rig.loop, link_of(&rig.redis) != NULL);
	cr_assert_str_eq(redis_server_ask(&rig.redis, "REPLICAOF NO ONE"),
			 "OK");
	info = redis_server_ask(&rig.redis, "INFO server");
	cr_assert_not_null(strstr(info, run_id));
	expect_halted_at(&rig.redis);
}

/* ---- Much in flight ---- */

static struct rig_got crowd[CROWD];

static int answered(void)
{
	int n = 0;

	for (int i = 0; i < CROWD; i++) {
		n += crowd[i].done ? 1 : 0;
	}
	return n;
}

static bool has_packet(const struct rig_got *got)
{
	return got->status == RAIN__STATUS__WON ||
	       got->status == RAIN__STATUS__ALREADY_GRABBED;
}

static bool taken[CROWD];

static void take(int i, const char *packet)
{
	const char *first = live ? LUA_LIVE_BASE : "1000";
	long long n = strtoll(packet, NULL, 10) - strtoll(first, NULL, 10);

	cr_assert(n >= 0 && n < CROWD && !taken[n], "packet %s of u%d twice",
		  packet, i);
	taken[n] = true;
}

/* All of them, or those who have no packet yet. */
static void ask_all(bool everybody)
{
	for (int i = 1; i < CROWD; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "u%d", i);
		if (everybody || !has_packet(&crowd[i])) {
			rig_put(&rig, 0, LANE_GRAB, "a", user, &crowd[i]);
		}
		if (i % 100 == 0) {
			rig_pump(&rig, 0, LANE_GRAB, "a");
		}
	}
	rig_pump(&rig, 0, LANE_GRAB, "a");
}

static int without_packet(void)
{
	int n = 0;

	for (int i = 1; i < CROWD; i++) {
		n += has_packet(&crowd[i]) ? 0 : 1;
		cr_assert(has_packet(&crowd[i]) ||
				  crowd[i].status == RAIN__STATUS__BUSY ||
				  crowd[i].status == RAIN__STATUS__PENDING,
			  "%d", crowd[i].status);
	}
	return n;
}

/* F37: 5,000 ask when it is killed. Each is answered once, nobody is told no,
 * nothing is counted as lost that was done. */
static void kill_with_5000_in_flight(void)
{
	static char before[CROWD][64];
	struct turns *turns;

	open_activity(CROWD);
	rig_service(&rig, 0, true, through_link);
	win(0, 0, 1);
	until_claims(1);
	crowd[0] = (struct rig_got){ .done = true };
	ask_all(true);
	RUN_UNTIL(&rig.loop, answered() > 200);
	redis_server_kill(&rig.redis);
	redis_server_restart(&rig.redis);
	RUN_UNTIL_MS(&rig.loop, 20000, answered() == CROWD);
	for (int i = 1; i < CROWD; i++) {
		(void)snprintf(before[i], sizeof before[i], "%s",
			       crowd[i].packet);
	}
	turns = turns_start(&rig.loop, 30000);
	while (without_packet() > 0 && !turns->late) {
		ask_all(false);
		RUN_UNTIL_MS(&rig.loop, 20000, answered() == CROWD);
	}
	cr_assert_eq(without_packet(), 0);
	turns_stop(turns);
	/* Once more: each has one of his own, and had it from the start. */
	ask_all(true);
	RUN_UNTIL_MS(&rig.loop, 20000, answered() == CROWD);
	cr_assert_eq(without_packet(), 0);
	for (int i = 1; i < CROWD; i++) {
		cr_assert(before[i][0] == '\0' ||
			  strcmp(before[i], crowd[i].packet) == 0);
		take(i, crowd[i].packet);
	}
	cr_assert_str_eq(lua_meta(&rig.redis, "a", "state"), "OPEN");
	until_claims(CROWD);
}

Test(failover, killed_with_5000_in_flight)
{
	kill_with_5000_in_flight();
}

/* The same of a live activity; all that is published is the plan's. */
Test(failover, killed_with_5000_in_flight_of_a_live_activity)
{
	live = true;
	kill_with_5000_in_flight();
	cr_assert_str_eq(redis_server_ask(&rig.redis,
					  "HMGET rain:{a}:meta left balance "
					  "claimed_cents"),
			 "0\n0\n500000");
}

/* F33: claims and money go back together, so only those who saw it know. */
Test(failover, replica_without_the_last_claims_of_a_live_activity)
{
	live = true;
	promote_a_replica_that_lacks_some();
}
