/* The ledger's file in trouble: no room, read-only, gone, its process killed. A
 * batch is applied whole or not at all, with its offsets. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/ledger_steps.h"

enum { KILLS = 60 };

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

TestSuite(trouble, .init = setup, .fini = teardown, .timeout = 120);

/* ---- Killed ---- */

static void work_for_ever(void)
{
	struct fixture child = f;
	struct ledger_result r;
	struct ledger_position p = { .topic = "rain.claims" };

	if (ledger_open(f.path, &child.ledger) != 0 ||
	    ledger_positions(child.ledger, BYTES("test"), &p, 1) != 0) {
		_exit(1);
	}
	child.next[1] = p.next_offset;
	while (ledger_steps_next(&child, &r) == 0 && !r.moved) {
	}
	_exit(2);
}

static void open_again(void)
{
	cr_assert_eq(ledger_open(f.path, &f.ledger), 0);
	cr_assert_eq(ledger_reader_open(f.ledger, &f.reader), 0);
	fixture_reopen(&f);
}

/* A worker that is killed after this many microseconds. */
static void kill_one(long after)
{
	pid_t pid;
	int status;

	ledger_reader_close(f.reader);
	ledger_close(f.ledger);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		work_for_ever();
	}
	(void)ppoll(NULL, 0, &(struct timespec){ .tv_nsec = after * 1000 },
		    NULL);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status), "it ended by itself: %d", status);
}

Test(trouble, killed_at_any_moment_it_credits_each_claim_once)
{
	int64_t before = 0;

	for (int i = 0; i < KILLS; i++) {
		kill_one((long)ledger_steps_below(60000));
		open_again();
		ledger_steps_exact(&f);
		cr_assert_geq(f.next[1], before);
		before = f.next[1];
	}
	cr_assert_gt(before, LEDGER_STEPS_BATCH, "it got somewhere");
}

/* The -wal of a killed worker is thrown away: the last batches go, with their
 * offsets, and come again from Kafka. */
Test(trouble, without_its_wal_it_reads_again)
{
	char wal[128];
	struct ledger_result r;
	int64_t at;

	kill_one(200000);
	(void)snprintf(wal, sizeof wal, "%s-wal", f.path);
	cr_assert_eq(unlink(wal), 0);
	open_again();
	ledger_steps_exact(&f);
	at = f.next[1];
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(ledger_steps_next(&f, &r), 0);
		cr_assert_eq(r.credits + r.conflicts, LEDGER_STEPS_BATCH);
	}
	cr_assert_eq(f.next[1], at + (int64_t)20 * LEDGER_STEPS_BATCH);
	ledger_steps_exact(&f);
}

/* ---- Gone ---- */

static void expect_refusal(const char *part)
{
	struct ledger_result r;

	cr_assert_eq(ledger_steps_next(&f, &r), ERR_STORE);
	cr_assert_not_null(strstr(ledger_why(f.ledger), part), "%s",
			   ledger_why(f.ledger));
}

Test(trouble, a_file_that_was_moved_away_is_waited_for)
{
	struct ledger_result r;
	struct ledger *other = NULL;
	char away[128];

	cr_assert_eq(ledger_steps_next(&f, &r), 0);
	(void)snprintf(away, sizeof away, "%s.away", f.path);
	cr_assert_eq(rename(f.path, away), 0);
	expect_refusal("put that very file back");
	cr_assert_eq(rename(away, f.path), 0);
	cr_assert_eq(ledger_steps_next(&f, &r), 0);
	ledger_steps_exact(&f);
	/* Somebody makes a new one in its place, which takes the log away. */
	fixture_run(&f, "PRAGMA wal_checkpoint(TRUNCATE)");
	cr_assert_eq(rename(f.path, away), 0);
	cr_assert_eq(ledger_open(f.path, &other), 0);
	ledger_close(other);
	expect_refusal("replaced");
	cr_assert_eq(rename(away, f.path), 0);
	expect_refusal("-wal was moved, deleted or replaced");
	fixture_reopen(&f);
	/* Where it is now depends on what the other took. */
	ledger_steps_exact(&f);
	cr_assert_eq(ledger_steps_next(&f, &r), 0);
	ledger_steps_exact(&f);
}

Test(trouble, a_wal_that_was_deleted_stops_it_and_a_restart_heals_it)
{
	struct ledger_result r;
	char wal[128];

	cr_assert_eq(ledger_steps_next(&f, &r), 0);
	(void)snprintf(wal, sizeof wal, "%s-wal", f.path);
	cr_assert_eq(unlink(wal), 0);
	expect_refusal("-wal was moved, deleted");
	fixture_reopen(&f);
	cr_assert_eq(f.next[1], LEDGER_STEPS_BATCH,
		     "what was committed is there");
	cr_assert_eq(ledger_steps_next(&f, &r), 0);
	ledger_steps_exact(&f);
}

/* ---- No room ---- */

/* A file system of the test's own at its directory, or the test is skipped. */
static void mount_small(const char *options)
{
	int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

	ledger_reader_close(f.reader);
	ledger_close(f.ledger);
	if (unshare(flags) != 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("small", f.dir, "tmpfs", 0, options) != 0) {
		open_again();
		cr_skip_test("no file system of its own can be mounted here");
	}
	open_again();
	while (f.count > 0) {
		buf_close(&f.messages[--f.count].value);
	}
	f.applied = 0;
	ledger_steps_begin(&f);
}

static char ballast[128];

/* Fill the file system but for about this many bytes. */
static void fill(size_t leave)
{
	static const char zeros[1024];
	int fd;
	off_t size = 0;

	(void)snprintf(ballast, sizeof ballast, "%s/ballast", f.dir);
	fd = open(ballast, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	cr_assert_geq(fd, 0);
	while (write(fd, zeros, sizeof zeros) == (ssize_t)sizeof zeros) {
		size += (off_t)sizeof zeros;
	}
	cr_assert_eq(
		ftruncate(fd, size > (off_t)leave ? size - (off_t)leave : 0),
		0);
	(void)close(fd);
}

/* The disk is full at other moments each time: in the log, in its index, when the
 * log is carried over into the file. */
Test(trouble, a_full_file_system_passes)
{
	struct ledger_result r;
	int refused = 0;

	mount_small("size=16m");
	for (size_t leave = 0; leave < 400000; leave += 16384) {
		int rv = 0;

		fill(leave);
		for (int i = 0; i < 40 && rv == 0; i++) {
			rv = ledger_steps_next(&f, &r);
		}
		if (rv != 0) {
			refused++;
			cr_assert_eq(rv, ERR_STORE);
			cr_assert_not_null(strstr(ledger_why(f.ledger), "full"),
					   "%s", ledger_why(f.ledger));
			/* Still refused: it is not worn down. */
			cr_assert_eq(ledger_steps_next(&f, &r), ERR_STORE);
		}
		cr_assert_eq(unlink(ballast), 0);
		cr_assert_eq(ledger_steps_next(&f, &r), 0, "%s",
			     ledger_why(f.ledger));
		ledger_steps_exact(&f);
	}
	cr_assert_gt(refused, 10);
}

Test(trouble, a_read_only_file_system_is_refused_with_a_sentence)
{
	struct ledger *l = NULL;

	mount_small("size=4m");
	ledger_reader_close(f.reader);
	ledger_close(f.ledger);
	cr_assert_eq(mount(NULL, f.dir, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
	cr_assert_eq(ledger_open(f.path, &l), ERR_STORE);
	cr_assert_null(l);
	cr_assert_eq(mount(NULL, f.dir, NULL, MS_REMOUNT, NULL), 0);
	open_again();
	ledger_steps_exact(&f);
}
