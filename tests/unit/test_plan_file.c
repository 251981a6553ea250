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
			       "keep_days = 0\n",
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

Test(plan_file, refuses_what_is_wrong_and_says_what_is_allowed)
{
	refuse("[activity]\nsponsor = s\ntotal = 1.234\n", "12.50");
	refuse("[activity]\nsponsor = s\ntotal = -1\n", "total");
	refuse("[activity]\nsponsor = s\ntotal = 1\npackets = 0\n", "packets");
	refuse("[activity]\nsponsor = s\ntotal = 1\nstart = soon\n",
	       "+SECONDS");
	refuse("[activity]\nsponsor = s\ntotal = 1\ncolour = red\n", "colour");
	refuse("[activity]\nsponsor = s\n", "total");
	refuse("[activity]\ntotal = 1\n", "sponsor");
}
