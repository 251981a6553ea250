/* The real program: killed, drained, asked for its health. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "lib/kafka_broker.h"
#include "lib/ledger_fixture.h"
#include "lib/process.h"

enum { PATIENCE_MS = 20000 };

static struct fixture f;
static size_t sent;
static char topics[3][64];
static struct process worker;

static void setup(void)
{
	static const char *const stems[] = { "activities", "claims", "dlq" };

	fixture_open(&f);
	for (int i = 0; i < 3; i++) {
		kafka_broker_topic(topics[i], sizeof topics[i], stems[i]);
	}
	kafka_broker_create(topics[0], 2);
	kafka_broker_create(topics[1], 2);
}

static void teardown(void)
{
	process_close(&worker);
	fixture_sound(&f);
	fixture_close(&f);
}

TestSuite(process, .init = setup, .fini = teardown, .timeout = 90);

static void start(void)
{
	char program[512];
	char path[160];
	char names[3][128];
	char kafka[128];
	const char *bin = getenv("RAIN_BIN");
	const char *argv[] = { program,
			       "--set",
			       path,
			       "--set",
			       "ledger.listen=127.0.0.1:0",
			       "--set",
			       "http.listen=",
			       "--set",
			       "ledger.audit=1s",
			       "--set",
			       "grab.addresses=",
			       "--set",
			       names[0],
			       "--set",
			       names[1],
			       "--set",
			       names[2],
			       "--set",
			       kafka,
			       NULL };

	(void)snprintf(program, sizeof program, "%s/settle-worker",
		       bin == NULL ? "bin" : bin);
	(void)snprintf(path, sizeof path, "ledger.path=%s", f.path);
	(void)snprintf(names[0], sizeof names[0], "topics.activities=%s",
		       topics[0]);
	(void)snprintf(names[1], sizeof names[1], "topics.claims=%s",
		       topics[1]);
	(void)snprintf(names[2], sizeof names[2], "topics.dlq=%s", topics[2]);
	(void)snprintf(kafka, sizeof kafka, "kafka.bootstrap.servers=%s",
		       kafka_broker());
	process_start(&worker, argv, NULL);
	cr_assert(process_wait_text(&worker, "event=assigned", PATIENCE_MS),
		  "%s", process_text(&worker));
}

static void send_claims(unsigned from, unsigned to)
{
	char packet[16];
	char user[16];

	if (from == 1) {
		fixture_created(&f, "a", 100000, 1000);
		fixture_loaded(&f, "a", 3, 1, 100000, 1000);
	}
	for (unsigned i = from; i <= to; i++) {
		(void)snprintf(packet, sizeof packet, "p%u", i);
		(void)snprintf(user, sizeof user, "u%u", i);
		fixture_claim(&f, "a", packet, user, 10, i);
	}
	for (; sent < f.count; sent++) {
		kafka_broker_produce(topics[f.messages[sent].topic], -1,
				     BYTES("k"),
				     buf_live(&f.messages[sent].value));
	}
}

static void wait_credited(int64_t n)
{
	uint64_t until = clock_mono_ms() + PATIENCE_MS;
	struct ledger_totals t = { 0 };
	bool known = false;

	do {
		cr_assert_eq(ledger_totals(f.reader, BYTES("a"), &t, &known),
			     0);
		(void)poll(NULL, 0, 5);
	} while ((!known || t.books.credited_packets < n) &&
		 clock_mono_ms() < until);
	cr_assert_geq(t.books.credited_packets, n, "%s", process_text(&worker));
}

/* F42: whatever it had done when it died, the books end exact. */
Test(process, killed_again_and_again_it_credits_each_claim_once)
{
	unsigned next = 1;

	for (int round = 0; round < 3; round++) {
		start();
		send_claims(next, next + 9);
		next += 10;
		/* Killed in the middle of its work, at no moment in particular. */
		wait_credited(next - 11);
		process_signal(&worker, SIGKILL);
		cr_assert_eq(process_wait(&worker, PATIENCE_MS), 128 + SIGKILL);
		process_close(&worker);
	}
	start();
	wait_credited(30);
	cr_assert_eq(fixture_totals(&f, "a").books.credited_cents, 300);
	process_signal(&worker, SIGTERM);
	cr_assert_eq(process_wait(&worker, PATIENCE_MS), 0, "%s",
		     process_text(&worker));
}

Test(process, drains_and_says_so)
{
	start();
	send_claims(1, 3);
	wait_credited(3);
	process_signal(&worker, SIGTERM);
	cr_assert_eq(process_wait(&worker, PATIENCE_MS), 0, "%s",
		     process_text(&worker));
	cr_assert_not_null(
		strstr(process_text(&worker), "consumption has stopped"));
}

static size_t times(const char *part)
{
	size_t n = 0;

	for (const char *at = process_text(&worker);
	     (at = strstr(at, part)) != NULL; at++) {
		n++;
	}
	return n;
}

/* What the audit finds is named once, and those who are not concerned are
 * credited all the same. */
Test(process, names_what_the_books_contradict_once)
{
	static const char first[] = "expected=10 by=\"its postings\" found=0";
	static const char second[] = "expected=10 by=\"its postings\" found=20";

	start();
	send_claims(1, 3);
	wait_credited(3);
	fixture_run(&f, "UPDATE account SET balance = 0 WHERE owner = 'u1'");
	cr_assert(process_wait_text(&worker, first, PATIENCE_MS), "%s",
		  process_text(&worker));
	/* Found by a later round, which finds the first one again. */
	fixture_run(&f, "UPDATE account SET balance = 20 WHERE owner = 'u2'");
	cr_assert(process_wait_text(&worker, second, PATIENCE_MS), "%s",
		  process_text(&worker));
	cr_assert_eq(times(first), 1, "%s", process_text(&worker));
	cr_assert_eq(times("(user u1, CNY)"), 1);
	send_claims(4, 5);
	wait_credited(5);
	fixture_run(&f, "UPDATE account SET balance = 10 WHERE owner IN "
			"('u1', 'u2')");
	cr_assert(process_wait_text(&worker, "the books are sound again",
				    PATIENCE_MS),
		  "%s", process_text(&worker));
}
