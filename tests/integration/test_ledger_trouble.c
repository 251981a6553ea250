/* The ledger's file in trouble: no room, read-only, damaged, gone, its process
 * killed. A batch is applied whole or not at all, with its offsets. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/ledger_fixture.h"

enum {
	BATCH = 50,
	SEED = 20260501,
	KILLS = 60,
	DAMAGES = 150,
	PAGE = 4096,
	CLAIM_CENTS = 3,
};

static struct fixture f;

static void setup(void)
{
	fixture_open(&f);
	fixture_created(&f, "a", 1000000, 100000);
	fixture_loaded(&f, "a", 3, 1, 1000000, 100000);
	(void)fixture_apply(&f);
}

static void teardown(void)
{
	fixture_sound(&f);
	fixture_close(&f);
}

TestSuite(trouble, .init = setup, .fini = teardown, .timeout = 120);

/* xorshift: the same sequence on every machine. */
static uint64_t state = SEED;

static size_t below(size_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % n);
}

/* Claim n, which stands at offset n - 1 of the topic. */
static void add_claim(struct fixture *x, int64_t n)
{
	char packet[24];
	char user[24];

	(void)snprintf(packet, sizeof packet, "p%lld", (long long)n);
	(void)snprintf(user, sizeof user, "u%lld", (long long)n % 400);
	/* One packet a user: the rest of them is held. */
	fixture_claim(x, "a", packet, user, CLAIM_CENTS, (uint64_t)n);
}

/* What Kafka has next, in one batch. */
static int apply_next(struct fixture *x, struct ledger_result *result)
{
	struct event events[BATCH];
	struct ledger_move move = { BYTES("rain.claims"), 0, x->next[1],
				    x->next[1] + BATCH };
	struct ledger_batch b = { .cluster_id = BYTES("test"),
				  .moves = &move,
				  .move_count = 1,
				  .events = events,
				  .event_count = BATCH,
				  .now_ms = 1 };
	size_t first = x->count;
	int rv;

	for (size_t i = 0; i < BATCH; i++) {
		add_claim(x, x->next[1] + 1 + (int64_t)i);
	}
	for (size_t i = 0; i < BATCH; i++) {
		struct event_place place = {
			.topic = BYTES("rain.claims"),
			.offset = x->next[1] + (int64_t)i,
			.value = buf_live(&x->messages[first + i].value),
		};

		event_read(&events[i], EVENT_TOPIC_CLAIMS, &place);
	}
	rv = ledger_apply(x->ledger, &b, result);
	while (x->count > first) {
		buf_close(&x->messages[--x->count].value);
	}
	if (rv == 0 && !result->moved) {
		x->next[1] = move.to;
	}
	return rv;
}

/* Offset and effect are one: every claim before next_offset is accounted for,
 * and none behind it. */
static void expect_exact(struct fixture *x)
{
	int64_t n = fixture_number(x, "SELECT next_offset FROM consumer_offset "
				      "WHERE topic = 'rain.claims'");
	struct ledger_totals t = fixture_totals(x, "a");

	cr_assert_eq(t.books.credited_packets + t.books.held_packets, n);
	cr_assert_eq(t.books.credited_cents + t.books.held_cents,
		     n * CLAIM_CENTS);
	cr_assert_eq(t.books.whole_seq, n);
	fixture_sound(x);
}

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
	while (apply_next(&child, &r) == 0 && !r.moved) {
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
static void kill_one(useconds_t after)
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
	(void)usleep(after);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status), "it ended by itself: %d", status);
}

Test(trouble, killed_at_any_moment_it_credits_each_claim_once)
{
	int64_t before = 0;

	for (int i = 0; i < KILLS; i++) {
		kill_one((useconds_t)below(60000));
		open_again();
		expect_exact(&f);
		cr_assert_geq(f.next[1], before);
		before = f.next[1];
	}
	cr_assert_gt(before, BATCH, "it got somewhere");
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
	expect_exact(&f);
	at = f.next[1];
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(apply_next(&f, &r), 0);
		cr_assert_eq(r.credits + r.conflicts, BATCH);
	}
	cr_assert_eq(f.next[1], at + (int64_t)20 * BATCH);
	expect_exact(&f);
}

/* ---- Gone ---- */

static void expect_refusal(const char *part)
{
	struct ledger_result r;

	cr_assert_eq(apply_next(&f, &r), ERR_STORE);
	cr_assert_not_null(strstr(ledger_why(f.ledger), part), "%s",
			   ledger_why(f.ledger));
}

Test(trouble, a_file_that_was_moved_away_is_waited_for)
{
	struct ledger_result r;
	struct ledger *other = NULL;
	char away[128];

	cr_assert_eq(apply_next(&f, &r), 0);
	(void)snprintf(away, sizeof away, "%s.away", f.path);
	cr_assert_eq(rename(f.path, away), 0);
	expect_refusal("put that very file back");
	cr_assert_eq(rename(away, f.path), 0);
	cr_assert_eq(apply_next(&f, &r), 0);
	expect_exact(&f);
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
	expect_exact(&f);
	cr_assert_eq(apply_next(&f, &r), 0);
	expect_exact(&f);
}

Test(trouble, a_wal_that_was_deleted_stops_it_and_a_restart_heals_it)
{
	struct ledger_result r;
	char wal[128];

	cr_assert_eq(apply_next(&f, &r), 0);
	(void)snprintf(wal, sizeof wal, "%s-wal", f.path);
	cr_assert_eq(unlink(wal), 0);
	expect_refusal("-wal was moved, deleted");
	fixture_reopen(&f);
	cr_assert_eq(f.next[1], BATCH, "what was committed is there");
	cr_assert_eq(apply_next(&f, &r), 0);
	expect_exact(&f);
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
	fixture_created(&f, "a", 1000000, 100000);
	fixture_loaded(&f, "a", 3, 1, 1000000, 100000);
	(void)fixture_apply(&f);
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
			rv = apply_next(&f, &r);
		}
		if (rv != 0) {
			refused++;
			cr_assert_eq(rv, ERR_STORE);
			cr_assert_not_null(strstr(ledger_why(f.ledger), "full"),
					   "%s", ledger_why(f.ledger));
			/* Still refused: it is not worn down. */
			cr_assert_eq(apply_next(&f, &r), ERR_STORE);
		}
		cr_assert_eq(unlink(ballast), 0);
		cr_assert_eq(apply_next(&f, &r), 0, "%s", ledger_why(f.ledger));
		expect_exact(&f);
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
	expect_exact(&f);
}

/* ---- Damaged ---- */

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
	size_t n = below(2) == 0 ? PAGE : 1 + below(64);
	off_t at;

	cr_assert_geq(fd, 0);
	cr_assert_eq(fstat(fd, &st), 0);
	for (size_t i = 0; i < n; i++) {
		garbage[i] = (char)below(256);
	}
	/* Behind the first page, without which there is no database. */
	at = PAGE + (off_t)below((size_t)st.st_size - 2 * PAGE);
	if (n == PAGE) {
		at -= at % PAGE;
	}
	cr_assert_eq(pwrite(fd, garbage, n, at), (ssize_t)n);
	(void)close(fd);
}

/* It says so, or it did not touch what is damaged; it never aborts, and the
 * undamaged file goes on from where it stood. */
Test(trouble, a_damaged_page_is_an_error)
{
	char whole[128];
	struct ledger_result r;
	int refused = 0;

	for (int i = 0; i < 20; i++) {
		cr_assert_eq(apply_next(&f, &r), 0);
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
			rv = apply_next(&f, &r);
			f.next[1] -= rv == 0 && !r.moved ? BATCH : 0;
			ledger_close(f.ledger);
		}
		refused += rv != 0 ? 1 : 0;
		copy(whole, f.path);
		open_again();
	}
	cr_assert_gt(refused, DAMAGES / 10);
	cr_assert_eq(unlink(whole), 0);
	cr_assert_eq(apply_next(&f, &r), 0);
	expect_exact(&f);
}
