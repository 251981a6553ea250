/* What was written stays: the triggers, and where a ledger lacks them. */
#include <criterion/criterion.h>

#include "lib/ledger_fixture.h"
#include "settle-worker/ledger_sqlite.h"

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_claim(&f, "a", "p2", "u1", 250, 2);
	fixture_raw(&f, EVENT_TOPIC_CLAIMS, BYTES("\xff"));
	(void)fixture_apply(&f);
}

static void teardown(void)
{
	fixture_sound(&f);
	fixture_close(&f);
}

TestSuite(kept, .init = setup, .fini = teardown);

static int run(const char *sql)
{
	sqlite3 *db = container_of(f.ledger, struct ledger_sqlite, base)->q.db;

	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

Test(kept, what_was_written_is_never_changed)
{
	static const char *const refused[] = {
		"DELETE FROM posting",
		"UPDATE posting SET delta = 1",
		"DELETE FROM red_packet_record",
		"UPDATE red_packet_record SET amount = 1",
		"DELETE FROM transfer",
		"UPDATE transfer SET kind = 'fund'",
		"DELETE FROM conflict",
		"UPDATE conflict SET amount = 1",
		"UPDATE conflict SET transfer = NULL",
		"DELETE FROM activity_change",
		"UPDATE activity_change SET claims = 0",
		"DELETE FROM tranche",
		"DELETE FROM dead_letter",
	};

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		cr_assert_eq(run(refused[i]), SQLITE_CONSTRAINT_TRIGGER, "%s",
			     refused[i]);
	}
}

/* Which kinds of account there are, and which may owe. */
Test(kept, an_account_is_of_a_known_kind)
{
	cr_assert_eq(run("INSERT INTO account (kind, owner, currency)"
			 " VALUES ('users', 'x', 'CNY')"),
		     SQLITE_CONSTRAINT_CHECK);
	cr_assert_eq(run("UPDATE account SET kind = ''"),
		     SQLITE_CONSTRAINT_CHECK);
	cr_assert_eq(run("UPDATE account SET balance = -1 WHERE kind = 'user'"),
		     SQLITE_CONSTRAINT_CHECK);
}

Test(kept, a_person_may_still_decide)
{
	cr_assert_eq(run("UPDATE conflict SET decision = 'kept'"), SQLITE_OK);
	cr_assert_eq(run("UPDATE dead_letter SET decision = 'seen'"),
		     SQLITE_OK);
	cr_assert_eq(fixture_number(&f, "SELECT count(*) FROM conflict "
					"WHERE decision = 'kept'"),
		     1);
}

Test(kept, a_ledger_without_the_triggers_gets_them)
{
	fixture_run(&f, "DROP TRIGGER record_kept; DROP TRIGGER posting_kept;"
			"DROP INDEX posting_of_account");
	fixture_reopen(&f);
	cr_assert_eq(run("DELETE FROM red_packet_record"),
		     SQLITE_CONSTRAINT_TRIGGER);
	cr_assert_eq(run("DELETE FROM posting"), SQLITE_CONSTRAINT_TRIGGER);
}
