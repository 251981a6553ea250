/* The worker between a real broker and a real ledger. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>

#include "base/clock.h"
#include "client/kafka.h"
#include "lib/kafka_broker.h"
#include "lib/worker_rig.h"

static struct worker_rig rig;

static void setup(void)
{
	worker_rig_open(&rig);
}

static void teardown(void)
{
	worker_rig_close(&rig);
}

TestSuite(worker, .init = setup, .fini = teardown, .timeout = 90);

static void activity(void)
{
	fixture_created(&rig.f, "a", 100000, 1000);
	fixture_loaded(&rig.f, "a", 3, 1, 100000, 1000);
}

static void claim(unsigned seq)
{
	char packet[16];
	char user[16];

	(void)snprintf(packet, sizeof packet, "p%u", seq);
	(void)snprintf(user, sizeof user, "u%u", seq);
	fixture_claim(&rig.f, "a", packet, user, 10, seq);
}

#define RUN_UNTIL_CREDITED(n) \
	RUN_UNTIL(&rig.loop, worker_rig_credited(&rig, "a") == (n))

/* F45: what was there before the group existed is not skipped. */
Test(worker, credits_what_came_before_it_and_after)
{
	activity();
	claim(1);
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL_CREDITED(1);
	claim(2);
	worker_rig_send(&rig);
	RUN_UNTIL_CREDITED(2);
	cr_assert_eq(worker_rig_balance(&rig, "u2"), 10);
	cr_assert(worker_cluster_id(rig.worker)[0] != '\0');
}

/* F42 and a replay of everything: restarts credit nothing twice. */
Test(worker, a_restart_credits_nothing_twice)
{
	activity();
	for (unsigned i = 1; i <= 20; i++) {
		claim(i);
	}
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL_CREDITED(20);
	worker_rig_stop(&rig);
	fixture_reopen(&rig.f);
	claim(21);
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL_CREDITED(21);
	worker_rig_stop(&rig);
	/* As if the offsets had never been kept. */
	(void)fixture_number(&rig.f, "UPDATE consumer_offset SET "
				     "next_offset = 0 RETURNING 1");
	worker_rig_start(&rig);
	claim(22);
	worker_rig_send(&rig);
	RUN_UNTIL_CREDITED(22);
	cr_assert_eq(fixture_totals(&rig.f, "a").books.credited_cents, 220);
	cr_assert_eq(fixture_totals(&rig.f, "a").books.funded_cents, 100000);
}

static bool dead_letter_sent(void)
{
	return fixture_number(&rig.f, "SELECT count(*) FROM dead_letter "
				      "WHERE sent_ms > 0") == 1;
}

/* F44 */
Test(worker, poison_goes_to_its_topic_and_neighbours_proceed)
{
	struct kafka_seen *seen;
	size_t n;

	activity();
	claim(1);
	fixture_raw(&rig.f, EVENT_TOPIC_CLAIMS, BYTES("\x0a\xff"));
	claim(2);
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL_CREDITED(2);
	/* The worker's connection is asked while it is at rest. */
	RUN_UNTIL(&rig.loop,
		  worker_caught_up(rig.worker) && dead_letter_sent());
	n = kafka_broker_read(rig.topics[2], &seen);
	cr_assert_eq(n, 1);
	cr_assert_not_null(strstr(seen[0].value, "\"value\":\"0aff\""));
	cr_assert_not_null(strstr(seen[0].value, rig.topics[1]));
	cr_assert_not_null(strstr(seen[0].value, "no valid message"));
	cr_assert_str_eq(seen[0].content_type, "application/json");
	kafka_broker_forget(seen, n);
}

/* F50: nothing is lost, nothing spins, and it says so. */
Test(worker, a_database_that_is_away_pauses_consumption)
{
	sqlite3 *other = NULL;
	struct buf why;

	activity();
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL(&rig.loop, worker_caught_up(rig.worker));
	cr_assert_eq(sqlite3_open(rig.f.path, &other), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL),
		     SQLITE_OK);
	claim(1);
	worker_rig_send(&rig);
	buf_init(&why);
	RUN_UNTIL(&rig.loop, !worker_ready(rig.worker, &why));
	cr_assert_not_null(
		memmem(buf_live(&why).p, buf_len(&why), "locked", 6));
	buf_close(&why);
	claim(2);
	worker_rig_send(&rig);
	cr_assert_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL),
		     SQLITE_OK);
	(void)sqlite3_close(other);
	RUN_UNTIL_CREDITED(2);
	buf_init(&why);
	RUN_UNTIL(&rig.loop, worker_ready(rig.worker, &why));
	buf_close(&why);
}

/* F46: another worker has moved an offset; it joins again and goes on. */
Test(worker, a_moved_offset_rolls_back_and_is_read_again)
{
	activity();
	claim(1);
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL_CREDITED(1);
	RUN_UNTIL(&rig.loop, worker_caught_up(rig.worker));
	(void)fixture_number(&rig.f, "UPDATE consumer_offset SET "
				     "next_offset = 0 RETURNING 1");
	for (unsigned i = 2; i <= 9; i++) {
		claim(i);
	}
	worker_rig_send(&rig);
	RUN_UNTIL_CREDITED(9);
	cr_assert_eq(fixture_totals(&rig.f, "a").books.credited_cents, 90);
}

static void other_stopped(void *ctx)
{
	*(bool *)ctx = true;
}

/* Two members of one group on one ledger, one of which leaves. */
Test(worker, partitions_change_hands_without_loss)
{
	struct ledger *second = NULL;
	struct worker *other = NULL;
	struct buf why;
	bool gone = false;

	activity();
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	cr_assert_eq(ledger_open(rig.f.path, &second), 0);
	cr_assert_eq(worker_start(&rig.loop, second, &rig.options, rig.pairs, 1,
				  &other),
		     0);
	for (unsigned i = 1; i <= 30; i++) {
		claim(i);
		if (i % 10 == 0) {
			worker_rig_send(&rig);
		}
	}
	buf_init(&why);
	RUN_UNTIL(&rig.loop, worker_ready(other, &why));
	buf_close(&why);
	RUN_UNTIL_CREDITED(30);
	worker_stop(other, other_stopped, &gone);
	RUN_UNTIL(&rig.loop, gone);
	ledger_close(second);
	for (unsigned i = 31; i <= 40; i++) {
		claim(i);
	}
	worker_rig_send(&rig);
	RUN_UNTIL_CREDITED(40);
	cr_assert_eq(fixture_totals(&rig.f, "a").books.credited_cents, 400);
}
