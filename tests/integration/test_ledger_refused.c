/* What is not settled is kept, with the reason. */
#include <criterion/criterion.h>
#include <string.h>

#include "lib/ledger_fixture.h"

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
	fixture_created(&f, "a", 1000, 4);
	fixture_loaded(&f, "a", 3, 1, 1000, 4);
	fixture_changed(&f, "a", 4, EVENT_OPENED);
	(void)fixture_apply(&f);
}

static void teardown(void)
{
	fixture_sound(&f);
	fixture_close(&f);
}

TestSuite(refused, .init = setup, .fini = teardown);

Test(refused, contradictions_of_changes_are_kept_as_dead_letters)
{
	struct ledger_result r;

	fixture_changed(&f, "a", 4, EVENT_PAUSED); /* is `opened` */
	fixture_loaded(&f, "a", 3, 1, 2000, 4);    /* was 1000 */
	fixture_loaded(&f, "a", 9, 1, 2000, 4);    /* tranche 1 again */
	r = fixture_apply(&f);
	cr_assert_eq(r.dead_letters, 3);
	cr_assert_eq(fixture_totals(&f, "a").books.funded_cents, 1000);
}

Test(refused, poison_is_kept_and_its_neighbours_proceed)
{
	struct ledger_result r;
	struct ledger_dead_letter d[8];
	size_t n = 0;

	fixture_claim(&f, "a", "p1", "u1", 250, 1);
	fixture_raw(&f, EVENT_TOPIC_CLAIMS, BYTES("\xff\xff\xff"));
	fixture_claim(&f, "a", "p9", "u9", 0, 9);
	fixture_claim(&f, "a", "p2", "u2", 250, 2);
	r = fixture_apply(&f);
	cr_assert_eq(r.credits, 2);
	cr_assert_eq(r.dead_letters, 2);
	fixture_raw(&f, EVENT_TOPIC_CLAIMS, BYTES("\xff\xff\xff"));
	cr_assert_eq(fixture_apply(&f).dead_letters, 0);

	cr_assert_eq(ledger_dead_letters(f.ledger, d, 8, &n), 0);
	cr_assert_eq(n, 2);
	cr_assert_str_eq(d[0].topic, "rain.claims");
	cr_assert_eq(d[0].offset, 1);
	cr_assert(bytes_eq(buf_live(&d[0].value), BYTES("\xff\xff\xff")));
	cr_assert(strstr(d[1].reason, "amount") != NULL);
	cr_assert_eq(ledger_dead_letter_sent(f.ledger, d[0].number, 1), 0);
	for (size_t i = 0; i < n; i++) {
		buf_close(&d[i].key);
		buf_close(&d[i].value);
	}
	cr_assert_eq(ledger_dead_letters(f.ledger, d, 8, &n), 0);
	cr_assert_eq(n, 1);
	buf_close(&d[0].key);
	buf_close(&d[0].value);
}
