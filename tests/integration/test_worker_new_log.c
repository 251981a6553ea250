/* Kafka lost a topic, and has it again under the same name: its offsets begin
 * anew, and the ledger's place is beyond its end. */
#include <criterion/criterion.h>
#include <stdio.h>

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

TestSuite(worker_new_log, .init = setup, .fini = teardown, .timeout = 90);

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

Test(worker_new_log, what_it_has_is_credited)
{
	fixture_created(&rig.f, "a", 100000, 1000);
	fixture_loaded(&rig.f, "a", 3, 1, 100000, 1000);
	claim(1);
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL_CREDITED(1);
	worker_rig_stop(&rig);
	(void)fixture_number(&rig.f, "UPDATE consumer_offset SET "
				     "next_offset = 500 RETURNING 1");
	for (unsigned i = 2; i <= 9; i++) {
		claim(i);
	}
	worker_rig_send(&rig);
	worker_rig_start(&rig);
	RUN_UNTIL_CREDITED(9);
	cr_assert_eq(fixture_totals(&rig.f, "a").books.credited_cents, 90);
	/* Where claims came, the place is the new log's. */
	cr_assert_lt(fixture_number(&rig.f, "SELECT min(next_offset) FROM "
					    "consumer_offset WHERE topic LIKE "
					    "'%claims%'"),
		     500);
	claim(10);
	worker_rig_send(&rig);
	RUN_UNTIL_CREDITED(10);
}
