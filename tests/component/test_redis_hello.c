/* The first words on a connection, and the errors that end it: the client
 * against a Redis that says what we want. */
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "lib/redis_fake.h"
#include "lib/redis_rig.h"

static struct rig g;
static struct fake f;

static void setup(void)
{
	rig_open_loop(&g);
	fake_open(&f, g.hub);
}

static void start(void (*change)(struct redis_options *o))
{
	rig_start(&g, f.url, change);
}

static void teardown(void)
{
	fake_close(&f);
	rig_close(&g);
}

TestSuite(redis_hello, .init = setup, .fini = teardown);

/* ---- Hello ---- */

static char hello_url[8192];

static void hello_options(struct redis_options *o)
{
	snprintf(hello_url, sizeof(hello_url),
		 "unix://user:secret%%20word@%s?db=3", f.url + 5);
	o->url = hello_url;
	o->name = "grab-1";
}

Test(redis_hello, hello_in_order)
{
	start(hello_options);
	cr_assert_not(redis_ready(g.redis));
	cr_assert_eq(redis_connection(g.redis), 0);
	rig_ready(&g, true);
	cr_assert_eq(f.seen_count, 4);
	cr_assert_str_eq(f.seen[0], "AUTH user secret word");
	cr_assert_str_eq(f.seen[1], "SELECT 3");
	cr_assert_str_eq(f.seen[2], "CLIENT SETNAME grab-1");
	cr_assert_str_eq(f.seen[3], "PING");
	cr_assert_eq(redis_connection(g.redis), 1);
	cr_assert_eq(g.changes, 1);
	cr_assert(g.was_ready);
}

static void password_options(struct redis_options *o)
{
	hello_options(o);
	snprintf(hello_url, sizeof(hello_url), "unix://:topsecret@%s",
		 f.url + 5);
	o->backoff_max_ms = 40;
}

/* What the log said while it went to a file. */
static char said[8192];
static int kept_stderr;

static void catch_log(void)
{
	char name[] = "/tmp/rain-log-XXXXXX";
	int fd = mkstemp(name);

	cr_assert_geq(fd, 0);
	unlink(name);
	kept_stderr = dup(2);
	dup2(fd, 2);
	close(fd);
}

static void read_log(void)
{
	ssize_t n = pread(2, said, sizeof(said) - 1, 0);

	dup2(kept_stderr, 2);
	close(kept_stderr);
	said[n > 0 ? n : 0] = '\0';
}

Test(redis_hello, wrong_password_is_tried_slowly_and_never_logged)
{
	struct answer a;

	f.auth = "-ERR unknown command `AUTH`, with args beginning with: "
		 "`topsecret`, \r\n";
	f.ping = "-NOAUTH Authentication required.\r\n";
	catch_log();
	start(password_options);
	rig_send(&g, &a, 5000, "SAY +in");
	RUN_UNTIL(&g.loop, f.accepted >= 3);
	read_log();
	cr_assert_not(redis_ready(g.redis));
	cr_assert_eq(f.commands, 0);
	cr_assert_not_null(strstr(said, "unknown command"), "%s", said);
	cr_assert_null(strstr(said, "topsecret"), "%s", said);
	/* Once it lets us in, what waited goes through. */
	f.auth = NULL;
	f.ping = NULL;
	f.on_command = fake_repeat;
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_DONE);
}

Test(redis_hello, loading_is_polled_while_commands_wait)
{
	struct answer waits;
	struct answer expires;

	f.ping = "-LOADING Redis is loading the dataset in memory\r\n";
	f.on_command = fake_repeat;
	start(NULL);
	rig_send(&g, &waits, 5000, "SAY +hello");
	rig_send(&g, &expires, 50, "SAY +late");
	rig_answer(&g, &expires);
	cr_assert_eq(expires.outcome, REDIS_NOT_EXECUTED);
	RUN_UNTIL(&g.loop, f.seen_count >= 6); /* three hellos */
	cr_assert_eq(f.accepted, 1);
	cr_assert_eq(f.commands, 0);
	cr_assert_not(redis_ready(g.redis));
	cr_assert_eq(redis_connection(g.redis), 1);
	f.ping = NULL;
	rig_answer(&g, &waits);
	cr_assert_eq(waits.outcome, REDIS_DONE);
	cr_assert_str_eq(waits.text, "hello");
	cr_assert_eq(f.accepted, 1);
}

Test(redis_hello, loading_in_the_middle_stops_sending)
{
	struct answer a;
	struct answer b;

	f.on_command = fake_repeat;
	start(NULL);
	rig_ready(&g, true);
	f.ping = "-LOADING again\r\n";
	rig_send(&g, &a, 5000, "SAY -LOADING Redis is loading");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert_not(redis_ready(g.redis));
	rig_send(&g, &b, 5000, "SAY +b");
	RUN_UNTIL(&g.loop, f.seen_count >= 5);
	cr_assert_eq(f.commands, 1);
	f.ping = NULL;
	rig_answer(&g, &b);
	cr_assert_str_eq(b.text, "b");
	cr_assert_eq(g.changes, 3);
	cr_assert_eq(f.accepted, 1);
}

Test(redis_hello, too_many_clients_is_tried_again)
{
	f.on_accept = "-ERR max number of clients reached\r\n";
	start(NULL);
	RUN_UNTIL(&g.loop, f.accepted >= 3);
	cr_assert_not(redis_ready(g.redis));
	f.on_accept = NULL;
	rig_ready(&g, true);
}

static void short_connect(struct redis_options *o)
{
	o->connect_timeout_ms = 30;
}

Test(redis_hello, a_hello_without_an_answer_is_given_up)
{
	f.deaf = true;
	start(short_connect);
	RUN_UNTIL(&g.loop, f.accepted >= 3);
	cr_assert_not(redis_ready(g.redis));
	f.deaf = false;
	rig_ready(&g, true);
}

/* ---- Options ---- */

Test(redis_options, bad_ones_are_refused_without_the_secret)
{
	static const char *const urls[] = { NULL, "", "redis://u:topsecret@",
					    "rediss://u:topsecret@h:1" };
	struct redis_options o;
	struct redis *r;

	rig_open_loop(&g);
	catch_log();
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		redis_defaults(&o);
		o.url = urls[i];
		cr_expect_neq(redis_new(g.hub, &o, &r), 0);
		cr_expect_null(r);
	}
	redis_defaults(&o);
	o.backoff_max_ms = o.backoff_min_ms - 1;
	cr_expect_neq(redis_new(g.hub, &o, &r), 0);
	redis_defaults(&o);
	o.name = "two words";
	cr_expect_neq(redis_new(g.hub, &o, &r), 0);
	read_log();
	cr_assert_null(strstr(said, "topsecret"));
	rig_close(&g);
}
