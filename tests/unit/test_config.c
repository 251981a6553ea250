#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"

struct options {
	const char *listen;
	const char *kind;
	const char *secret;
	int64_t loops;
	int64_t out_max;
	int64_t wait_ms;
	bool fast;
};

struct more {
	int64_t level;
};

static const struct config_key keys[] = {
	{ "gateway.listen", CONFIG_STRING, offsetof(struct options, listen),
	  "127.0.0.1:7000", .flags = CONFIG_REQUIRED, .help = "address" },
	{ "gateway.kind", CONFIG_CHOICE, offsetof(struct options, kind),
	  "redis", .choices = "redis|replica" },
	{ "gateway.secret", CONFIG_STRING, offsetof(struct options, secret), "",
	  .flags = CONFIG_SECRET | CONFIG_LIVE },
	{ "gateway.loops", CONFIG_INT, offsetof(struct options, loops), "1",
	  .min = 1, .max = 64, .flags = CONFIG_LIVE },
	{ "gateway.out_max", CONFIG_SIZE, offsetof(struct options, out_max),
	  "64KiB", .min = 1024, .max = 1048576 },
	{ "gateway.wait-time", CONFIG_TIME, offsetof(struct options, wait_ms),
	  "10s", .min = 1, .max = 60000 },
	{ "gateway.fast", CONFIG_BOOL, offsetof(struct options, fast), "no",
	  .help = "speed" },
	{ 0 },
};

static const struct config_key more_keys[] = {
	{ "log.level", CONFIG_INT, offsetof(struct more, level), "3",
	  .flags = CONFIG_LIVE },
	{ 0 },
};

static struct config c;
static struct options o;
static struct more m;
static char path[] = "/tmp/test_config.XXXXXX";

static void setup(void)
{
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	(void)close(fd);
	config_init(&c, keys, &o, "kafka");
	config_add(&c, more_keys, &m);
}

static void teardown(void)
{
	config_close(&c);
	(void)unlink(path);
}

TestSuite(config, .init = setup, .fini = teardown);

static int read_text(struct config *into, const char *text)
{
	FILE *f = fopen(path, "w");

	cr_assert_not_null(f);
	(void)fputs(text, f);
	(void)fclose(f);
	return config_read_file(into, path);
}

static int read_env(const char *const *list)
{
	/* environ has no const, though nobody changes it. */
	return config_read_env(&c, (char **)(uintptr_t)list);
}

/* All errors are these lines, each after "FILE:" where it begins with one. */
static void expect_errors(const char *want)
{
	char *got = xstrndup(buf_live(&c.errors).p, buf_len(&c.errors));
	char *name;

	while ((name = strstr(got, path)) != NULL) {
		(void)memmove(name, "FILE", 4);
		(void)memmove(name + 4, name + strlen(path),
			      strlen(name + strlen(path)) + 1);
	}
	cr_assert_str_eq(got, want);
	free(got);
}

/* Whoever names the wrong file sees the beginning of it, not all. */
Test(config, stops_where_nobody_reads_on)
{
	char *text = xcalloc(100001, 4);
	char *errors;

	for (size_t i = 0; i < 100000; i++) {
		memcpy(text + i * 4, "abc\n", 4);
	}
	cr_assert_neq(read_text(&c, text), 0);
	errors = xstrndup(buf_live(&c.errors).p, buf_len(&c.errors));
	cr_assert_lt(strlen(errors), 20000);
	cr_assert_not_null(
		strstr(errors, ":150: neither [section] nor key = value"));
	cr_assert_not_null(strstr(
		errors,
		": the rest is not read: there are too many problems\n"));
	free(errors);
	free(text);
}

Test(config, starts_with_the_defaults)
{
	cr_assert_str_eq(o.listen, "127.0.0.1:7000");
	cr_assert_str_eq(o.kind, "redis");
	cr_assert_str_eq(o.secret, "");
	cr_assert_eq(o.loops, 1);
	cr_assert_eq(o.out_max, 65536);
	cr_assert_eq(o.wait_ms, 10000);
	cr_assert(!o.fast);
	cr_assert_eq(m.level, 3);
	cr_assert_eq(config_finish(&c), 0);
}

Test(config, reads_a_file)
{
	cr_assert_eq(read_text(&c, "\xef\xbb\xbf; a comment\n"
				   "[gateway]\r\n"
				   "listen = [::1]:7000 ; and a remark\n"
				   "  kind=replica\n"
				   "# another\n"
				   "loops : 64\n"
				   "out_max = 1KiB\n"
				   "wait-time = 1m\n"
				   "fast = on\n"
				   "[kafka]\n"
				   "bootstrap.servers = a:1,b:2\n"
				   "[log]\nlevel = -7"),
		     0);
	cr_assert_str_eq(o.listen, "[::1]:7000");
	cr_assert_str_eq(o.kind, "replica");
	cr_assert_eq(o.loops, 64);
	cr_assert_eq(o.out_max, 1024);
	cr_assert_eq(o.wait_ms, 60000);
	cr_assert(o.fast);
	cr_assert_eq(m.level, -7);
	cr_assert_eq(c.pair_count, 1);
	cr_assert_str_eq(c.pairs[0].name, "bootstrap.servers");
	cr_assert_str_eq(c.pairs[0].value, "a:1,b:2");
	expect_errors("");
}

Test(config, names_every_problem_of_a_file)
{
	cr_assert_neq(read_text(&c, "early = 1\n"
				    "[gateway]\n"
				    "just words\n"
				    "loops = 65\n"
				    "lisen = x\n"
				    "kind = mysql\n"
				    "wait-time = 10\n"
				    "out_max = 1KB\n"
				    "fast = maybe\n"
				    "[gatway]\n"
				    "loops = 2\n"
				    "[broken\n"
				    "[gateway]\n"
				    "loops = 3\n"),
		      0);
	expect_errors(
		"FILE:1: a key in front of the first [section]\n"
		"FILE:3: neither [section] nor key = value nor ; comment\n"
		"FILE:4: gateway.loops: \"65\" is too large; allowed: a whole "
		"number, 1 to 64\n"
		"FILE:5: gateway.lisen: no such key; did you mean "
		"gateway.listen?; allowed: gateway.listen, gateway.kind, "
		"gateway.secret, gateway.loops, gateway.out_max, "
		"gateway.wait-time, gateway.fast\n"
		"FILE:6: gateway.kind: \"mysql\" cannot be read; allowed: "
		"redis, replica\n"
		"FILE:7: gateway.wait-time: \"10\" cannot be read; allowed: a "
		"time like 250ms, 10s, 5m, 2h, 1ms to 1m\n"
		"FILE:8: gateway.out_max: \"1KB\" cannot be read; allowed: "
		"bytes like 512, 16KiB, 8MiB, 1GiB, 1KiB to 1MiB\n"
		"FILE:9: gateway.fast: \"maybe\" cannot be read; allowed: true, "
		"false, yes, no, on, off, 1, 0\n"
		"FILE:11: gatway.loops: no such key; did you mean "
		"gateway.loops?; allowed sections: gateway, log, kafka\n"
		"FILE:12: neither [section] nor key = value nor ; comment\n"
		"FILE:14: gateway.loops: given twice, first in line 4\n");
	cr_assert_eq(o.loops, 1, "a refused value changes nothing");
}

Test(config, refuses_a_line_that_is_too_long)
{
	char *text = xmalloc(20000);

	(void)memset(text, 'x', 20000);
	(void)memcpy(text, "[kafka]\na = ", 12);
	(void)memcpy(text + 19000, "\n[oops]\nb=1\n", 13);
	cr_assert_neq(read_text(&c, text), 0);
	free(text);
	expect_errors("FILE:2: the line is too long or holds a zero byte\n"
		      "FILE:4: oops.b: no such key; allowed sections: gateway, "
		      "log, kafka\n");
}

Test(config, takes_long_values)
{
	char text[6000];

	(void)memset(text, 'x', sizeof(text));
	(void)memcpy(text, "[kafka]\na = ", 12);
	text[5990] = '\0';
	cr_assert_eq(read_text(&c, text), 0);
	cr_assert_eq(strlen(c.pairs[0].value), 5990 - 12);
}

Test(config, a_file_must_be_there)
{
	cr_assert_neq(config_read_file(&c, "/nonexistent/x.ini"), 0);
	cr_assert_neq(config_read_file(&c, "/tmp"), 0);
	expect_errors("/nonexistent/x.ini: cannot be read: No such file or "
		      "directory\n"
		      "/tmp: cannot be read: Is a directory\n");
}

Test(config, the_stronger_source_wins_in_any_order)
{
	const char *const env[] = { "RAIN_GATEWAY_LOOPS=3",
				    "RAIN_GATEWAY_WAIT_TIME=2s", "PATH=/bin",
				    NULL };

	cr_assert_eq(config_set(&c, "gateway.loops=4"), 0);
	cr_assert_eq(config_set(&c, "gateway.listen=a=b"), 0);
	cr_assert_eq(read_env(env), 0);
	cr_assert_eq(read_text(&c, "[gateway]\nloops=2\nwait-time=1s\n"
				   "out_max=2KiB\n"),
		     0);
	cr_assert_eq(o.loops, 4);
	cr_assert_eq(o.wait_ms, 2000);
	cr_assert_eq(o.out_max, 2048);
	cr_assert_str_eq(o.listen, "a=b");
}

Test(config, the_environment_must_name_keys)
{
	const char *const env[] = { "RAIN_GATEWAY_LOPS=3",
				    "RAIN_KAFKA_SOCKET_TIMEOUT_MS=1",
				    "RAIN_BIN=/x",
				    "RAIN_SOURCE=/x",
				    "RAIN_LOOPS=3",
				    "RAIN_GATEWAY_LOOPS=0",
				    NULL };

	cr_assert_neq(read_env(env), 0);
	cr_assert_eq(c.pair_count, 1);
	cr_assert_str_eq(c.pairs[0].name, "socket.timeout.ms");
	expect_errors("environment RAIN_GATEWAY_LOPS: names no key; did you "
		      "mean gateway.loops?; allowed: gateway.listen, "
		      "gateway.kind, gateway.secret, gateway.loops, "
		      "gateway.out_max, gateway.wait-time, gateway.fast\n"
		      "environment RAIN_LOOPS: names no key; allowed sections: "
		      "gateway, log, kafka\n"
		      "environment RAIN_GATEWAY_LOOPS: \"0\" is too small; "
		      "allowed: a whole number, 1 to 64\n");
}

Test(config, set_says_what_is_wrong)
{
	cr_assert_neq(config_set(&c, "gateway.loops"), 0);
	cr_assert_neq(config_set(&c, "gateway.loops=x"), 0);
	cr_assert_neq(config_set(&c, "kafka.=x"), 0);
	cr_assert_neq(config_set(&c, "gateway.secret=a\x01"), 0);
	cr_assert_eq(config_set(&c, "gateway.listen="), 0);
	cr_assert_neq(config_finish(&c), 0);
	expect_errors("--set: no '='; allowed: section.key=value\n"
		      "--set gateway.loops: \"x\" cannot be read; allowed: a "
		      "whole number, 1 to 64\n"
		      "--set kafka.: no such key; allowed sections: gateway, "
		      "log, kafka\n"
		      "--set gateway.secret: *** cannot be read; allowed: text "
		      "on one line\n"
		      "gateway.listen: must not be empty; set it in the file, "
		      "with --set or as RAIN_GATEWAY_LISTEN\n");
}

/* What print writes, in a static buffer. */
static const char *printed(void (*print)(const struct config *, FILE *))
{
	static char text[8192];
	FILE *f = fmemopen(text, sizeof(text), "w");

	cr_assert_not_null(f);
	print(&c, f);
	(void)fclose(f);
	return text;
}

Test(config, a_dump_hides_secrets_and_can_be_read_again)
{
	const char *dump;

	cr_assert_eq(config_set(&c, "gateway.secret=hunter2"), 0);
	cr_assert_eq(config_set(&c, "kafka.sasl.password=hunter3"), 0);
	cr_assert_eq(config_set(&c, "kafka.linger.ms=5"), 0);
	cr_assert_eq(config_set(&c, "gateway.loops=9"), 0);
	dump = printed(config_dump);
	cr_assert_null(strstr(dump, "hunter"));
	cr_assert_not_null(strstr(dump, "secret = *** ; --set\n"));
	cr_assert_not_null(strstr(dump, "\n[kafka]\nsasl.password = *** ; "
					"--set\nlinger.ms = 5 ; --set\n"));
	cr_assert_eq(read_text(&c, dump), 0);
}

static void print_example(const struct config *config, FILE *out)
{
	config_example(config->keys, config->pass_section, out);
}

/* Without its comment marks, the example is a valid file of the defaults. */
Test(config, the_example_holds_the_defaults)
{
	char text[8192];
	size_t n = 0;

	for (const char *at = printed(print_example); *at != '\0'; at++) {
		bool mark = at[0] == ';' && at[1] != ' ' && at[1] != '\n';

		if (!mark) {
			text[n++] = *at;
		}
	}
	text[n] = '\0';
	cr_assert_eq(read_text(&c, text), 0);
	cr_assert_eq(o.loops, 1);
	cr_assert_not_null(strstr(text, "wait-time = 10s\n"));
	cr_assert_not_null(strstr(printed(config_dump), "wait-time = 10s ; /"));
}

Test(config, a_reload_takes_over_live_keys_only)
{
	struct config fresh;
	const char *old;

	cr_assert_eq(config_set(&c, "gateway.secret=one"), 0);
	old = o.secret;
	config_init_like(&fresh, &c);
	cr_assert_eq(config_set(&fresh, "gateway.secret=two"), 0);
	cr_assert_eq(config_set(&fresh, "gateway.out_max=2KiB"), 0);
	cr_assert_eq(config_set(&fresh, "gateway.loops=5"), 0);
	cr_assert_eq(config_set(&fresh, "log.level=4"), 0);
	cr_assert_str_eq(o.secret, "one", "nothing is seen before");
	cr_assert_eq(config_apply(&c, &fresh), 3);
	config_close(&fresh);
	cr_assert_str_eq(o.secret, "two");
	cr_assert_str_eq(old, "one", "a replaced string stays valid");
	cr_assert_eq(o.loops, 5);
	cr_assert_eq(m.level, 4);
	cr_assert_eq(o.out_max, 65536, "this one needs a restart");
}

Test(config, bounds_are_the_numbers_called_max)
{
	struct buf b;

	buf_init(&b);
	config_bounds(&c, &b);
	cr_assert(bytes_eq(buf_live(&b), BYTES("gateway.out_max=65536")));
	buf_close(&b);
}

Test(config, two_keys_of_one_variable_are_our_mistake, .signal = SIGABRT)
{
	static const struct config_key clash[] = {
		{ "gateway.out-max", CONFIG_INT, 0, "1", .help = "clash" },
		{ 0 },
	};

	config_add(&c, clash, &m);
}
