/* Records that one statement adds are those that would be added one by one. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>

#include "lib/ledger_fixture.h"

enum { CLAIMS = 70 };

/* All that the rows of a ledger say of its claims, whatever its numbers of
 * transfers and accounts; who has nothing may have an account or none. */
static const char rows[] =
	"SELECT (SELECT group_concat(t, ' ') FROM (SELECT seq || ':' ||"
	" red_packet_id || ':' || uid || ':' || amount || ':' || tranche || ':'"
	" || at_ms AS t FROM finance_record ORDER BY seq))"
	" || ' conflicts ' || (SELECT group_concat(t, ' ') FROM (SELECT seq ||"
	" ':' || red_packet_id || ':' || uid || ':' || amount || ':' || reason"
	" AS t FROM conflict ORDER BY conflict))"
	" || ' balances ' || (SELECT group_concat(t, ' ') FROM (SELECT kind ||"
	" ':' || owner || ':' || balance AS t FROM account"
	" WHERE balance <> 0 ORDER BY kind, owner))";

static void text_of(const struct fixture *f, struct buf *out)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;

	cr_assert_eq(sqlite3_open_v2(f->path, &db, SQLITE_OPEN_READONLY, NULL),
		     SQLITE_OK);
	cr_assert_eq(sqlite3_prepare_v2(db, rows, -1, &st, NULL), SQLITE_OK);
	cr_assert_eq(sqlite3_step(st), SQLITE_ROW);
	buf_init(out);
	buf_put_bytes(out, bytes_str((const char *)sqlite3_column_text(st, 0)));
	(void)sqlite3_finalize(st);
	(void)sqlite3_close(db);
}

static void claim(struct fixture *f, unsigned packet, unsigned user,
		  unsigned seq)
{
	char p[16];
	char u[16];

	(void)snprintf(p, sizeof p, "p%u", packet);
	(void)snprintf(u, sizeof u, "u%u", user);
	fixture_claim(f, "a", p, u, 10 + packet, seq);
}

/* Claims by seq, one of which contradicts others; which is 0 for none. */
static void add_claims(struct fixture *f, unsigned odd, unsigned kind)
{
	for (unsigned i = 1; i <= CLAIMS; i++) {
		if (i != odd) {
			claim(f, i, i, i);
			continue;
		}
		switch (kind) {
		case 0: /* a packet of another */
			claim(f, i - 1, i, i);
			break;
		case 1: /* a second packet */
			claim(f, i, i - 1, i);
			break;
		case 2: /* a seq of another */
			claim(f, i, i, i - 1);
			break;
		default: /* the same again */
			claim(f, i - 1, i - 1, i - 1);
			break;
		}
	}
}

static void begin(struct fixture *f)
{
	fixture_open(f);
	fixture_created(f, "a", 1000000, 1000);
	fixture_loaded(f, "a", 3, 1, 1000000, 1000);
	(void)fixture_apply(f);
}

static struct ledger_result sum(struct ledger_result a, struct ledger_result b)
{
	a.credits += b.credits;
	a.credited_cents += b.credited_cents;
	a.replays += b.replays;
	a.conflicts += b.conflicts;
	return a;
}

static void compare(unsigned odd, unsigned kind)
{
	struct ledger_result together;
	struct ledger_result alone = { 0 };
	struct ledger_totals t;
	struct fixture f;
	struct buf want;
	struct buf got;

	begin(&f);
	add_claims(&f, odd, kind);
	for (size_t i = f.applied; i < f.count; i++) {
		alone = sum(alone, fixture_apply_some(&f, &i, 1));
	}
	text_of(&f, &want);
	fixture_close(&f);

	begin(&f);
	add_claims(&f, odd, kind);
	together = fixture_apply(&f);
	text_of(&f, &got);
	cr_assert(bytes_eq(buf_live(&got), buf_live(&want)),
		  "odd %u kind %u:\n%.*s\nwant:\n%.*s", odd, kind,
		  BYTES_FMT(buf_live(&got)), BYTES_FMT(buf_live(&want)));
	cr_assert_eq(together.credits, alone.credits);
	cr_assert_eq(together.credited_cents, alone.credited_cents);
	cr_assert_eq(together.replays, alone.replays);
	cr_assert_eq(together.conflicts, alone.conflicts);
	t = fixture_totals(&f, "a");
	cr_assert_eq(t.books.credited_packets, together.credits);
	cr_assert_eq(t.books.credited_cents, together.credited_cents);
	fixture_sound(&f);
	buf_close(&want);
	buf_close(&got);
	fixture_close(&f);
}

/* First, last and within a group of 32; in what is left at the end. */
Test(group, a_contradiction_within_stops_no_other, .timeout = 100)
{
	static const unsigned places[] = { 2, 17, 33, 34, 70 };

	for (unsigned kind = 0; kind < 4; kind++) {
		for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
			compare(places[i], kind);
		}
	}
}

/* Claims of several activities come in any order. */
Test(group, each_group_is_of_one_activity)
{
	struct ledger_result r;
	struct fixture f;

	fixture_open(&f);
	for (unsigned a = 0; a < 3; a++) {
		char id[16];

		(void)snprintf(id, sizeof id, "a%u", a);
		fixture_created(&f, id, 10000, 100);
		fixture_loaded(&f, id, 3, 1, 10000, 100);
	}
	(void)fixture_apply(&f);
	for (unsigned i = 0; i < 3 * 70; i++) {
		char id[16];
		char name[16];

		(void)snprintf(id, sizeof id, "a%u", i % 3);
		(void)snprintf(name, sizeof name, "u%u", i / 3);
		fixture_claim(&f, id, name, name, 10 + i % 3, 1 + i / 3);
	}
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 3 * 70);
	cr_assert_eq(fixture_balance(&f, "u0"), 10 + 11 + 12);
	cr_assert_eq(fixture_balance(&f, "u69"), 10 + 11 + 12);
	for (unsigned a = 0; a < 3; a++) {
		char id[16];

		(void)snprintf(id, sizeof id, "a%u", a);
		cr_assert_eq(fixture_totals(&f, id).books.credited_cents,
			     70 * (10 + (int64_t)a));
		cr_assert_eq(fixture_totals(&f, id).books.whole_seq, 70);
	}
	fixture_sound(&f);
	fixture_close(&f);
}
