/* Every SQL query of docs/ledger.md runs, and the proofs find nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/ledger_fixture.h"
#include "settle-worker/ledger_sqlite.h"

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
	fixture_created(&f, "friday", 1000, 4);
	fixture_loaded(&f, "friday", 3, 1, 1000, 4);
	fixture_claim(&f, "friday", "p1", "u1", 250, 1);
	fixture_claim(&f, "friday", "p2", "u2", 250, 2);
	fixture_claim(&f, "friday", "p3", "u2", 250, 3);
	fixture_claim(&f, "friday", "p4", "u4", 900, 4);
	fixture_claim(&f, "stranger", "p1", "u1", 5, 1);
	fixture_raw(&f, EVENT_TOPIC_CLAIMS, BYTES("\xff"));
	(void)fixture_apply(&f);
}

static void teardown(void)
{
	fixture_close(&f);
}

TestSuite(docs, .init = setup, .fini = teardown);

static char *read_page(void)
{
	const char *root = getenv("RAIN_SOURCE");
	char path[512];
	struct buf text;
	FILE *file;
	size_t n;

	(void)snprintf(path, sizeof path, "%s/docs/ledger.md",
		       root == NULL ? "." : root);
	file = fopen(path, "r");
	cr_assert_not_null(file, "%s", path);
	buf_init(&text);
	while ((n = fread(buf_room(&text, 4096), 1, 4096, file)) > 0) {
		buf_wrote(&text, n);
	}
	(void)fclose(file);
	buf_put_u8(&text, 0);
	return (char *)text.mem;
}

/* Run the statements of a block; returns how many, and how many rows. */
static int run_block(const char *sql, const char *end, int *rows)
{
	struct ledger_sqlite *l =
		container_of(f.ledger, struct ledger_sqlite, base);
	int statements = 0;

	while (sql < end) {
		sqlite3_stmt *st = NULL;
		int rv = sqlite3_prepare_v2(l->q.db, sql, (int)(end - sql), &st,
					    &sql);

		cr_assert_eq(rv, SQLITE_OK, "%s", sqlite3_errmsg(l->q.db));
		if (st == NULL) {
			break; /* white space after the last one */
		}
		cr_assert(sqlite3_stmt_readonly(st));
		while ((rv = sqlite3_step(st)) == SQLITE_ROW) {
			(*rows)++;
		}
		cr_assert_eq(rv, SQLITE_DONE);
		(void)sqlite3_finalize(st);
		statements++;
	}
	return statements;
}

Test(docs, every_query_runs)
{
	static const char fence[] = "```sql\n";
	char *page = read_page();
	const char *at = page;
	int blocks = 0;

	while ((at = strstr(at, fence)) != NULL) {
		const char *end = strstr(at + 6, "```");
		bool proofs = false;
		int rows = 0;
		int n;

		cr_assert_not_null(end);
		for (const char *p = at; p > page && *p != '.'; p--) {
			if (strncmp(p, "Proofs;", 7) == 0) {
				proofs = true;
			}
		}
		n = run_block(at + 6, end, &rows);
		cr_assert_gt(n, 0);
		if (proofs) {
			cr_assert_eq(n, 4);
			cr_assert_eq(rows, 0);
		} else {
			cr_assert_geq(rows, 1, "no row: %.*s", (int)(end - at),
				      at);
		}
		at = end;
		blocks++;
	}
	cr_assert_eq(blocks, 9);
	free(page);
}
