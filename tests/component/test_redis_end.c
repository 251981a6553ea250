/* Transactions that are cut, bounds, and the end of a client in every state. */
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

TestSuite(redis_end, .init = setup, .fini = teardown);

static struct fake_conn *last;

static void keep_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	last = c;
}

static void garbage_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	fake_say(c, "HTTP/1.1 400 Bad Request\r\n\r\n");
}

/* ---- Transactions ---- */

/* Nobody knows what became of it until EXEC is answered. */
Test(redis_end, a_transaction_cut_between_its_replies)
{
	static const char *const replies[] = {
		"", "+OK\r\n", "+OK\r\n+QUEUED\r\n",
		"+OK\r\n-NOPERM no\r\n+QUEUED\r\n"
	};
	struct redis_script script = rig_make_script("s", "return 1");
	struct answer a;
	struct answer late;

	f.on_command = keep_cb;
	start(NULL);
	for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
		rig_ready(&g, true);
		f.commands = 0;
		rig_transaction(&g, &a, 9000, &script, 0, "", "LLEN k");
		RUN_UNTIL(&g.loop, f.commands == 4);
		fake_say(last, replies[i]);
		fake_hang_up(last);
		rig_answer(&g, &a);
		cr_assert_eq(a.outcome, REDIS_UNKNOWN, "%zu", i);
	}
	/* Those of one that was not waited for are all swallowed. */
	rig_ready(&g, true);
	f.commands = 0;
	rig_transaction(&g, &late, 20, &script, 0, "", "LLEN k");
	rig_answer(&g, &late);
	cr_assert_eq(late.outcome, REDIS_UNKNOWN);
	rig_send(&g, &a, 9000, "GET a");
	RUN_UNTIL(&g.loop, f.commands == 5);
	fake_say(last,
		 "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n:2\r\n+mine\r\n");
	rig_answer(&g, &a);
	cr_assert_str_eq(a.text, "mine");
}

/* ---- Bounds ---- */

static void three_commands(struct redis_options *o)
{
	o->commands_max = 3;
}

Test(redis_end, one_command_too_many_is_refused_later)
{
	struct answer a[4];

	f.on_command = keep_cb;
	start(three_commands);
	rig_ready(&g, true);
	for (int i = 0; i < 4; i++) {
		rig_send(&g, &a[i], 9000, "GET a");
	}
	cr_assert_eq(a[3].ended, 0);
	rig_answer(&g, &a[3]);
	cr_assert_eq(a[3].outcome, REDIS_NOT_EXECUTED);
	cr_assert_not(a[3].replied);
	RUN_UNTIL(&g.loop, f.commands == 3);
	fake_say(last, "+0\r\n+1\r\n+2\r\n");
	rig_all(&g);
	cr_assert_eq(a[2].outcome, REDIS_DONE);
}

static void ok_cb(struct fake_conn *c, const redisReply *command)
{
	(void)command;
	fake_say(c, "+OK\r\n");
}

Test(redis_end, what_the_peer_does_not_read_is_held_back)
{
	enum { N = 12 };
	static char words[(1 << 20) + 8] = "GET ";
	struct answer a[N];

	memset(words + 4, 'x', 1 << 20);
	start(NULL);
	rig_ready(&g, true);
	stream_pause(&f.conns->stream);
	for (int i = 0; i < N; i++) {
		rig_send(&g, &a[i], 100, words);
	}
	rig_all(&g);
	cr_assert_eq(a[0].outcome, REDIS_UNKNOWN);
	cr_assert_eq(a[N - 1].outcome, REDIS_NOT_EXECUTED);
	/* And the connection goes on once it is read. */
	f.on_command = ok_cb;
	stream_resume(&f.conns->stream);
	cr_assert_str_eq(rig_ask(&g, &a[0], "GET a"), "OK");
	cr_assert_eq(f.accepted, 1);
}

/* ---- Free ---- */

Test(redis_end, free_ends_everything_at_once)
{
	struct answer a[3];

	f.on_command = keep_cb;
	start(NULL);
	rig_ready(&g, true);
	rig_send(&g, &a[0], 9000, "GET a");
	rig_send(&g, &a[1], 30, "GET b");
	rig_answer(&g, &a[1]); /* abandoned, its reply will not come */
	rig_free_redis(&g);
	cr_assert_eq(a[0].ended, 1);
	cr_assert_eq(a[0].outcome, REDIS_UNKNOWN);
}

Test(redis_end, free_before_it_is_connected)
{
	struct answer a;

	start(NULL);
	rig_send(&g, &a, 9000, "GET a");
	rig_free_redis(&g);
	cr_assert_eq(a.outcome, REDIS_NOT_EXECUTED);
}

Test(redis_end, free_while_it_waits_to_reconnect)
{
	f.on_accept = "";
	start(NULL);
	RUN_UNTIL(&g.loop, f.accepted >= 2);
	rig_free_redis(&g);
}

static int freed_calls;

static void free_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	(void)ctx;
	(void)outcome;
	(void)reply;
	if (freed_calls++ == 0) {
		rig_free_redis(&g);
	}
}

Test(redis_end, free_from_a_callback)
{
	struct bytes say[] = { BYTES("SAY"), BYTES("+x") };
	struct answer behind;

	f.on_command = fake_repeat;
	freed_calls = 0;
	start(NULL);
	rig_ready(&g, true);
	for (int i = 0; i < 3; i++) {
		redis_command(g.redis, 2, say, 9000, free_cb, NULL);
	}
	rig_send(&g, &behind, 9000, "SAY +y");
	RUN_UNTIL(&g.loop, freed_calls == 3);
	cr_assert_eq(behind.outcome, REDIS_UNKNOWN);
}

static int again_calls;

static void again_cb(void *ctx, enum redis_outcome outcome,
		     const redisReply *reply)
{
	(void)reply;
	cr_assert_neq(outcome, REDIS_DONE);
	if (again_calls++ < 3) {
		redis_command(ctx, 1, (struct bytes[]){ BYTES("GET") }, 9000,
			      again_cb, ctx);
	}
}

Test(redis_end, who_sends_again_while_it_is_freed_is_refused)
{
	f.on_command = keep_cb;
	again_calls = 0;
	start(NULL);
	rig_ready(&g, true);
	redis_command(g.redis, 1, (struct bytes[]){ BYTES("GET") }, 9000,
		      again_cb, g.redis);
	rig_free_redis(&g);
	cr_assert_eq(again_calls, 1);
	RUN_UNTIL(&g.loop, again_calls == 4);
}

static void free_watch(void *ctx)
{
	(void)ctx;
	rig_free_redis(&g);
}

Test(redis_end, free_from_the_watcher)
{
	struct answer a;

	f.on_command = garbage_cb;
	start(NULL);
	rig_ready(&g, true);
	redis_watch(g.redis, free_watch, NULL);
	rig_send(&g, &a, 9000, "GET a");
	rig_answer(&g, &a);
	cr_assert_eq(a.outcome, REDIS_UNKNOWN);
	cr_assert_null(g.redis);
}
