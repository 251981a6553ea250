/* The command line of rainbench: what is taken, and what is said of the rest. */
#include <criterion/criterion.h>
#include <string.h>

#include "bench/options.h"

enum { ARGS_MAX = 64 };

static struct options o;
static char said[1024];

/* The arguments with spaces between. */
static enum options_outcome take(const char *line)
{
	char text[2048];
	char *argv[ARGS_MAX] = { text };
	int argc = 1;
	struct buf why;
	enum options_outcome outcome;

	snprintf(text, sizeof text, "%s", line);
	for (char *at = text; *at != '\0' && argc < ARGS_MAX;) {
		size_t len = strcspn(at, " ");
		char *next = at + len + (at[len] != '\0');

		at[len] = '\0';
		argv[argc++] = at;
		at = next;
	}
	buf_init(&why);
	outcome = options_take(&o, argc, argv, &why);
	snprintf(said, sizeof said, "%.*s", BYTES_FMT(buf_live(&why)));
	buf_close(&why);
	return outcome;
}

#define GATEWAY "--target tcp://127.0.0.1:7000 --keys k --activity night "

Test(bench_options, what_is_not_given)
{
	cr_assert_eq(take("--target tcp://gw:7000 --keys k --activity night"),
		     OPTIONS_RUN, "%s", said);
	cr_assert_str_eq(o.targets[0], "gw:7000");
	cr_assert_eq(o.scope, SCOPE_USER);
	cr_assert_eq(o.rate, 0);
	cr_assert_eq(o.in_flight, 1);
	cr_assert_eq(o.conns, 50);
	cr_assert_eq(o.users, 50);
	cr_assert_eq(o.taps, 0);
	cr_assert_eq(o.duration_ms, 10000);
	cr_assert_eq(o.warmup_ms, 0);
	cr_assert_eq(o.threads, 1);
	cr_assert_eq(o.retry, RETRY_NEVER);
	cr_assert_str_eq(o.activities[0], "night");
	options_free(&o);
	cr_assert_eq(take(GATEWAY "--front"), OPTIONS_RUN);
	cr_assert_eq(o.users, 1000000);
	options_free(&o);
}

Test(bench_options, what_is_given)
{
	cr_assert_eq(take("--target=tcp://127.0.0.1:7000,tcp://[::1]:7001 "
			  "--keys=k --activity a --activity b --front --rate "
			  "50000 --conns=8 --users 9 --first-user 1000000 "
			  "--taps 2 --duration 90s --warmup 500ms --ramp 1m "
			  "--threads 2 --retry honour --not-after 9s --json "
			  "--quiet --hgrm x"),
		     OPTIONS_RUN, "%s", said);
	cr_assert_eq(o.target_count, 2);
	cr_assert_str_eq(o.targets[1], "[::1]:7001");
	cr_assert_eq(o.activity_count, 2);
	cr_assert_str_eq(o.activities[1], "b");
	cr_assert_eq(o.scope, SCOPE_FRONT);
	cr_assert_eq(o.rate, 50000);
	cr_assert_eq(o.conns, 8);
	cr_assert_eq(o.users, 9);
	cr_assert_eq(o.first_user, 1000000);
	cr_assert_eq(o.taps, 2);
	cr_assert_eq(o.duration_ms, 90000);
	cr_assert_eq(o.warmup_ms, 500);
	cr_assert_eq(o.ramp_ms, 60000);
	cr_assert_eq(o.threads, 2);
	cr_assert_eq(o.retry, RETRY_HONOUR);
	cr_assert_eq(o.not_after_ms, 9000);
	cr_assert(o.json && o.quiet && !o.idle);
	options_free(&o);
}

Test(bench_options, many_activities)
{
	cr_assert_eq(take("--target tcp://h:1 --keys k --activity r%d-x "
			  "--activities 40"),
		     OPTIONS_RUN, "%s", said);
	cr_assert_eq(o.activity_count, 40);
	cr_assert_str_eq(o.activities[0], "r1-x");
	cr_assert_str_eq(o.activities[39], "r40-x");
	options_free(&o);
}

Test(bench_options, echo_and_idle)
{
	cr_assert_eq(take("--target tcp://h:1 --echo"), OPTIONS_RUN, "%s",
		     said);
	cr_assert_eq(o.scope, SCOPE_ECHO);
	cr_assert_eq(o.activity_count, 1);
	options_free(&o);
	cr_assert_eq(take("--target tcp://h:1 --keys k --idle --conns 18000"),
		     OPTIONS_RUN, "%s", said);
	cr_assert(o.idle);
	options_free(&o);
	cr_assert_eq(take("--help"), OPTIONS_HELP);
	options_free(&o);
}

/* What is wrong, and a part of the sentence that says so. */
static const struct {
	const char *line;
	const char *part;
} wrong[] = {
	{ "", "--target is missing" },
	{ "--target tcp://h:1 --activity a", "--keys is missing" },
	{ "--target tcp://h:1 --keys k", "--activity is missing" },
	{ "--target tls://h:1", "tls:// and others are not spoken" },
	{ "--target h:1", "is not tcp://HOST:PORT" },
	{ "--target tcp://h", "is not tcp://HOST:PORT" },
	{ "--target tcp://h:0", "is not tcp://HOST:PORT" },
	{ "--target tcp://h:70000", "is not tcp://HOST:PORT" },
	{ "--target tcp://unix:/x", "is not tcp://HOST:PORT" },
	{ "--target", "a value is missing after --target" },
	{ "--keys=", "a value is missing after --keys" },
	{ "--json=yes", "--json takes no value" },
	{ "--watch gateway", "NAME=PID" },
	{ "--watch gateway=0x1", "NAME=PID" },
	{ "--watch gateway=4194304", "a process that runs" },
	{ "--rates 5", "there is no option '--rates'" },
	{ "night", "there is no option 'night'" },
	{ GATEWAY "--rate 0", "--rate is a number from 1 to 10000000" },
	{ GATEWAY "--rate 1e6", "not '1e6'" },
	{ GATEWAY "--rate -1", "not '-1'" },
	{ GATEWAY "--conns 60001", "--conns is a number from 1 to 60000" },
	{ GATEWAY "--in-flight 16385", "from 1 to 16384" },
	{ GATEWAY "--duration 5h", "--duration is a time" },
	{ GATEWAY "--duration s", "--duration is a time" },
	{ GATEWAY "--not-after 11s", "from 1 ms to 10 s" },
	{ GATEWAY "--retry maybe", "never, honour or ignore, not 'maybe'" },
	{ GATEWAY "--rate 5 --in-flight 2", "exclude one another" },
	{ GATEWAY "--duration 0", "say how often with --taps N" },
	{ GATEWAY "--duration 2 --warmup 2s", "--warmup is a part" },
	{ GATEWAY "--duration 2 --ramp 3s", "--ramp is a part" },
	{ GATEWAY "--threads 51", "--threads is more than --conns" },
	{ GATEWAY "--front --users 1 --threads 2", "needs a user" },
	{ GATEWAY "--activities 3", "go together" },
	{ "--target tcp://h:1 --keys k --activity a%d", "go together" },
	{ "--target tcp://h:1 --keys k --activity a/b", "is not an id" },
	{ "--target tcp://h:1 --keys k --activity a%d --activities 3 --front "
	  "--users 100000000",
	  "at most 200000000" },
	{ "--target tcp://h:1 --echo --keys k", "says no Hello" },
	{ "--target tcp://h:1 --echo --taps 3", "knows no users" },
	{ "--target tcp://h:1 --keys k --idle --rate 5", "sends no taps" },
	{ "--target tcp://h:1 --keys k --idle --activity a", "sends no taps" },
};

Test(bench_options, what_is_wrong_is_said)
{
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		cr_assert_eq(take(wrong[i].line), OPTIONS_WRONG, "%s",
			     wrong[i].line);
		cr_assert(strstr(said, wrong[i].part) != NULL, "'%s' says: %s",
			  wrong[i].line, said);
		options_free(&o);
	}
}
