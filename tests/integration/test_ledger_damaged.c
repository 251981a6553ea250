/* A ledger whose file is damaged: an error, never a wrong answer or an abort,
 * and an undamaged copy goes on from where it stood. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ledger_steps.h"

enum { DAMAGES = 150, PAGE = 4096 };

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
	ledger_steps_begin(&f);
}

static void teardown(void)
{
	fixture_sound(&f);
	fixture_close(&f);
}

TestSuite(damaged, .init = setup, .fini = teardown, .timeout = 120);

static void open_again(void)
{
	cr_assert_eq(ledger_open(f.path, &f.ledger), 0);
	cr_assert_eq(ledger_reader_open(f.ledger, &f.reader), 0);
	fixture_reopen(&f);
}

static void copy(const char *from, const char *to)
{
	char buf[PAGE];
	ssize_t n;
	int in = open(from, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert(in >= 0 && out >= 0);
	while ((n = read(in, buf, sizeof buf)) > 0) {
		cr_assert_eq(write(out, buf, (size_t)n), n);
	}
	(void)close(in);
	(void)close(out);
}

/* A page of garbage, or a few bytes of one. */
static void damage(const char *path)
{
	char garbage[PAGE];
	struct stat st;
	int fd = open(path, O_RDWR);
	size_t n =
		ledger_steps_below(2) == 0 ? PAGE : 1 + ledger_steps_below(64);
	off_t at;

	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &st), 0);
	for (size_t i = 0; i < n; i++) {
		garbage[i] = (char)ledger_steps_below(256);
	}
	/* Behind the first page, without which there is no database. */
	at = PAGE + (off_t)ledger_steps_below((size_t)st.st_size - 2 * PAGE);
	if (n == PAGE) {
		at -= at % PAGE;
	}
	cr_assert_eq(pwrite(fd, garbage, n, at), (ssize_t)n);
	(void)close(fd);
}

/* It says so, or it did not touch what is damaged; it never aborts, and the
 * undamaged file goes on from where it stood. */
Test(damaged, a_damaged_page_is_an_error)
{
	char whole[128];
	struct ledger_result r;
	int refused = 0;

	for (int i = 0; i < 20; i++) {
		cr_assert_eq(ledger_steps_next(&f, &r), 0);
	}
	fixture_run(&f, "PRAGMA wal_checkpoint(TRUNCATE)");
	(void)snprintf(whole, sizeof whole, "%s.whole", f.path);
	copy(f.path, whole);
	for (int i = 0; i < DAMAGES; i++) {
		int rv;

		ledger_reader_close(f.reader);
		ledger_close(f.ledger);
		copy(whole, f.path);
		damage(f.path);
		rv = ledger_open(f.path, &f.ledger);
		if (rv == 0) {
			rv = ledger_steps_next(&f, &r);
			f.next[1] -=
				rv == 0 && !r.moved ? LEDGER_STEPS_BATCH : 0;
			ledger_close(f.ledger);
		}
		refused += rv != 0 ? 1 : 0;
		copy(whole, f.path);
		open_again();
	}
	cr_assert_gt(refused, DAMAGES / 10);
	cr_assert_eq(unlink(whole), 0);
	cr_assert_eq(ledger_steps_next(&f, &r), 0);
	ledger_steps_exact(&f);
}
