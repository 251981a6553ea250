/* What a gateway lets in: frames, messages, ids. */
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

/* A Hello, one byte after the other. Between them another connection of the
 * same loop has its answer, so each byte was read alone. */
Test(door, byte_by_byte)
{
	struct buf token =
		rig_token(&rig, "alice", false, clock_wall_ms() + 60000);
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Hello hello = RAIN__HELLO__INIT;
	static struct app other;
	struct bytes all;
	struct buf out;

	buf_init(&out);
	hello.token = to_pb(buf_live(&token));
	hello.protocol = 1;
	m.seq = 1;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_HELLO;
	m.hello = &hello;
	frame_put(&out, &m.base);
	rig_hello(&rig, &other, "bob", false);
	rig_connect(&rig, &app);
	all = buf_live(&out);
	for (size_t i = 0; i < all.n; i++) {
		cr_assert_eq(app.count, 0);
		send_raw(&app, all.p + i, 1);
		other.count = 0;
		(void)app_client_ping(&other.client);
		RUN_UNTIL(&rig.loop, other.count == 1);
	}
	RUN_UNTIL(&rig.loop, app.count > 0);
	cr_assert_eq(app_last(&app)->kind, ANSWER_HELLO);
	rig_close(&rig, &app);
	rig_close(&rig, &other);
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
		rig_expect_end(&rig, &app, RAIN__ERROR_CODE__BAD_FRAME,
			       "length");
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
	rig_expect_error(&rig, &app, 1, 5, RAIN__ERROR_CODE__BAD_MESSAGE);
	send_raw(&app, newer, sizeof(newer));
	rig_expect_error(&rig, &app, 2, 6, RAIN__ERROR_CODE__BAD_MESSAGE);
	send_raw(&app, junk, sizeof(junk));
	rig_expect_error(&rig, &app, 3, 0, RAIN__ERROR_CODE__BAD_MESSAGE);
	send_raw(&app, text, sizeof(text));
	rig_expect_error(&rig, &app, 4, 0, RAIN__ERROR_CODE__BAD_MESSAGE);
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
	rig_expect_error(&rig, &app, 1, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, bytes_make(nul, 5), BYTES(""), 0, 0);
	rig_expect_error(&rig, &app, 2, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, bytes_make(big, 65), BYTES(""), 0,
			      0);
	rig_expect_error(&rig, &app, 3, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_query_result(&app.client, BYTES("a b"), BYTES(""), 0);
	rig_expect_error(&rig, &app, 4, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, -1);
	rig_expect_error(&rig, &app, 5, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0,
			      clock_wall_ms() + 60000);
	rig_expect_error(&rig, &app, 6, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
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
	rig_expect_error(&rig, &app, 1, 0, RAIN__ERROR_CODE__BAD_SEQ);

	rig.grabs[0].mode = FAKE_HOLD;
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	m.seq = seq;
	app_client_send(&app.client, &m);
	rig_expect_error(&rig, &app, 2, 0, RAIN__ERROR_CODE__BAD_SEQ);
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

Test(door, only_a_front_names_users_and_it_must)
{
	uint64_t seq;

	rig_hello(&rig, &app, "alice", false);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES("bob"), 0, 0);
	rig_expect_error(&rig, &app, 1, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_query_balance(&app.client, BYTES("bob"));
	rig_expect_error(&rig, &app, 2, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	rig_close(&rig, &app);

	rig_hello(&rig, &app, "web", true);
	cr_assert_eq(app_last(&app)->max_in_flight, 10000);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES(""), 0, 0);
	rig_expect_error(&rig, &app, 1, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
	seq = app_client_grab(&app.client, BYTES("quiz"), BYTES("#1"), 0, 0);
	rig_expect_error(&rig, &app, 2, seq, RAIN__ERROR_CODE__BAD_MESSAGE);
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
	rig_expect_error(&rig, &app, 1, 9, RAIN__ERROR_CODE__UNSUPPORTED);
	rig_close(&rig, &app);
}
