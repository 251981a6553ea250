/* The user of docs/redis.md: it may do what redrain does, and nothing else. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "lib/redis_rig.h"
#include "lib/redis_server.h"

enum { RULES_MAX = 1024, WORDS_MAX = 64 };

static struct redis_server s;
static struct rig g;
static char url[200];

static FILE *open_source(const char *name)
{
	char path[512];
	FILE *file;

	cr_assert_not_null(getenv("RAIN_SOURCE"), "run it through ctest");
	snprintf(path, sizeof(path), "%s/%s", getenv("RAIN_SOURCE"), name);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	return file;
}

/* The ACL SETUSER line of the page, as a person would paste it. */
static void read_rules(char rules[RULES_MAX])
{
	FILE *page = open_source("docs/redis.md");

	while (fgets(rules, RULES_MAX, page) != NULL) {
		if (strncmp(rules, "ACL SETUSER ", 12) == 0) {
			rules[strcspn(rules, "\n")] = '\0';
			fclose(page);
			return;
		}
	}
	cr_assert(false, "docs/redis.md has no ACL SETUSER line");
}

static const char *apply_rules(void)
{
	char rules[RULES_MAX];
	const char *words[WORDS_MAX];
	int n = 0;
	char *rest = NULL;

	read_rules(rules);
	for (char *word = strtok_r(rules, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		cr_assert_lt(n, WORDS_MAX);
		words[n++] = word;
	}
	return redis_server_askv(&s, n, words);
}

static void setup(void)
{
	redis_server_start(&s, NULL);
	cr_assert_str_eq(apply_rules(), "OK");
	snprintf(url, sizeof(url), "unix://redrain:PASSWORD@%s?db=1", s.path);
}

static void teardown(void)
{
	redis_server_close(&s);
}

TestSuite(redis_user, .init = setup, .fini = teardown);

Test(redis_user, may_do_its_work_and_no_more)
{
	static const char *const refused[] = {
		"FLUSHALL",       "GET rain:x",   "CONFIG GET maxmemory",
		"LLEN other:{A}", "SCRIPT FLUSH", "ACL LIST",
		"KEYS *",
	};
	struct redis_script script =
		rig_make_script("work", "return redis.call('RPOP', KEYS[1])");
	struct answer a;

	rig_open(&g, url, NULL);
	rig_ready(&g, true);
	cr_assert_str_eq(rig_ask(&g, &a, "LPUSH rain:{A}:packets x"), "1");
	rig_script(&g, &a, 9000, &script, 1, "rain:{A}:packets");
	rig_answer(&g, &a);
	cr_assert_str_eq(a.text, "x");
	rig_ask(&g, &a, "SPUBLISH rain:{A} x");
	cr_assert_eq(a.outcome, REDIS_DONE);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		rig_ask(&g, &a, refused[i]);
		cr_expect_eq(a.outcome, REDIS_NOT_EXECUTED, "%s", refused[i]);
		cr_expect_eq(strncmp(a.text, "NOPERM", 6), 0, "%s: %s",
			     refused[i], a.text);
	}
	cr_assert(redis_ready(g.redis));
	rig_close(&g);
}

Test(redis_user, a_user_that_is_gone_is_tried_until_it_is_back)
{
	struct answer a;

	rig_open(&g, url, NULL);
	rig_ready(&g, true);
	redis_server_ask(&s, "ACL DELUSER redrain"); /* ends its connections */
	rig_ready(&g, false);
	rig_send(&g, &a, 100, "LLEN rain:{A}:packets");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert_not(redis_ready(g.redis));
	apply_rules();
	cr_assert_str_eq(rig_ask(&g, &a, "LLEN rain:{A}:packets"), "0");
	rig_close(&g);
}

Test(redis_user, a_password_alone)
{
	struct answer a;

	redis_server_ask(&s, "CONFIG SET requirepass secret");
	snprintf(url, sizeof(url), "unix://:secret@%s", s.path);
	rig_open(&g, url, NULL);
	cr_assert_str_eq(rig_ask(&g, &a, "CLIENT GETNAME"), "test");
	rig_close(&g);
}

/* Each call('X' or try('X' of a script. */
static void compare_script(const char *name, const char *rules)
{
	char path[300];
	char line[1000];
	FILE *file;

	snprintf(path, sizeof(path), "lua/%s", name);
	file = open_source(path);
	while (fgets(line, sizeof(line), file) != NULL) {
		for (char *at = strstr(line, "('"); at != NULL;
		     at = strstr(at + 2, "('")) {
			char right[40] = " +";
			size_t n = 2;

			if (at - line < 4 || (strncmp(at - 4, "call", 4) != 0 &&
					      strncmp(at - 3, "try", 3) != 0)) {
				continue;
			}
			for (char *p = at + 2; isalpha((unsigned char)*p) &&
					       n + 1 < sizeof(right);
			     p++) {
				right[n++] = (char)tolower((unsigned char)*p);
			}
			cr_expect_not_null(strstr(rules, right), "%s:%s", name,
					   right);
		}
	}
	fclose(file);
}

Test(redis_user, may_run_every_command_of_the_scripts)
{
	char rules[RULES_MAX];
	char path[512];
	const struct dirent *entry;
	int scripts = 0;
	DIR *dir;

	read_rules(rules);
	snprintf(path, sizeof(path), "%s/lua", getenv("RAIN_SOURCE"));
	dir = opendir(path);
	cr_assert_not_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (strstr(entry->d_name, ".lua") != NULL) {
			compare_script(entry->d_name, rules);
			scripts++;
		}
	}
	closedir(dir);
	cr_assert_gt(scripts, 5);
}
