/* What a gateway lets in: frames, tokens, messages. */
#include <stdlib.h>

#include "base/clock.h"
#include "lib/gateway_rig.h"
#include "proto/frame.h"
#include "proto/proto_util.h"

static struct rig rig;
static struct app app;

static void setup(void)
{
	rig_start(&rig, false, NULL);
	rig_ready(&rig);
}

static void teardown(void)
{
	rig_stop(&rig);
}

TestSuite(door, .init = setup, .fini = teardown, .timeout = 60);

static void send_raw(struct app *a, const void *p, size_t n)
{
	stream_send(&a->client.stream, bytes_make(p, n));
}

/* An Error with this code and a sentence, then the end. */
static void expect_end(struct app *a, Rain__ErrorCode code, const char *part)
{
	RUN_UNTIL(&rig.loop, a->closed);
	cr_assert_eq(app_last(a)->kind, ANSWER_ERROR);
	cr_assert_eq(app_last(a)->code, (int)code);
	cr_assert(strstr(app_last(a)->text, part) != NULL, "says: %s",
		  app_last(a)->text);
}

/* An Error about one message; the connection stays. */
static void expect_error(struct app *a, size_t before, uint64_t seq,
			 Rain__ErrorCode code)
{
	RUN_UNTIL(&rig.loop, a->count > before || a->closed);
	cr_assert_eq(app_last(a)->kind, ANSWER_ERROR);
	cr_assert_eq(app_last(a)->code, (int)code, "says: %s",
		     app_last(a)->text);
	cr_assert_eq(app_last(a)->seq, seq);
	cr_assert(app_last(a)->text[0] != '\0');
}

/* It still answers. */
static void expect_alive(struct app *a)
{
	uint64_t seq = app_client_ping(&a->client);

	RUN_UNTIL(&rig.loop, app_has(a, seq) || a->closed);
	cr_assert_eq(app_answer(a, seq)->kind, ANSWER_PONG);
}

Test(door, hello_grab_and_ping)
{
	uint64_t seq;

	rig_hello(&rig, &app, "alice", false);
	cr_assert_eq(app_last(&app)->max_in_flight, 32);
	cr_assert(llabs(app_last(&app)->server_ms - clock_wall_ms()) < 5000);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	cr_assert_str_eq(app_answer(&app, seq)->packet, "365628617880842241");
	cr_assert_eq(app_answer(&app, seq)->cents, 1221);
	cr_assert_str_eq(rig.grabs[0].last_user, "alice");
	cr_assert_str_eq(rig.grabs[0].last_activity, "quiz");
	expect_alive(&app);
	rig_close(&rig, &app);
}

/* The same exchange, one byte in a segment. */
Test(door, byte_by_byte)
{
	struct buf token =
		rig_token(&rig, "alice", false, clock_wall_ms() + 60000);
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Hello hello = RAIN__HELLO__INIT;
	struct bytes all;
	struct buf out;

	buf_init(&out);
	hello.token = to_pb(buf_live(&token));
	hello.protocol = 1;
	m.seq = 1;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_HELLO;
	m.hello = &hello;
	frame_put(&out, &m.base);
	rig_connect(&rig, &app);
	all = buf_live(&out);
	for (size_t i = 0; i < all.n; i++) {
		cr_assert_eq(app.count, 0);
		send_raw(&app, all.p + i, 1);
		/* Until it has left; whether the gateway reads it alone is up
		 * to the two, every cut is tried in the end. */
		RUN_UNTIL(&rig.loop, app.client.stream.queued == 0);
	}
	RUN_UNTIL(&rig.loop, app.count > 0);
	cr_assert_eq(app_last(&app)->kind, ANSWER_HELLO);
	rig_close(&rig, &app);
	buf_close(&out);
	buf_close(&token);
}

Test(door, two_frames_in_one_segment)
{
	/* Ping seq 5, Ping seq 6 */
	static const uint8_t two[] = { 0, 0, 0, 4, 8, 5, 0x3a, 0,
				       0, 0, 0, 4, 8, 6, 0x3a, 0 };

	rig_hello(&rig, &app, "alice", false);
	send_raw(&app, two, sizeof(two));
	RUN_UNTIL(&rig.loop, app_has(&app, 5) && app_has(&app, 6));
	rig_close(&rig, &app);
}

Test(door, lengths_that_are_no_frame)
{
	static const uint8_t bad[][4] = { { 0, 0, 0, 0 },
					  { 0xff, 0xff, 0xff, 0xff },
					  { 0, 0, 0x40, 1 } };

	for (size_t i = 0; i < 3; i++) {
		rig_hello(&rig, &app, "alice", false);
		send_raw(&app, bad[i], 4);
		expect_end(&app, RAIN__ERROR_CODE__BAD_FRAME, "length");
	}
}

Test(door, random_bytes_end_in_an_error_or_a_close)
{
	for (unsigned seed = 1; seed <= 60; seed++) {
		uint8_t data[512];

		srand(seed);
		for (size_t i = 0; i < sizeof(data); i++) {
			data[i] = (uint8_t)(rand() >> 7);
		}
		if (seed % 2 == 0) {
			data[0] = 0; /* plausible lengths too */
			data[1] = 0;
			data[2] = 0;
		}
		rig_hello(&rig, &app, "alice", false);
		send_raw(&app, data, sizeof(data));
		/* A length of 0 in the end: it must close. */
		send_raw(&app, "\0\0\0\0", 4);
		app_client_close(&app.client);
		RUN_UNTIL(&rig.loop, app.closed);
	}
	rig_hello(&rig, &app, "alice", false);
	expect_alive(&app);
	rig_close(&rig, &app);
}

Test(door, messages_that_say_nothing)
{
	/* seq 5 alone; a field 99 and no body; not protobuf at all */
	static const uint8_t empty[] = { 0, 0, 0, 2, 8, 5 };
	static const uint8_t newer[] = { 0, 0, 0, 5, 8, 6, 0x9a, 0x06, 0 };
	static const uint8_t junk[] = { 0, 0, 0, 3, 0xff, 0xff, 0xff };
	/* Grab { activity_id: byte 0xff } */
	static const uint8_t text[] = {
		0, 0, 0, 7, 8, 7, 0x1a, 3, 0x0a, 1, 0xff
	};
	/* seq 8, unknown field 99 = 1, Ping */
	static const uint8_t more[] = {
		0, 0, 0, 7, 8, 8, 0x98, 0x06, 1, 0x3a, 0
	};

	rig_hello(&rig, &app, "alice", false);
	send_raw(&app, empty, sizeof(empty));
	expect_error(&app, 1, 5, RAIN__ERROR_CODE__BAD_MESSAGE);
	send_raw(&app, newer, sizeof(newer));
	expect_error(&app, 2, 6, RAIN__ERROR_CODE__BAD_MESSAGE);
	send_raw(&app, junk, sizeof(junk));
	expect_error(&app, 3, 0, RAIN__ERROR_CODE__BAD_MESSAGE);
	send_raw(&app, text, sizeof(text));
	expect_error(&app, 4, 0, RAIN__ERROR_CODE__BAD_MESSAGE);
	send_raw(&app, more, sizeof(more));
	RUN_UNTIL(&rig.loop, app.count > 5);
	cr_assert_eq(app_last(&app)->kind, ANSWER_PONG);
	rig_close(&rig, &app);
}

Test(door, ids_outside_their_alphabet)
{
	static const char nul[] = "qu\0iz";
	char big[66];
	uint64_t seq;

	memset(big, 'a', sizeof(big));
	rig_hello(&rig, &app, "alice", false);
	seq = app_client_grab(&app.client, BYTES(""), BYTES(""), 0, 0);
	expect_error(&app, 1, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, bytes_make(nul, 5), BYTES(""), 0, 0);
	expect_error(&app, 2, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, bytes_make(big, 65), BYTES(""), 0,
			      0);
	expect_error(&app, 3, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_query_result(&app.client, BYTES("a b"), BYTES(""), 0);
	expect_error(&app, 4, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, -1);
	expect_error(&app, 5, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0,
			      clock_wall_ms() + 60000);
	expect_error(&app, 6, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	cr_assert_eq(rig.grabs[0].calls, 0);
	rig_close(&rig, &app);
}

Test(door, seq_zero_and_seq_in_flight)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Ping ping = RAIN__PING__INIT;
	uint64_t seq;

	rig_hello(&rig, &app, "alice", false);
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_PING;
	m.ping = &ping;
	app_client_send(&app.client, &m);
	expect_error(&app, 1, 0, RAIN__ERROR_CODE__BAD_SEQ);

	rig.grabs[0].mode = FAKE_HOLD;
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	m.seq = seq;
	app_client_send(&app.client, &m);
	expect_error(&app, 2, 0, RAIN__ERROR_CODE__BAD_SEQ);
	RUN_UNTIL(&rig.loop, rig.grabs[0].held_count == 1);
	fake_release(&rig.grabs[0]);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	/* Answered, so it is free again. */
	app_client_send(&app.client, &m);
	RUN_UNTIL(&rig.loop, app.count == 5);
	cr_assert_eq(app_last(&app)->kind, ANSWER_PONG);
	rig_close(&rig, &app);
}

Test(door, hello_comes_first)
{
	uint64_t seq;

	rig_connect(&rig, &app);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	expect_error(&app, 0, seq, RAIN__ERROR_CODE__HELLO_FIRST);
	seq = app_client_ping(&app.client);
	expect_error(&app, 1, seq, RAIN__ERROR_CODE__HELLO_FIRST);
	rig_close(&rig, &app);
}

Test(door, tokens_that_are_refused)
{
	struct buf token;

	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, BYTES(""));
	expect_end(&app, RAIN__ERROR_CODE__BAD_TOKEN, "no token");
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, BYTES("alice"));
	expect_end(&app, RAIN__ERROR_CODE__BAD_TOKEN, "not a JWT");
	rig_connect(&rig, &app);
	token = rig_token(&rig, "alice", false, clock_wall_ms() - 1000);
	(void)app_client_hello(&app.client, buf_live(&token));
	expect_end(&app, RAIN__ERROR_CODE__BAD_TOKEN, "expired");
	buf_close(&token);
}

Test(door, another_protocol)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Hello hello = RAIN__HELLO__INIT;

	hello.protocol = 2;
	m.seq = 1;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_HELLO;
	m.hello = &hello;
	rig_connect(&rig, &app);
	app_client_send(&app.client, &m);
	expect_end(&app, RAIN__ERROR_CODE__BAD_PROTOCOL, "protocol 1");
}

Test(door, a_token_expires_and_is_renewed)
{
	int64_t end = (clock_wall_ms() / 1000 + 2) * 1000;
	struct buf token = rig_token(&rig, "alice", false, end);
	uint64_t seq;

	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&token));
	RUN_UNTIL(&rig.loop, app.count == 1);
	buf_close(&token);
	RUN_UNTIL(&rig.loop, clock_wall_ms() > end);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__DENIED);
	seq = app_client_query_balance(&app.client, BYTES(""));
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__DENIED);
	cr_assert_eq(rig.grabs[0].calls + rig.ledger.balances, 0);

	token = rig_token(&rig, "alice", false, clock_wall_ms() + 60000);
	seq = app_client_hello(&app.client, buf_live(&token));
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->kind, ANSWER_HELLO);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	RUN_UNTIL(&rig.loop, app_has(&app, seq));
	cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	buf_close(&token);
	rig_close(&rig, &app);
}

Test(door, a_connection_stays_with_its_user)
{
	struct buf token =
		rig_token(&rig, "bob", false, clock_wall_ms() + 60000);

	rig_hello(&rig, &app, "alice", false);
	(void)app_client_hello(&app.client, buf_live(&token));
	expect_end(&app, RAIN__ERROR_CODE__BAD_TOKEN, "another user");
	buf_close(&token);
}

Test(door, only_a_front_names_users_and_it_must)
{
	uint64_t seq;

	rig_hello(&rig, &app, "alice", false);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES("bob"), 0, 0);
	expect_error(&app, 1, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_query_balance(&app.client, BYTES("bob"));
	expect_error(&app, 2, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	rig_close(&rig, &app);

	rig_hello(&rig, &app, "web", true);
	cr_assert_eq(app_last(&app)->max_in_flight, 10000);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	expect_error(&app, 1, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES("#1"), 0, 0);
	expect_error(&app, 2, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	for (int i = 0; i < 2; i++) {
		/* And what it wins is not remembered for the next user. */
		seq = app_client_grab(&app.client, BYTES("quiz"),
				      i == 0 ? BYTES("bob") : BYTES("eve"), 0,
				      0);
		RUN_UNTIL(&rig.loop, app_has(&app, seq));
		cr_assert_eq(app_answer(&app, seq)->code, RAIN__STATUS__WON);
	}
	cr_assert_eq(rig.grabs[0].grabs, 2);
	cr_assert_str_eq(rig.grabs[0].last_user, "eve");
	rig_close(&rig, &app);
}

Test(door, subscribe_is_not_done_here)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Subscribe subscribe = RAIN__SUBSCRIBE__INIT;

	rig_hello(&rig, &app, "alice", false);
	m.seq = 9;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_SUBSCRIBE;
	m.subscribe = &subscribe;
	app_client_send(&app.client, &m);
	expect_error(&app, 1, 9, RAIN__ERROR_CODE__UNSUPPORTED);
	rig_close(&rig, &app);
}

Test(door, keys_are_read_again)
{
	struct buf old =
		rig_token(&rig, "alice", false, clock_wall_ms() + 60000);
	struct buf new;

	rig_write_keys(&rig, "other HS256 user eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh"
			     "4eHh4eHh4eHh4eHh4eHg=\n");
	new = rig_token(&rig, "carol", false, clock_wall_ms() + 60000);
	gateway_reload(rig.gateway);
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&new));
	RUN_UNTIL(&rig.loop, app.count == 1);
	cr_assert_eq(app_last(&app)->kind, ANSWER_HELLO);
	rig_close(&rig, &app);
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&old));
	expect_end(&app, RAIN__ERROR_CODE__BAD_TOKEN, "kid");
	buf_close(&old);

	/* A bad file changes nothing. */
	rig_write_keys(&rig, "nonsense\n");
	gateway_reload(rig.gateway);
	rig_connect(&rig, &app);
	(void)app_client_hello(&app.client, buf_live(&new));
	RUN_UNTIL(&rig.loop, app.count == 1);
	cr_assert_eq(app_last(&app)->kind, ANSWER_HELLO);
	rig_close(&rig, &app);
	buf_close(&new);
}
