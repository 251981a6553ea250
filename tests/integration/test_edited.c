/* What was edited before anybody looked: the plan and its commitment tell.
 * Needs a broker. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

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

TestSuite(edited, .init = start, .fini = stop, .timeout = 60);

static void open_a(void)
{
	lua_open(&rig.redis, "a", 12);
	redis_server_ask(&rig.redis, "SADD rain:activities a");
}

/* Whoever relays has not seen the claim before: the plan tells. Nothing wrong
 * is published, and mended it goes on. */
Test(edited, a_claim_before_it_is_published)
{
	static const char wrong[] =
		"{\"redPacketId\":\"1001\",\"amount\":\"9.99\",\"userId\":"
		"\"w1\",\"seq\":2,\"atMs\":1,\"tranche\":1}";
	char right[200];
	struct rig_got got;

	open_a();
	rig_service(&rig, 0, false, NULL);
	for (int i = 0; i < 3; i++) {
		char user[16];

		(void)snprintf(user, sizeof user, "w%d", i);
		rig_grab(&rig, 0, "a", user, &got);
	}
	(void)snprintf(
		right, sizeof right, "%s",
		redis_server_ask(&rig.redis, "LINDEX rain:{a}:claims -2"));
	redis_server_ask(&rig.redis, "LSET rain:{a}:claims -2 %s", wrong);
	rig_service(&rig, 1, true, NULL);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"),
			 "claim 2 of user w1: it is packet 1001 with 9.99") !=
			  NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
	cr_assert_leq(strtol(rig_relay(&rig, "a", "claims"), NULL, 10), 1);
	redis_server_ask(&rig.redis, "LSET rain:{a}:claims -2 %s", right);
	rig_until_relay(&rig, "a", "claims", "3");
}

Test(edited, the_seed_before_anybody_has_read_it)
{
	struct rig_got got;

	open_a();
	redis_server_ask(&rig.redis, "HSET rain:{a}:meta seed "
				     "00000000000000000000000000000000"
				     "00000000000000000000000000000001");
	rig_service(&rig, 0, true, NULL);
	rig_until_meta(&rig, "a", "state", "HALTED");
	cr_assert(strstr(lua_meta(&rig.redis, "a", "reason"), "commitment") !=
			  NULL,
		  "%s", lua_meta(&rig.redis, "a", "reason"));
	rig_grab(&rig, 0, "a", "u", &got);
	cr_assert_eq(got.status, RAIN__STATUS__PAUSED);
}

/* How often a text stands in what was logged since the log was caught. */
static int count_log(FILE *log, const char *text)
{
	char line[2048];
	int n = 0;

	rewind(log);
	while (fgets(line, sizeof line, log) != NULL) {
		n += strstr(line, text) != NULL;
	}
	return n;
}

/* Whoever has lost his claim asks again and again, and is no flood of lines. */
Test(edited, one_claim_is_told_to_the_log_once_a_second)
{
	FILE *log = tmpfile();
	struct rig_got got;

	open_a();
	rig_service(&rig, 0, false, NULL);
	rig_grab(&rig, 0, "a", "u", &got);
	redis_server_ask(&rig.redis, "HSET rain:{a}:users u nothing");
	cr_assert_not_null(log);
	cr_assert_neq(dup2(fileno(log), STDERR_FILENO), -1);
	for (int i = 0; i < 50; i++) {
		rig_grab(&rig, 0, "a", "u", &got);
		cr_assert_eq(got.status, RAIN__STATUS__PENDING);
	}
	cr_assert_geq(count_log(log, "claim unreadable"), 1);
	cr_assert_leq(count_log(log, "claim unreadable"), 10);
	(void)fclose(log);
}
