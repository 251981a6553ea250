/* What becomes of a command: every row of the reaction table, scripts, cut,
 * stalled and strange replies, against a Redis that says what we want. */
#include <criterion/criterion.h>

#include "lib/redis_fake.h"
#include "lib/redis_rig.h"

static struct rig g;
static struct fake f;

static void setup(void)
{
	rig_open_loop(&g);
	fake_open(&f, g.hub);
}

static void start(void (*change)(struct redis_options *o))
{
	rig_start(&g, f.url, change);
}

static void teardown(void)
{
	fake_close(&f);
	rig_close(&g);
}

TestSuite(redis_fake, .init = setup, .fini = teardown);

/* ---- The table ---- */

static const struct {
	const char *say;
	enum redis_outcome outcome;
	bool leaves; /* reconnects */
} table[] = {
	{ "SAY +OK", REDIS_DONE, false },
	{ "SAY :17", REDIS_DONE, false },
	{ "SAY -ERR unknown command", REDIS_NOT_EXECUTED, false },
	{ "SAY -NOSCRIPT to a plain command", REDIS_NOT_EXECUTED, false },
	{ "SAY -BUSY Redis is busy", REDIS_NOT_EXECUTED, false },
	{ "SAY -TRYAGAIN Multiple keys", REDIS_NOT_EXECUTED, false },
	{ "SAY -CLUSTERDOWN Hash slot", REDIS_NOT_EXECUTED, false },
	{ "SAY -OOM command not allowed", REDIS_NOT_EXECUTED, false },
	{ "SAY -MISCONF Redis is configured", REDIS_NOT_EXECUTED, false },
	{ "SAY -NOREPLICAS Not enough", REDIS_NOT_EXECUTED, false },
	{ "SAY -MOVED 1 h:1", REDIS_NOT_EXECUTED, false },
	{ "SAY -ASK 1 h:1", REDIS_NOT_EXECUTED, false },
	{ "SAY -CROSSSLOT Keys", REDIS_NOT_EXECUTED, false },
	{ "SAY -NOPERM this user", REDIS_NOT_EXECUTED, false },
	{ "SAY -NOAUTH Authentication", REDIS_NOT_EXECUTED, false },
	{ "SAY -WRONGPASS invalid", REDIS_NOT_EXECUTED, false },
	{ "SAY -WRONGTYPE Operation script: aa, on @user_script:1.",
	  REDIS_PARTIAL, false },
	{ "SAY -READONLY You can't write", REDIS_NOT_EXECUTED, true },
	{ "SAY -MASTERDOWN Link with MASTER", REDIS_NOT_EXECUTED, true },
};

Test(redis_fake, every_row)
{
	f.on_command = fake_repeat;
	start(NULL);
	rig_ready(&g, true);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct answer a;
		int before = f.accepted;

		rig_ask(&g, &a, table[i].say);
		cr_expect_eq(a.outcome, table[i].outcome, "%s", table[i].say);
		cr_expect(a.replied, "%s", table[i].say);
		cr_expect_eq(redis_ready(g.redis), !table[i].leaves, "%s",
			     table[i].say);
		rig_ready(&g, true);
		cr_expect_eq(f.accepted, before + (table[i].leaves ? 1 : 0),
			     "%s", table[i].say);
	}
}

static struct fake_conn *last;

static void keep_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	last = c;
}

Test(redis_fake, no_master_all_that_was_sent_gets_its_own_answer)
{
	struct answer a[5];

	f.on_command = keep_cb;
	start(NULL);
	rig_ready(&g, true);
	for (int i = 0; i < 4; i++) {
		rig_send(&g, &a[i], 9000, "INCR a");
	}
	RUN_UNTIL(&g.loop, f.commands == 4);
	fake_say(last, "+before\r\n-READONLY You can't write\r\n");
	rig_answer(&g, &a[1]);
	cr_assert_not(redis_ready(g.redis));
	f.on_command = fake_repeat;
	rig_send(&g, &a[4], 9000, "SAY +elsewhere");
	rig_spin(&g, 20);
	cr_assert_eq(f.accepted, 1);
	cr_assert_eq(f.commands, 4);
	fake_say(last, "-READONLY You can't write\r\n+after\r\n");
	rig_all(&g);
	cr_assert_eq(a[2].outcome, REDIS_NOT_EXECUTED);
	cr_assert_str_eq(a[3].text, "after");
	cr_assert_str_eq(a[4].text, "elsewhere");
	cr_assert_eq(f.accepted, 2);
	cr_assert_eq(redis_connection(g.redis), 2);
}

/* ---- NOSCRIPT ---- */

static bool has_script;
static int evals;

/* Like Redis: EVAL makes the script known. */
static void script_cb(struct fake_conn *c, const redisReply *command)
{
	if (strcmp(fake_word(command, 0), "EVAL") == 0) {
		has_script = true;
		evals++;
	} else if (strcmp(fake_word(command, 0), "EVALSHA") != 0) {
		fake_repeat(c, command);
		return;
	} else if (!has_script) {
		fake_say(c, "-NOSCRIPT No matching script.\r\n");
		return;
	}
	/* The keys and arguments come back. */
	fake_say(c, "+");
	for (size_t i = 2; i < command->elements; i++) {
		fake_say(c, fake_word(command, i));
		fake_say(c, i + 1 < command->elements ? "," : "\r\n");
	}
}

Test(redis_fake, scripts_are_sent_again_with_the_same_arguments)
{
	struct redis_script s = rig_make_script("s", "return KEYS[1]");
	struct answer a[6];

	has_script = false;
	evals = 0;
	f.on_command = script_cb;
	start(NULL);
	rig_ready(&g, true);
	rig_script(&g, &a[0], 5000, &s, 1, "k0 x y");
	rig_send(&g, &a[1], 5000, "SAY +1");
	rig_script(&g, &a[2], 5000, &s, 2, "k2 k3");
	rig_send(&g, &a[3], 5000, "SAY +3");
	rig_all(&g);
	cr_assert_str_eq(a[0].text, "1,k0,x,y");
	cr_assert_str_eq(a[1].text, "1");
	cr_assert_str_eq(a[2].text, "2,k2,k3");
	cr_assert_str_eq(a[3].text, "3");
	/* Those that had to go twice end behind, in their own order. */
	cr_assert_lt(a[1].place, a[3].place);
	cr_assert_lt(a[3].place, a[0].place);
	cr_assert_lt(a[0].place, a[2].place);
	cr_assert_eq(evals, 2);
	rig_script(&g, &a[4], 5000, &s, 0, "");
	rig_script(&g, &a[5], 5000, &s, 0, "z");
	rig_all(&g);
	cr_assert_str_eq(a[4].text, "0");
	cr_assert_str_eq(a[5].text, "0,z");
	cr_assert_eq(evals, 2);
}

static void never_script_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	fake_say(c, "-NOSCRIPT No matching script.\r\n");
}

Test(redis_fake, eval_once_and_no_more)
{
	struct redis_script s = rig_make_script("s", "return 1");
	struct answer a;

	f.on_command = never_script_cb;
	start(NULL);
	rig_script(&g, &a, 5000, &s, 0, "");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
	cr_assert_eq(f.commands, 2);
}

/* ---- Cut, stalled, strange ---- */

static const char cut_reply[] = "*2\r\n$5\r\nhello\r\n:42\r\n";
static size_t cut_after;

static void cut_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	fake_say_bytes(c, bytes_make(cut_reply, cut_after));
	fake_hang_up(c);
}

Test(redis_fake, cut_after_every_byte)
{
	f.on_command = cut_cb;
	start(NULL);
	for (cut_after = 0; cut_after < sizeof(cut_reply); cut_after++) {
		struct answer a;
		struct answer behind;
		bool whole = cut_after == sizeof(cut_reply) - 1;

		rig_ready(&g, true);
		rig_send(&g, &a, 5000, "GET a");
		rig_send(&g, &behind, 5000, "GET b");
		rig_all(&g);
		cr_assert_eq(a.outcome, whole ? REDIS_DONE : REDIS_UNKNOWN,
			     "%zu", cut_after);
		cr_assert_eq(a.replied, whole);
		cr_assert_eq(behind.outcome, REDIS_UNKNOWN);
		cr_assert_not(redis_ready(g.redis) &&
			      redis_connection(g.redis) ==
				      (uint64_t)cut_after + 1);
	}
	cr_assert_geq(f.accepted, (int)sizeof(cut_reply));
}

Test(redis_fake, a_reply_in_single_bytes)
{
	struct answer a;

	f.on_command = keep_cb;
	start(NULL);
	rig_send(&g, &a, 9000, "GET a");
	RUN_UNTIL(&g.loop, f.commands == 1);
	for (size_t i = 0; i + 1 < sizeof(cut_reply); i++) {
		cr_assert_eq(a.ended, 0);
		fake_say_bytes(last, bytes_make(cut_reply + i, 1));
		uv_run(&g.loop, UV_RUN_ONCE);
		uv_run(&g.loop, UV_RUN_NOWAIT);
	}
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_DONE);
}

Test(redis_fake, a_late_reply_is_swallowed_in_its_place)
{
	struct answer a;
	struct answer b;

	f.on_command = keep_cb;
	start(NULL);
	rig_ready(&g, true);
	rig_send(&g, &a, 30, "GET a");
	rig_send(&g, &b, 9000, "GET b");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_UNKNOWN);
	cr_assert_not(a.replied);
	cr_assert(redis_ready(g.redis));
	fake_say(last, "+for a\r\n+for b\r\n");
	rig_answer(&g, &b);
	cr_assert_str_eq(b.text, "for b");
	cr_assert_eq(f.accepted, 1);
}

Test(redis_fake, deadlines_of_all_lengths_are_kept)
{
	enum { N = 40 };
	struct answer a[N];
	uint64_t from;

	f.on_command = keep_cb;
	start(NULL);
	rig_ready(&g, true);
	from = uv_now(&g.loop);
	for (uint64_t i = 0; i < N; i++) {
		/* 0, 7, 14, ... in another order */
		rig_send(&g, &a[i], i * 7 % N * 5, "GET a");
	}
	for (uint64_t i = 0; i < N; i++) {
		rig_answer(&g, &a[i]);
		cr_assert_geq(uv_now(&g.loop) - from, i * 7 % N * 5);
	}
	for (uint64_t i = 0; i + 1 < N; i++) {
		bool sooner = i * 7 % N < (i + 1) * 7 % N;

		cr_assert_eq(a[i].place < a[i + 1].place, sooner);
	}
}

static void short_silence(struct redis_options *o)
{
	o->silence_max_ms = 60;
}

Test(redis_fake, silence_ends_the_connection)
{
	struct answer a;
	struct answer b;

	f.on_command = keep_cb;
	start(short_silence);
	rig_ready(&g, true);
	rig_send(&g, &a, 9000, "GET a");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_UNKNOWN);
	f.on_command = fake_repeat;
	cr_assert_str_eq(rig_ask(&g, &b, "SAY +b"), "b");
	cr_assert_eq(f.accepted, 2);
}

Test(redis_fake, an_idle_connection_is_asked_whether_it_lives)
{
	start(short_silence);
	rig_ready(&g, true);
	RUN_UNTIL(&g.loop, f.seen_count >= 5);
	cr_assert_str_eq(f.seen[4], "PING");
	cr_assert_eq(f.accepted, 1);
	cr_assert_eq(g.changes, 1);
	f.ping = ""; /* it still reads, but says nothing */
	rig_ready(&g, false);
	f.ping = NULL;
	rig_ready(&g, true);
	cr_assert_geq(f.accepted, 2);
}

static void garbage_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	fake_say(c, "HTTP/1.1 400 Bad Request\r\n\r\n");
}

Test(redis_fake, what_is_no_resp_ends_the_connection)
{
	struct answer a;
	struct answer b;

	f.on_command = garbage_cb;
	start(NULL);
	rig_ask(&g, &a, "GET a");
	cr_assert_eq(a.outcome, REDIS_UNKNOWN);
	f.on_command = fake_repeat;
	cr_assert_str_eq(rig_ask(&g, &b, "SAY +b"), "b");
	cr_assert_eq(f.accepted, 2);
}

Test(redis_fake, a_reply_that_nobody_asked_for_ends_the_connection)
{
	start(NULL);
	rig_ready(&g, true);
	fake_say(f.conns, "+surprise\r\n");
	rig_ready(&g, false);
	rig_ready(&g, true);
	cr_assert_eq(f.accepted, 2);
}

static uint8_t flood[1 << 20];

static void flood_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	fake_say(c, "$200000000\r\n");
	for (int i = 0; i < 17; i++) {
		fake_say_bytes(c, bytes_make(flood, sizeof(flood)));
	}
}

Test(redis_fake, a_reply_without_end_ends_the_connection)
{
	struct answer a;

	f.on_command = flood_cb;
	start(NULL);
	rig_ask(&g, &a, "GET a");
	cr_assert_eq(a.outcome, REDIS_UNKNOWN);
	cr_assert_not(a.replied);
	rig_ready(&g, true);
	cr_assert_eq(f.accepted, 2);
}
