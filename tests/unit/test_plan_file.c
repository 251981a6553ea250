#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "console/plan_file.h"
#include "proto/proto_util.h"

static const int64_t now_ms = INT64_C(1764430000123);

/* A file with text; the caller unlinks it. */
static void write_file(char path[32], const char *text)
{
	int fd;

	snprintf(path, 32, "/tmp/plan_file.XXXXXX");
	fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static int read_text(const char *text, const char *id, struct plan_file *f,
		     struct buf *why)
{
	char path[32];
	int rv;

	buf_init(why);
	write_file(path, text);
	rv = plan_file_read(path, id, now_ms, f, why);
	unlink(path);
	buf_put_u8(why, 0);
	return rv;
}

static void refuse(const char *text, const char *word)
{
	struct plan_file f;
	struct buf why;

	cr_assert_eq(read_text(text, NULL, &f, &why), ERR_CONFIG, "%s", text);
	cr_assert(strstr((const char *)buf_live(&why).p, word) != NULL, "%s",
		  (const char *)buf_live(&why).p);
	plan_file_close(&f);
	buf_close(&why);
}

Test(plan_file, reads_every_key)
{
	struct plan_file f;
	struct buf why;

	cr_assert_eq(read_text("[activity]\nid = friday\ntitle = Quiz\n"
			       "sponsor = s:1\ncurrency = EUR\ntotal = 12.5\n"
			       "packets = 7\nmin = 0.02\nmax = 3\n"
			       "start = 2026-01-31 20:00:00\nend = +90\n"
			       "keep_days = 0\nmode = live\n",
			       NULL, &f, &why),
		     0, "%s", (const char *)buf_live(&why).p);
	cr_assert(bytes_eq(from_pb(f.plan.activity_id), BYTES("friday")));
	cr_assert(bytes_eq(from_pb(f.plan.title), BYTES("Quiz")));
	cr_assert(bytes_eq(from_pb(f.plan.sponsor), BYTES("s:1")));
	cr_assert(bytes_eq(from_pb(f.plan.currency), BYTES("EUR")));
	cr_assert_eq(f.plan.total_cents, 1250);
	cr_assert_eq(f.plan.packets, 7);
	cr_assert_eq(f.plan.min_cents, 2);
	cr_assert_eq(f.plan.max_cents, 300);
	cr_assert_eq(f.plan.start_ms, INT64_C(1769889600000));
	cr_assert_eq(f.plan.end_ms, now_ms + 90000);
	cr_assert_eq(f.plan.keep_days, 0);
	cr_assert(bytes_eq(from_pb(f.plan.mode), BYTES("live")));
	plan_file_close(&f);
	buf_close(&why);
}

/* start as the file has it; -1: refused. */
static int64_t start_of(const char *time)
{
	char text[128];
	struct plan_file f;
	struct buf why;
	int64_t ms = -1;

	snprintf(text, sizeof text,
		 "[activity]\nsponsor = s\ntotal = 1\nstart = %s\n", time);
	if (read_text(text, NULL, &f, &why) == 0) {
		ms = f.plan.start_ms;
	}
	plan_file_close(&f);
	buf_close(&why);
	return ms;
}

Test(plan_file, a_time_is_utc_or_has_an_offset)
{
	const int64_t at = INT64_C(1769889600000); /* 20:00 UTC */

	cr_expect_eq(start_of("2026-01-31 20:00:00"), at);
	cr_expect_eq(start_of("2026-01-31 20:00"), at);
	cr_expect_eq(start_of("2026-01-31T20:00:00Z"), at);
	cr_expect_eq(start_of("2026-02-01T04:00:00+08:00"), at);
	cr_expect_eq(start_of("2026-02-01 04:00 +08:00"), at);
	cr_expect_eq(start_of("2026-01-31 14:30:00-05:30"), at);
	cr_expect_eq(start_of("2026-01-31 20:00:01"), at + 1000);
	cr_expect_eq(start_of("2026-01-31"), -1);
	cr_expect_eq(start_of("2026-01-31 20"), -1);
	cr_expect_eq(start_of("2026-01-31 20:00+8"), -1);
	cr_expect_eq(start_of("2026-01-31 20:00+08:00h"), -1);
	cr_expect_eq(start_of("2026-01-31 20:00 CET"), -1);
	cr_expect_eq(start_of("2026-02-31 20:00"), -1, "no such day");
}

Test(plan_file, makes_an_id_of_prefix_and_time)
{
	struct plan_file f;
	struct buf why;

	cr_assert_eq(read_text("[activity]\nprefix = quiz\nsponsor = s\n"
			       "total = 1\n",
			       NULL, &f, &why),
		     0);
	cr_assert_str_eq(f.id, "quiz-1764430000123");
	plan_file_close(&f);
	buf_close(&why);
	cr_assert_eq(read_text("[activity]\nid = a\nsponsor = s\ntotal = 1\n",
			       "b", &f, &why),
		     0);
	cr_assert_str_eq(f.id, "b");
	plan_file_close(&f);
	buf_close(&why);
}

/* What floating point makes 28 and 114 cents of. */
Test(plan_file, amounts_are_to_the_cent)
{
	struct plan_file f;
	struct buf why;

	cr_assert_eq(read_text("[activity]\nid = 365628617880842241\n"
			       "sponsor = s\ntotal = 1.15\nmin = 0.29\n"
			       "max = 90071992547409.91\n",
			       NULL, &f, &why),
		     0, "%s", (const char *)buf_live(&why).p);
	cr_assert_str_eq(f.id, "365628617880842241");
	cr_assert_eq(f.plan.total_cents, 115);
	cr_assert_eq(f.plan.min_cents, 29);
	cr_assert_eq(f.plan.max_cents, AMOUNT_MAX_CENTS);
	plan_file_close(&f);
	buf_close(&why);
}

#define TIERS(text) \
	"[activity]\nsponsor = s\nalgorithm = tiers\ntiers = " text "\n"

/* The plan of a file, or why there is none. */
static bool plan_of(const char *text, struct plan *out, char refusal[PLAN_WHY])
{
	struct plan_file f;
	struct buf why;
	bool ok = read_text(text, "a", &f, &why) == 0;

	cr_assert(ok, "%s: %s", text, (const char *)buf_live(&why).p);
	ok = plan_read(&f.plan, out, refusal);
	plan_file_close(&f);
	buf_close(&why);
	return ok;
}

Test(plan_file, tiers_say_total_and_packets)
{
	static const char *const spellings[] = {
		TIERS("1000.00 x 1, 10 x 200"),
		TIERS("1000x1,10.0x200"),
		TIERS("  1000 x1  ,   10.00x 200  "),
		TIERS("1000.00 x 1, 10 x 200") "total = 3000\n",
		TIERS("1000.00 x 1, 10 x 200") "packets = 201\n",
		TIERS("1000.00 x 1, 10 x 200") "total = 3000.00\npackets = 201\n",
	};

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		char why[PLAN_WHY], text[PLAN_TIERS_TEXT];
		struct plan p;

		cr_assert(plan_of(spellings[i], &p, why), "%s", why);
		cr_assert_eq(p.rule.total_cents, 300000);
		cr_assert_eq(p.rule.count, 201);
		cr_assert_eq(p.rule.algorithm, ALLOCATE_TIERS);
		plan_tiers_text(&p.rule, text);
		cr_assert_str_eq(text, "100000x1,1000x200");
	}
}

static void contradicts(const char *text, const char *said)
{
	char why[PLAN_WHY];
	struct plan p;

	cr_assert(!plan_of(text, &p, why), "%s", text);
	cr_assert(strstr(why, said) != NULL, "%s", why);
}

Test(plan_file, what_contradicts_its_tiers_is_no_plan)
{
	contradicts(TIERS("1000.00 x 1, 10 x 200") "total = 3000.01\n",
		    "the tiers have 201 packets with 3000.00, the plan has 201 "
		    "with 3000.01");
	contradicts(TIERS("1000.00 x 1, 10 x 200") "packets = 200\n",
		    "the tiers have 201 packets with 3000.00, the plan has 200 "
		    "with 3000.00");
	contradicts(TIERS("1000.00 x 1, 10 x 200") "max = 999\n",
		    "a tier of 1000.00: 0.01 to 999.00 are allowed");
	contradicts(TIERS("10 x 0, 10 x 2"),
		    "a tier of 0 packets: 1 to 10000000 are allowed");
	contradicts("[activity]\nsponsor = s\ntiers = 10 x 2\n",
		    "tiers are for the algorithm tiers, not for double_mean");
	contradicts("[activity]\nsponsor = s\nalgorithm = tiers\ntotal = 1\n",
		    "0 tiers: 1 to 32 are allowed");
}

#define PLAN(text) "[activity]\nsponsor = s\ntotal = 9\npackets = 3\n" text

Test(plan_file, amounts_are_drawn_live_only_if_it_says_so_and_double_mean)
{
	static const char only[] = "only double_mean can be drawn while people "
				   "grab";
	char why[PLAN_WHY];
	struct plan p;

	cr_assert(plan_of(PLAN(""), &p, why), "%s", why);
	cr_assert_not(p.rule.live);
	cr_assert(plan_of(PLAN("mode = list\n"), &p, why), "%s", why);
	cr_assert_not(p.rule.live);
	cr_assert(plan_of(PLAN("mode = live\n"), &p, why), "%s", why);
	cr_assert(p.rule.live);
	contradicts(PLAN("mode = live\nalgorithm = equal\n"),
		    "mode live with the algorithm equal");
	contradicts(PLAN("mode = live\nalgorithm = adopted\n"), only);
	contradicts(TIERS("10 x 2") "mode = live\n", only);
}

/* How many lines it gets. */
static int complaints(const char *text)
{
	struct plan_file f;
	struct buf why;
	int n = 0;

	cr_assert_eq(read_text(text, NULL, &f, &why), ERR_CONFIG, "%s", text);
	for (const char *at = (const char *)buf_live(&why).p; *at != '\0';
	     at++) {
		n += *at == '\n';
	}
	plan_file_close(&f);
	buf_close(&why);
	return n;
}

#define TEN_TIERS                                                  \
	"1 x 1, 1 x 1, 1 x 1, 1 x 1, 1 x 1, 1 x 1, 1 x 1, 1 x 1, " \
	"1 x 1, 1 x 1, "

Test(plan_file, tiers_that_are_none_are_told_what_is_allowed)
{
	static const char *const texts[] = {
		"many",
		"10",
		"10 x",
		"x 10",
		"10 x 2,",
		",10 x 2",
		"10 x 2,,1 x 1",
		"10 x 2; 1 x 1",
		"10 x 2 1 x 1",
		"10 * 2",
		"10 X 2",
		"10 x 2 x 3",
		"10.123 x 2",
		"-10 x 2",
		"10 x -2",
		"10 x 2.5",
		"1e3 x 2",

		"10 x 10000001",
		"0x10 x 2",
		"90071992547409.92 x 1",
		"90071992547409.91 x 1, 0.01 x 1",
		"99999999999999999999999999999999 x 1",
		"1 x 99999999999999999999999999999999",
		TEN_TIERS TEN_TIERS TEN_TIERS "1 x 1, 1 x 1, 1 x 1",
	};
	struct plan p;
	char why[PLAN_WHY];

	cr_assert(plan_of(TIERS(TEN_TIERS TEN_TIERS TEN_TIERS "1 x 1, 1 x 1"),
			  &p, why),
		  "%s", why);
	cr_assert_eq(p.rule.tier_count, 32);
	cr_assert(plan_of(TIERS("90071992547409.91 x 1"), &p, why), "%s", why);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char text[800];

		(void)snprintf(text, sizeof(text), TIERS("%s"), texts[i]);
		refuse(text,
		       "allowed: at most 32 of AMOUNT x PACKETS, a comma "
		       "between two; in all at most 90071992547409.91 and "
		       "10000000 packets\n");
		refuse(text, texts[i]);
		/* One line: that there is no total is not what is wrong. */
		cr_expect_eq(complaints(text), 1, "%s", texts[i]);
	}
}

Test(plan_file, refuses_what_is_wrong_and_says_what_is_allowed)
{
	refuse("[activity]\nsponsor = s\ntotal = 1.234\n", "12.50");
	refuse("[activity]\nsponsor = s\ntotal = -1\n", "total");
	refuse("[activity]\nsponsor = s\ntotal = 1\npackets = 0\n", "packets");
	refuse("[activity]\nsponsor = s\ntotal = 1\nstart = soon\n",
	       "+SECONDS");
	refuse("[activity]\nsponsor = s\ntotal = 1\ncolour = red\n", "colour");
	refuse("[activity]\nsponsor = s\ntotal = 1\nmode = foo\n",
	       "activity.mode: \"foo\" cannot be read; allowed: list, live\n");
	refuse("[activity]\nsponsor = s\n", "total");
	refuse("[activity]\ntotal = 1\n", "sponsor");
}

/* ---- A further tranche ---- */

static int read_topup(const char *text, struct plan_file *f, struct buf *why)
{
	char path[32];
	int rv;

	buf_init(why);
	write_file(path, text);
	rv = topup_file_read(path, f, why);
	unlink(path);
	buf_put_u8(why, 0);
	return rv;
}

Test(plan_file, a_topup_says_how_money_is_split_and_nothing_else)
{
	static const char *const others[] = {
		"sponsor = s\n",   "title = t\n",   "currency = USD\n",
		"end = +60\n",     "id = a\n",      "start = +1\n",
		"release = 10s\n", "ack = redis\n", "keep_days = 7\n",
		"mode = live\n",   "prefix = p\n",
	};
	struct plan_file f;
	struct buf why;

	cr_assert_eq(read_topup("[activity]\ntotal = 12.50\npackets = 5\n"
				"min = 0.10\nmax = 9\nalgorithm = equal\n",
				&f, &why),
		     0, "%s", (const char *)buf_live(&why).p);
	cr_assert_eq(f.plan.total_cents, 1250);
	cr_assert_eq(f.plan.packets, 5);
	cr_assert_eq(f.plan.min_cents, 10);
	cr_assert_eq(f.plan.max_cents, 900);
	cr_assert(bytes_eq(from_pb(f.plan.algorithm), BYTES("equal")));
	plan_file_close(&f);
	buf_close(&why);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		char text[100];

		(void)snprintf(text, sizeof(text), "[activity]\ntotal = 1\n%s",
			       others[i]);
		cr_expect_eq(read_topup(text, &f, &why), ERR_CONFIG, "%s",
			     others[i]);
		cr_expect(strstr((const char *)buf_live(&why).p,
				 "the rest is the activity's") != NULL,
			  "%s", (const char *)buf_live(&why).p);
		plan_file_close(&f);
		buf_close(&why);
	}
}

Test(plan_file, a_topup_in_tiers)
{
	struct plan_file f;
	struct buf why;

	cr_assert_eq(read_topup("[activity]\nalgorithm = tiers\n"
				"tiers = 5 x 2, 0.50 x 10\n",
				&f, &why),
		     0, "%s", (const char *)buf_live(&why).p);
	cr_assert_eq(f.plan.total_cents, 1500);
	cr_assert_eq(f.plan.packets, 12);
	cr_assert_eq(f.plan.n_tiers, 2);
	plan_file_close(&f);
	buf_close(&why);
	cr_assert_eq(read_topup("[activity]\npackets = 2\n", &f, &why),
		     ERR_CONFIG);
	cr_assert(strstr((const char *)buf_live(&why).p, "total") != NULL);
	plan_file_close(&f);
	buf_close(&why);
}
