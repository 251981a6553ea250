/* The frame of a service, seen from outside: service_host.c runs in it. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/http_get.h"
#include "lib/process.h"

enum { SOON_MS = 20000 };

static struct process host;
static char ini[] = "/tmp/test_service.XXXXXX";

static void setup(void)
{
	int fd = mkstemp(ini);

	cr_assert_geq(fd, 0);
	(void)close(fd);
}

static void teardown(void)
{
	(void)unlink(ini);
	process_close(&host);
}

TestSuite(service, .init = setup, .fini = teardown);

static void run(const char *const *args)
{
	const char *argv[16] = { SERVICE_HOST };
	size_t n = 1;

	while (*args != NULL) {
		argv[n++] = *args++;
	}
	argv[n] = NULL;
	process_start(&host, argv, NULL);
}

#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })

static void expect_text(const char *part)
{
	cr_assert(process_wait_text(&host, part, SOON_MS), "%s not in: %s",
		  part, process_text(&host));
}

static void expect_exit(int code)
{
	int got = process_wait(&host, SOON_MS);

	cr_assert_eq(got, code, "%d instead of %d: %s", got, code,
		     process_text(&host));
}

/* The port that the log names. */
static int http_port(void)
{
	static const char mark[] = "event=\"http listens\" addr=127.0.0.1:";

	expect_text(mark);
	expect_text("\n");
	return (int)strtol(strstr(process_text(&host), mark) + strlen(mark),
			   NULL, 10);
}

/* Ask until the status is this; the body of that answer. */
static const char *wait_status(int port, const char *path, int status)
{
	static struct buf body;
	uint64_t end = clock_mono_ms() + SOON_MS;
	int got;

	do {
		buf_close(&body);
		got = http_request(port, "GET", path, &body);
		cr_assert(clock_mono_ms() < end, "%s is %d, not %d", path, got,
			  status);
		if (got != status) {
			(void)poll(NULL, 0, 20);
		}
	} while (got != status);
	return (const char *)body.mem;
}

static void write_ini(const char *text)
{
	FILE *f = fopen(ini, "w");

	cr_assert_not_null(f);
	(void)fputs(text, f);
	(void)fclose(f);
}

Test(service, prints_what_is_asked_for)
{
	RUN("--help");
	expect_exit(0);
	expect_text("--check-config");
	expect_text("  host.fixed_max = 7\n      needs a restart\n");
	expect_text("  host.live = 1\n      changes (SIGHUP applies it)\n");
	expect_text("drain.timeout");
	process_close(&host);
	RUN("--version");
	expect_exit(0);
	expect_text("service-host 0.");
}

Test(service, names_every_problem_of_options_and_configuration)
{
	RUN("--confg=x");
	expect_exit(1);
	expect_text("service-host: --confg=x: no such option");
	process_close(&host);
	write_ini("[host]\nlive = 0\n");
	RUN("--config", ini, "--set=host.mode=x", "--set", "a.b=c");
	expect_exit(1);
	expect_text(":2: host.live: ");
	expect_text("--set host.mode: ");
	expect_text("--set a.b: no such key");
}

Test(service, checks_a_good_configuration)
{
	write_ini("[host]\nlive = 2\n");
	RUN("--check-config", "--config", ini);
	expect_exit(0);
	expect_text("fine");
}

/* What the table can't say: told with the rest, and before a start as well. */
Test(service, checks_what_only_the_service_knows)
{
	RUN("--check-config", "--set=kafka.never=1", "--set=a.b=c",
	    "--set=http.listen=foo");
	expect_exit(1);
	expect_text("--set a.b: no such key");
	expect_text("kafka.never: is not so; allowed: ever\n");
	expect_text("http.listen: \"foo\" is no address; allowed: host:port");
	process_close(&host);
	RUN("--set=kafka.never=1");
	expect_exit(1);
	expect_text("kafka.never: is not so");
}

Test(service, dumps_without_secrets)
{
	RUN("--dump-config", "--set", "host.secret=hunter2");
	expect_exit(0);
	expect_text("secret = *** ; --set\n");
	cr_assert_null(strstr(process_text(&host), "hunter2"));
}

Test(service, serves_its_pages_and_drains)
{
	int port;

	RUN("--set", "http.listen=127.0.0.1:0", "--set", "host.secret=hunter2");
	port = http_port();
	cr_assert_not_null(strstr(wait_status(port, "/readyz", 200),
				  "{\"ready\":true,\"failing\":[]}"));
	cr_assert_str_eq(wait_status(port, "/livez", 200), "ok\n");
	cr_assert_not_null(
		strstr(wait_status(port, "/metrics", 200), "\nrain_ready 1\n"));
	(void)wait_status(port, "/other", 404);
	cr_assert_eq(http_request(port, "POST", "/livez", NULL), 405);
	cr_assert_eq(http_request(port, "HEAD", "/livez", NULL), 200);
	expect_text("event=bounds limits=\"host.fixed_max=7 "
		    "host.all_total=9\"");
	process_signal(&host, SIGTERM);
	expect_exit(0);
	expect_text("event=draining");
	expect_text("event=stopped exit=0");
	cr_assert_null(strstr(process_text(&host), "hunter2"));
}

/* Neither ends the process the way of a program that does not hear them. */
Test(service, hears_what_comes_before_it_can)
{
	sigset_t early;

	(void)sigemptyset(&early);
	(void)sigaddset(&early, SIGHUP);
	(void)sigaddset(&early, SIGTERM);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &early, NULL), 0);
	RUN("--config", ini);
	process_signal(&host, SIGHUP);
	process_signal(&host, SIGTERM);
	expect_exit(0);
	expect_text("event=\"configuration reloaded\"");
	expect_text("event=draining");
}

/* A connection from 127.0.0.2 to 127.0.0.9, in turns, and from where the test
 * itself asks, that says text and nothing more. */
static int stranger(int port, const char *text)
{
	struct sockaddr_in from = { .sin_family = AF_INET };
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static unsigned turn;

	from.sin_addr.s_addr = htonl(INADDR_LOOPBACK + turn++ % 9);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_geq(fd, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	cr_assert_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	(void)!send(fd, text, strlen(text), MSG_NOSIGNAL);
	return fd;
}

Test(service, who_sits_on_its_pages_does_not_keep_others_away)
{
	int port;

	RUN("--set", "http.listen=127.0.0.1:0");
	port = http_port();
	(void)wait_status(port, "/readyz", 200);
	for (int i = 0; i < 100; i++) {
		(void)stranger(port, "GET /livez HTTP/1.1\r\nHost: x\r\n");
		if (i % 10 == 0) {
			cr_assert_eq(http_request(port, "GET", "/livez", NULL),
				     200);
		}
	}
	cr_assert_eq(http_request(port, "GET", "/livez", NULL), 200);
}

Test(service, waits_for_no_body)
{
	char text[16] = "";
	struct pollfd answer = { .events = POLLIN };
	int port;

	RUN("--set", "http.listen=127.0.0.1:0");
	port = http_port();
	answer.fd = stranger(port, "POST /metrics HTTP/1.1\r\nHost: x\r\n"
				   "Content-Length: 1000000000\r\n\r\nx");
	cr_assert_eq(poll(&answer, 1, SOON_MS), 1);
	cr_assert_eq(recv(answer.fd, text, 12, MSG_WAITALL), 12);
	cr_assert_str_eq(text, "HTTP/1.1 405");
}

Test(service, ready_with_notes_is_ready)
{
	int port;

	RUN("--set", "http.listen=127.0.0.1:0", "--set", "host.mode=notes");
	port = http_port();
	cr_assert_not_null(strstr(wait_status(port, "/readyz", 200),
				  "{\"ready\":true,\"failing\":[],"
				  "\"notes\":[\"one of many waits\"]}"));
}

Test(service, says_why_it_is_not_ready)
{
	int port;

	RUN("--set", "http.listen=127.0.0.1:0", "--set", "host.ready_after=1h");
	port = http_port();
	expect_text("event=started");
	cr_assert_not_null(strstr(wait_status(port, "/readyz", 503),
				  "{\"ready\":false,\"failing\":"
				  "[\"timer: \\\"not yet\\\"\"]}"));
	process_signal(&host, SIGINT);
	expect_exit(0);
}

Test(service, reloads_live_keys)
{
	write_ini("[host]\nlive = 2\n");
	RUN("--config", ini, "--set", "log.level=debug");
	expect_text("event=started");
	write_ini("[host]\nlive = 3\nfixed_max = 8\n[kafka]\nx.y = 1\n");
	process_signal(&host, SIGHUP);
	expect_text(
		"event=\"configuration changed\" key=host.live from=2 to=3");
	expect_text("needs a restart\" key=host.fixed_max");
	expect_text("needs a restart\" key=kafka.x.y");
	expect_text("event=\"reload seen\" live=3 fixed_max=7");
	write_ini("[host]\nlive = 4\nfixed_mx = 8\n");
	process_signal(&host, SIGHUP);
	expect_text("event=\"configuration refused\"");
	expect_text("did you mean host.fixed_max?");
	cr_assert_null(strstr(process_text(&host), "live=4"));
	process_signal(&host, SIGTERM);
	expect_exit(0);
}

/* What a start would refuse a reload refuses too, all of it; and so what
 * would only come of the new live keys beside the old others. */
Test(service, reloads_all_or_nothing)
{
	write_ini("[host]\nlive = 2\n");
	RUN("--config", ini);
	expect_text("event=started");
	write_ini("[host]\nlive = 3\n[kafka]\nnever = 1\n");
	process_signal(&host, SIGHUP);
	expect_text("kafka.never: is not so");
	expect_text("event=\"the configuration stays as it was\"");
	write_ini("[host]\nlive = 8\nfixed_max = 8\n[log]\nlevel = error\n");
	process_signal(&host, SIGHUP);
	expect_text("host.live: is above host.fixed_max");
	write_ini("[host]\nlive = 4\n");
	process_signal(&host, SIGHUP);
	expect_text("event=\"reload seen\" live=4 fixed_max=7");
	cr_assert_null(strstr(process_text(&host), "live=3"));
	cr_assert_null(strstr(process_text(&host), "live=8"));
	process_signal(&host, SIGTERM);
	expect_exit(0);
}

Test(service, a_failed_start_exits_2)
{
	RUN("--set", "host.mode=no_start");
	expect_exit(2);
}

Test(service, an_address_in_use_exits_2)
{
	RUN("--set", "http.listen=192.0.2.1:1");
	expect_exit(2);
	expect_text("http cannot listen");
}

Test(service, giving_up_exits_3)
{
	RUN("--set", "host.mode=give_up");
	expect_exit(3);
	expect_text("event=\"giving up\" why=\"the test says so\"");
	expect_text("event=draining");
}

Test(service, a_drain_has_a_limit)
{
	RUN("--set", "host.mode=no_drain", "--set", "drain.timeout=50ms");
	expect_text("event=started");
	process_signal(&host, SIGTERM);
	expect_exit(3);
	expect_text("drain took too long");
	expect_text("event=\"not finished\" what=\"the first\"");
	expect_text("event=\"not finished\" what=\"the second\"");
	expect_text("event=stopped exit=3");
}

Test(service, a_second_signal_ends_it_at_once)
{
	RUN("--set", "host.mode=no_drain", "--set", "drain.timeout=1h");
	expect_text("event=started");
	process_signal(&host, SIGTERM);
	expect_text("event=draining");
	process_signal(&host, SIGTERM);
	expect_exit(3);
	expect_text("second signal");
	expect_text("event=\"not finished\" what=\"the first\"");
}

#ifndef __OPTIMIZE__
Test(service, a_handle_left_open_is_our_mistake)
{
	RUN("--set", "host.mode=leak");
	expect_text("event=started");
	process_signal(&host, SIGTERM);
	expect_exit(128 + SIGABRT);
	expect_text("event=\"handle left open\" type=timer");
}
#endif

Test(service, a_stuck_loop_does_not_live)
{
	int port;

	RUN("--set", "http.listen=127.0.0.1:0", "--set", "host.mode=stuck");
	port = http_port();
	cr_assert_not_null(strstr(wait_status(port, "/livez", 503), "silent"));
	cr_assert_not_null(strstr(wait_status(port, "/readyz", 503), "silent"));
}

Test(service, tells_its_parent_when_it_is_ready)
{
	const char *const argv[] = { SERVICE_HOST, NULL };
	const char *const env[] = { "RAIN_READY_FD=1", NULL };

	/* 1 is its stdout, which the log does not use. */
	process_start(&host, argv, env);
	expect_text("ready\n");
	process_signal(&host, SIGTERM);
	expect_exit(0);
}
