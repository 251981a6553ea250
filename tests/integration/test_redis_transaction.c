/* A script and commands behind it as one transaction of a real Redis. */
#include <stdio.h>

#include <criterion/criterion.h>

#include "lib/redis_rig.h"
#include "lib/redis_server.h"

static struct rig g;
static struct redis_server s;
static struct redis_script gate;

/* Opens the gate, unless it is told "no". */
static const char source[] =
	"#!lua\n"
	"if ARGV[1] == 'no' then return 'refused' end\n"
	"if ARGV[1] == 'fail' then redis.call('LLEN') end\n"
	"redis.call('LPUSH', KEYS[1], ARGV[1]) return 'opened'";

static void setup(void)
{
	redis_server_start(&s, NULL);
	rig_open(&g, s.url, NULL);
	rig_ready(&g, true);
	gate = rig_make_script("gate", source);
}

static void teardown(void)
{
	rig_close(&g);
	redis_server_close(&s);
}

TestSuite(redis_transaction, .init = setup, .fini = teardown);

static void begin(struct answer *a, const char *first, const char *second)
{
	char then[100];

	(void)snprintf(then, sizeof(then), "LPUSHX gate %s", second);
	rig_transaction(&g, a, 9000, &gate, 1, first, then);
}

static const char *run(struct answer *a, const char *first, const char *second)
{
	begin(a, first, second);
	rig_answer(&g, a);
	return a->text;
}

static void expect_list(const char *whole)
{
	cr_assert_str_eq(redis_server_ask(&s, "LRANGE gate 0 -1"), whole);
}

Test(redis_transaction, tells_what_each_was_answered)
{
	struct answer a;

	cr_assert_str_eq(run(&a, "gate a", "b"), "opened 2");
	cr_assert_str_eq(run(&a, "gate c", "d"), "opened 4");
	cr_assert_eq(a.outcome, REDIS_DONE);
	expect_list("d\nc\nb\na");
}

/* The commands behind it came to nothing, so it may be sent again. */
Test(redis_transaction, a_script_that_is_not_there_is_sent_again)
{
	struct answer a[3];

	begin(&a[0], "gate a", "b");
	begin(&a[1], "gate c", "d");
	rig_send(&g, &a[2], 9000, "ECHO x");
	rig_all(&g);
	cr_assert_str_eq(a[0].text, "opened 2");
	cr_assert_str_eq(a[1].text, "opened 4");
	cr_assert_str_eq(a[2].text, "x");
	expect_list("d\nc\nb\na");
	cr_assert_gt(
		redis_server_info(&s, "commandstats", "cmdstat_eval", "calls"),
		0);
}

Test(redis_transaction, goes_on_behind_a_refusal)
{
	struct answer a;

	cr_assert_str_eq(run(&a, "gate no", "b"), "refused 0");
	cr_assert_eq(a.outcome, REDIS_DONE);
	expect_list("");
}

Test(redis_transaction, a_script_that_fails_is_told)
{
	struct answer a;

	(void)run(&a, "gate fail", "b");
	cr_assert_eq(a.outcome, REDIS_PARTIAL, "%s", a.text);
	expect_list("");
}

/* EXEC would only tell that there was an error. */
Test(redis_transaction, says_why_it_was_refused)
{
	struct answer a;

	redis_server_ask(&s, "ACL SETUSER default -lpushx");
	(void)run(&a, "gate a", "b");
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert_not_null(strstr(a.text, "NOPERM"), "%s", a.text);
	cr_assert_not_null(strstr(a.text, "lpushx"), "%s", a.text);
	redis_server_ask(&s, "ACL SETUSER default +lpushx");
	redis_server_ask(&s, "CONFIG SET maxmemory 1");
	(void)run(&a, "gate a", "b");
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert_eq(strncmp(a.text, "OOM ", 4), 0, "%s", a.text);
	redis_server_ask(&s, "CONFIG SET maxmemory 0");
	expect_list("");
	cr_assert_str_eq(run(&a, "gate a", "b"), "opened 2");
}
