/* What survives: offsets with their effects, or neither. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/ledger_fixture.h"
#include "settle-worker/ledger_sqlite.h"

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	(void)fixture_apply(&f);
}

static void teardown(void)
{
	fixture_sound(&f);
	fixture_close(&f);
}

TestSuite(durable, .init = setup, .fini = teardown);

static sqlite3 *database(struct fixture *fixture)
{
	return container_of(fixture->ledger, struct ledger_sqlite, base)->q.db;
}

Test(durable, the_ledger_keeps_its_id_and_its_place)
{
	char id[LEDGER_HEX_ID];
	int64_t next = f.next[EVENT_TOPIC_ACTIVITIES];

	(void)snprintf(id, sizeof id, "%s", ledger_id(f.ledger));
	cr_assert_eq(strlen(id), 32);
	fixture_reopen(&f);
	cr_assert_str_eq(ledger_id(f.ledger), id);
	cr_assert_eq(f.next[EVENT_TOPIC_ACTIVITIES], next);
	cr_assert_eq(next, 2);
}

Test(durable, another_cluster_has_places_of_its_own)
{
	struct ledger_position p = { .topic = "rain.activities" };
	struct ledger_position known[4];
	size_t n = 0;

	cr_assert_eq(ledger_positions(f.ledger, BYTES("other"), &p, 1), 0);
	cr_assert_eq(p.next_offset, 0);
	cr_assert_eq(
		ledger_reader_positions(f.reader, BYTES("test"), known, 4, &n),
		0);
	cr_assert_eq(n, 2);
	cr_assert_str_eq(known[0].topic, "rain.activities");
	cr_assert_eq(known[0].next_offset, 2);
	cr_assert_str_eq(known[1].topic, "rain.claims");
	cr_assert_eq(known[1].next_offset, 0);
}

Test(durable, a_batch_from_another_place_does_nothing)
{
	struct ledger_move move = { BYTES("rain.claims"), 0, 5, 6 };
	struct ledger_batch b = { .cluster_id = BYTES("test"),
				  .moves = &move,
				  .move_count = 1 };
	struct ledger_result r;

	cr_assert_eq(ledger_apply(f.ledger, &b, &r), 0);
	cr_assert(r.moved);
	/* The same batch from the right place is applied. */
	move.from = 0;
	cr_assert_eq(ledger_apply(f.ledger, &b, &r), 0);
	cr_assert_not(r.moved);
}

static int die(void *ctx)
{
	(void)ctx;
	(void)raise(SIGKILL);
	return 0;
}

/* A child applies a claim and is killed in the last moment before the commit,
 * or in the first one after it. */
static void killed_at_commit(bool after)
{
	struct fixture child = f;
	pid_t pid;
	int status;

	ledger_reader_close(f.reader);
	ledger_close(f.ledger);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		if (ledger_open(f.path, &child.ledger) != 0) {
			_exit(1);
		}
		fixture_claim(&child, "a", "p1", "u1", 250, 1);
		if (!after) {
			sqlite3_commit_hook(database(&child), die, NULL);
		}
		(void)fixture_apply(&child);
		(void)raise(SIGKILL);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	cr_assert_eq(ledger_open(f.path, &f.ledger), 0);
	cr_assert_eq(ledger_reader_open(f.ledger, &f.reader), 0);
	fixture_reopen(&f);
}

Test(durable, killed_before_the_commit_nothing_happened)
{
	killed_at_commit(false);
	cr_assert_eq(fixture_balance(&f, "u1"), 0);
	cr_assert_eq(f.next[EVENT_TOPIC_CLAIMS], 0);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	cr_assert_eq(fixture_apply(&f).credits, 1);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
}

Test(durable, killed_after_the_commit_the_offset_has_moved_too)
{
	killed_at_commit(true);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
	cr_assert_eq(f.next[EVENT_TOPIC_CLAIMS], 1);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	cr_assert_eq(fixture_apply(&f).replays, 1);
	cr_assert_eq(fixture_balance(&f, "u1"), 250);
}

Test(durable, a_locked_database_is_an_error_that_passes)
{
	struct ledger_move move = { BYTES("rain.claims"), 0, 0, 1 };
	struct ledger_batch b = { .cluster_id = BYTES("test"),
				  .moves = &move,
				  .move_count = 1 };
	struct ledger_result r;
	sqlite3 *other = NULL;

	cr_assert_eq(sqlite3_open(f.path, &other), SQLITE_OK);
	cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL),
		     SQLITE_OK);
	cr_assert_eq(ledger_apply(f.ledger, &b, &r), ERR_STORE);
	cr_assert(strstr(ledger_why(f.ledger), "locked") != NULL);
	cr_assert_eq(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL),
		     SQLITE_OK);
	cr_assert_eq(ledger_apply(f.ledger, &b, &r), 0);
	cr_assert_not(r.moved);
	(void)sqlite3_close(other);
}

/* No room: the batch is refused whole, and goes through when there is. */
Test(durable, a_full_disk_is_an_error_that_passes)
{
	char packet[16];
	char user[16];
	struct ledger_move move = { BYTES("rain.claims"), 0, 0, 500 };
	struct event events[500];
	struct ledger_batch b = { .cluster_id = BYTES("test"),
				  .moves = &move,
				  .move_count = 1,
				  .events = events,
				  .event_count = 500,
				  .now_ms = 1 };
	struct ledger_result r;
	char limit[64];

	fixture_loaded(&f, "a", 5, 2, 1000, 600);
	(void)fixture_apply(&f);
	for (unsigned i = 0; i < 500; i++) {
		const struct fixture_message *m;

		(void)snprintf(packet, sizeof packet, "p%u", i);
		(void)snprintf(user, sizeof user, "u%u", i);
		fixture_claim(&f, "a", packet, user, 1, i + 1);
		m = &f.messages[f.count - 1];
		event_read(
			&events[i], m->topic,
			&(struct event_place){ .topic = BYTES("rain.claims"),
					       .value = buf_live(&m->value) });
	}
	(void)snprintf(limit, sizeof limit, "PRAGMA max_page_count = %lld",
		       (long long)fixture_number(&f, "PRAGMA page_count"));
	(void)fixture_number(&f, limit);
	cr_assert_eq(ledger_apply(f.ledger, &b, &r), ERR_STORE);
	cr_assert(strstr(ledger_why(f.ledger), "full") != NULL, "%s",
		  ledger_why(f.ledger));
	cr_assert_eq(fixture_balance(&f, "u7"), 0);
	(void)fixture_number(&f, "PRAGMA max_page_count = 100000");
	cr_assert_eq(ledger_apply(f.ledger, &b, &r), 0);
	cr_assert_eq(r.credits, 500);
}

Test(durable, a_schema_of_a_later_program_is_refused)
{
	struct ledger *l = NULL;

	cr_assert_eq(sqlite3_exec(database(&f), "PRAGMA user_version = 2", NULL,
				  NULL, NULL),
		     SQLITE_OK);
	cr_assert_eq(ledger_open(f.path, &l), ERR_STORE);
	cr_assert_null(l);
}
