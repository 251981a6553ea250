#include <criterion/criterion.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

static FILE *caught;
static char line[8192];

/* Send what follows to a file; each test runs in a process of its own. */
static void catch_stderr(void)
{
	caught = tmpfile();
	cr_assert_not_null(caught);
	cr_assert_geq(dup2(fileno(caught), STDERR_FILENO), 0);
}

/* The next line that was logged, "" at the end. */
static const char *next(void)
{
	static long at;

	(void)fseek(caught, at, SEEK_SET);
	if (fgets(line, sizeof(line), caught) == NULL) {
		line[0] = '\0';
	}
	at += (long)strlen(line);
	(void)fseek(caught, 0, SEEK_END);
	return line;
}

static void expect_end(const char *text, const char *end)
{
	size_t n = strlen(text);
	size_t m = strlen(end);

	cr_assert(n >= m && strcmp(text + n - m, end) == 0, "%s", text);
}

TestSuite(log, .init = catch_stderr);

Test(log, writes_logfmt)
{
	log_setup(LOG_INFO, LOG_LOGFMT, "proc");
	log_warn("redis lost", log_str("addr", "a:1"), log_int("n", -3),
		 log_err(ERR_TIMEOUT), log_str("none", ""),
		 log_str("null", NULL));
	expect_end(next(),
		   " level=warn process=proc event=\"redis lost\" "
		   "addr=a:1 n=-3 err=\"no answer within the deadline\" "
		   "none=\"\" null=\"\"\n");
	cr_assert_eq(strncmp(line, "ts=2", 4), 0);
	cr_assert_eq(line[strlen("ts=2000-01-01T00:00:00.000")], 'Z');
}

Test(log, one_event_is_one_line)
{
	log_info("e", log_str("a", "x\ny\"z\\\x01"),
		 log_bytes("b", BYTES("\xff\xfe.")),
		 log_str("c", "\xe7\xba\xa2"));
	expect_end(next(), "a=\"x\\ny\\\"z\\\\\\u0001\" b=\"??.\" "
			   "c=\"\xe7\xba\xa2\"\n");
	cr_assert_str_eq(next(), "");
}

Test(log, writes_json_that_parses)
{
	json_t *root;
	json_int_t n;
	const char *text;
	const char *event;

	log_setup(LOG_INFO, LOG_JSON, "proc");
	log_error("a \"b\"", log_int("n", INT64_MIN),
		  log_bytes("t", BYTES("\t\n\x7f\xff\\")));
	root = json_loads(next(), 0, NULL);
	cr_assert_not_null(root, "%s", line);
	cr_assert_eq(json_unpack(root, "{s:s,s:I,s:s}", "event", &event, "n",
				 &n, "t", &text),
		     0);
	cr_assert_str_eq(event, "a \"b\"");
	cr_assert_eq(n, INT64_MIN);
	cr_assert_str_eq(text, "\t\n\x7f?\\");
	json_decref(root);
}

Test(log, keeps_silent_below_its_level)
{
	log_setup(LOG_WARN, LOG_LOGFMT, NULL);
	log_info("no");
	log_debug("no");
	cr_assert(!log_on(LOG_INFO));
	cr_assert(log_on(LOG_ERROR));
	cr_assert_str_eq(next(), "");
	log_error("yes");
	expect_end(next(), " level=error event=yes\n");
}

/* However much is logged, the line fits a pipe's atomic write and parses. */
Test(log, cuts_what_is_too_long)
{
	char big[5000];
	json_t *root;

	(void)memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	log_setup(LOG_INFO, LOG_JSON, NULL);
	log_info("e", log_str("a", big), log_str("b", big), log_str("c", big),
		 log_int("d", 1));
	root = json_loads(next(), 0, NULL);
	cr_assert_not_null(root, "%s", line);
	cr_assert_leq(strlen(line), 4096);
	cr_assert_not_null(json_object_get(root, "a"));
	cr_assert_null(json_object_get(root, "c"));
	cr_assert(json_is_true(json_object_get(root, "cut")));
	json_decref(root);
}

static void *chatter(void *arg)
{
	for (int i = 0; i < 200; i++) {
		log_info("chatter", log_str("who", arg));
	}
	return NULL;
}

Test(log, lines_of_threads_stay_whole)
{
	static char names[2][2] = { "a", "b" };
	pthread_t threads[2];
	int count = 0;

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(
			pthread_create(&threads[i], NULL, chatter, names[i]),
			0);
	}
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
	}
	while (next()[0] != '\0') {
		cr_assert_not_null(strstr(line, " event=chatter who="));
		count++;
	}
	cr_assert_eq(count, 400);
}
