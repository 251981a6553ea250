/* The text and the commitment of a tranche that is added. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "plan/tranche.h"
#include "proto/proto_util.h"

static char why[PLAN_WHY];

static Rain__Plan plan(void)
{
	Rain__Plan p = RAIN__PLAN__INIT;

	p.algorithm = to_pb_str("double_mean");
	p.total_cents = 5000;
	p.packets = 50;
	p.min_cents = 1;
	p.max_cents = 900;
	return p;
}

static struct tranche make(uint32_t number)
{
	const Rain__Plan p = plan();
	struct tranche t;

	cr_assert(tranche_make(BYTES("friday"), number, &p, &t, why), "%s",
		  why);
	return t;
}

static void refused(uint32_t number, const Rain__Plan *p, const char *part)
{
	struct tranche t;

	cr_assert_not(tranche_make(BYTES("friday"), number, p, &t, why));
	cr_assert(strstr(why, part) != NULL, "%s", why);
}

Test(tranche, its_text_and_its_commitment)
{
	static const uint8_t seed[ALLOCATE_SEED] = { 0, 1, 2, 3 };
	const struct tranche t = make(2);
	char text[TRANCHE_TEXT_MAX], commitment[PLAN_COMMITMENT];

	cr_assert_eq(tranche_text(&t, text), strlen(text));
	cr_assert_str_eq(text, "activity_id=friday\ntranche=2\n"
			       "total_cents=5000\npackets=50\n"
			       "algorithm=double_mean\nmin_cents=1\n"
			       "max_cents=900\n");
	tranche_commitment(seed, &t, commitment);
	/* (printf '\0\1\2\3'; head -c 28 /dev/zero; printf TEXT) | sha256sum */
	cr_assert_str_eq(
		commitment,
		"7752f4aede6eed043456cab8fef2a0c9ac409433fbdda2ba8817058e00c4d65e");
}

Test(tranche, its_text_is_read_again)
{
	Rain__Plan p = plan();
	Rain__Tier tiers[2] = { RAIN__TIER__INIT, RAIN__TIER__INIT };
	Rain__Tier *list[2] = { &tiers[0], &tiers[1] };
	char text[TRANCHE_TEXT_MAX], again[TRANCHE_TEXT_MAX];
	struct tranche t, read;

	tiers[0].amount_cents = 900;
	tiers[0].packets = 1;
	tiers[1].amount_cents = 10;
	tiers[1].packets = 5;
	p.algorithm = to_pb_str("tiers");
	p.total_cents = 950;
	p.packets = 6;
	p.tiers = list;
	p.n_tiers = 2;
	cr_assert(tranche_make(BYTES("friday"), 16, &p, &t, why), "%s", why);
	(void)tranche_text(&t, text);
	cr_assert(strstr(text, "\nmax_cents=900\ntiers=900x1,10x5\n") != NULL,
		  "%s", text);
	cr_assert(tranche_read(bytes_str(text), &read));
	(void)tranche_text(&read, again);
	cr_assert_str_eq(text, again);
	tranche_difference(&t, &read, why);
	cr_assert_str_eq(why, "");
}

Test(tranche, another_text_is_none)
{
	static const char *const texts[] = {
		"",
		"activity_id=friday\n",
		"activity_id=friday\ntranche=1\ntotal_cents=5000\npackets=50\n"
		"algorithm=equal\nmin_cents=1\nmax_cents=0\n",
		"activity_id=friday\ntranche=2\ntotal_cents=05000\npackets=50\n"
		"algorithm=equal\nmin_cents=1\nmax_cents=0\n",
		"activity_id=friday\ntranche=2\ntotal_cents=5000\npackets=50\n"
		"algorithm=equal\nmin_cents=1\nmax_cents=0\nmore=1\n",
		"activity_id=friday\ntranche=2\ntotal_cents=5000\npackets=50\n"
		"algorithm=equal\nmin_cents=1\nmax_cents=0",
		"activity_id=friday\ntranche=2\npackets=50\ntotal_cents=5000\n"
		"algorithm=equal\nmin_cents=1\nmax_cents=0\n",
		"activity_id=friday\ntranche=2\ntotal_cents=49\npackets=50\n"
		"algorithm=equal\nmin_cents=1\nmax_cents=0\n",
	};
	struct tranche t;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		cr_expect_not(tranche_read(bytes_str(texts[i]), &t), "%s",
			      texts[i]);
	}
	cr_assert(tranche_read(
		BYTES("activity_id=friday\ntranche=2\ntotal_cents=50\n"
		      "packets=50\nalgorithm=equal\nmin_cents=1\n"
		      "max_cents=0\n"),
		&t));
	cr_assert_eq(t.rule.count, 50);
}

Test(tranche, what_cannot_be_kept_is_refused)
{
	Rain__Plan p = plan();
	struct tranche t;

	refused(1, &p, "tranche is 1, 2 to 16 are allowed");
	refused(17, &p, "tranche is 17, 2 to 16 are allowed");
	p.total_cents = 49;
	refused(2, &p, "0.49");
	p = plan();
	p.algorithm = to_pb_str("best");
	refused(2, &p, "algorithm must be");
	p.algorithm = to_pb_str("adopted");
	refused(2, &p, "none can be adopted");
	p = plan();
	p.packets = 0;
	refused(2, &p, "packets");
	p = plan();
	p.mode = to_pb_str("live");
	refused(2, &p,
		"a tranche is a list of packets: another mode is for a "
		"whole activity");
	p.mode = to_pb_str("list");
	cr_assert(tranche_make(BYTES("friday"), 2, &p, &t, why), "%s", why);
}

Test(tranche, where_two_differ)
{
	struct tranche a = make(2), b = make(2);

	b.rule.count = 51;
	tranche_difference(&a, &b, why);
	cr_assert_str_eq(why, "its number of packets is 50 there and 51 here");
}
