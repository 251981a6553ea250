/* A Dubbo server as bare bytes see it: what it answers, and its life. */
#include <stdlib.h>

#include "base/err.h"
#include "lib/dubbo_ask.h"
#include "lib/vectors.h"

TestSuite(dubbo_server, .init = dubbo_setup, .fini = dubbo_teardown,
	  .timeout = 60);

Test(dubbo_server, answers_what_java_asked_byte_for_byte)
{
	struct buf ask27 = vector_load("requests.txt", "dubbo27_user_2");
	struct buf null27 = vector_load("replies.txt", "dubbo27_null");

	/* The captured argument is no GrabRequest of ours: the service says
	 * null, as the captured provider did. */
	begin_plain();
	peer_send(&peer, buf_live(&ask27).p, buf_len(&ask27));
	RUN_UNTIL(&loop, buf_len(&peer.got) >= buf_len(&null27));
	cr_assert(bytes_eq(buf_live(&peer.got), buf_live(&null27)));
	buf_close(&ask27);
	buf_close(&null27);
	end();
}

Test(dubbo_server, knows_the_deadline_from_the_timeout_attachment)
{
	struct buf ask33 = vector_load("requests.txt", "dubbo33_user_2");
	struct buf body;
	struct dubbo_header h;
	uint64_t now;

	begin_plain();
	RUN_UNTIL(&loop, peer.stream.open);
	now = uv_now(&loop);
	peer_send(&peer, buf_live(&ask33).p, buf_len(&ask33));
	h = peer_frame(&peer, &body);
	cr_assert_eq(h.id, 0xab5e4fcef6eb480b);
	cr_assert(service.deadline >= now + 3000 &&
		  service.deadline <= uv_now(&loop) + 3000);
	buf_close(&body);
	buf_close(&ask33);
	ask(1, "echo"); /* says nothing about it: a second */
	expect_answer(1, "echo");
	cr_assert(service.deadline <= uv_now(&loop) + 1000);
	end();
}

Test(dubbo_server, each_kind_of_answer)
{
	struct buf body;
	struct dubbo_result r;

	begin_plain();
	ask(1, "echo");
	ask(2, "null");
	ask(3, "throw");
	ask(4, "fail");
	expect_answer(1, "echo");
	cr_assert_eq(peer_result(&peer, 2, &body).kind, DUBBO_NULL);
	buf_close(&body);
	r = peer_result(&peer, 3, &body);
	cr_assert_eq(r.kind, DUBBO_EXCEPTION);
	cr_assert(bytes_eq(r.class_name, BYTES("rain.SoldOut")));
	buf_close(&body);
	expect_error(4, DUBBO_STATUS_SERVER_ERROR, "broken");
	end();
}

Test(dubbo_server, frames_in_pieces_and_frames_together)
{
	struct buf b;

	begin_plain();
	RUN_UNTIL(&loop, peer.stream.open);
	buf_init(&b);
	put_grab(&b, 1, true, "slow");
	for (size_t i = 0; i < buf_len(&b); i++) {
		peer_send(&peer, buf_live(&b).p + i, 1);
		for (int turn = 0; turn < 3; turn++) {
			uv_run(&loop, UV_RUN_NOWAIT);
		}
	}
	expect_answer(1, "slow");
	buf_take(&b, buf_len(&b));
	for (uint64_t id = 2; id < 100; id++) {
		put_grab(&b, id, true, "fast");
	}
	put_grab(&b, 100, true, "cut");
	peer_send(&peer, buf_live(&b).p, buf_len(&b) - 5);
	for (uint64_t id = 2; id < 100; id++) {
		expect_answer(id, "fast");
	}
	peer_send(&peer, buf_live(&b).p + buf_len(&b) - 5, 5);
	expect_answer(100, "cut");
	buf_close(&b);
	end();
}

Test(dubbo_server, replies_leave_in_the_order_of_their_answers)
{
	begin_plain();
	ask(1, "hold");
	ask(2, "hold");
	RUN_UNTIL(&loop, service.held_count == 2);
	answer_held(1, "second");
	answer_held(0, "first");
	expect_answer(2, "second");
	expect_answer(1, "first");
	end();
}

Test(dubbo_server, echoes_a_heartbeat_of_any_serialization)
{
	static const struct bytes bodies[] = {
		{ NULL, 0 },
		{ (const uint8_t *)"N", 1 },
		{ (const uint8_t *)"\3\12\1H", 4 },
		{ (const uint8_t *)"\0\0\0\1\xaf", 5 },
	};
	uint64_t id = 1;

	begin_plain();
	for (unsigned serialization = 0; serialization < 32; serialization++) {
		for (size_t i = 0; i < 4; i++, id++) {
			struct buf body;
			struct dubbo_header h;

			send_frame((uint8_t)(0xe0 | serialization), id,
				   (uint32_t)bodies[i].n, bodies[i]);
			h = peer_frame(&peer, &body);
			cr_assert(!h.request && h.event && !h.two_way);
			cr_assert(h.id == id && h.status == 20 &&
				  h.serialization == serialization);
			cr_assert(bytes_eq(buf_live(&body), bodies[i]));
			buf_close(&body);
		}
	}
	/* Nobody waits for an answer to these. */
	send_frame(0xb6, 1, 0, BYTES(""));
	send_frame(0x36, 1, 0, BYTES(""));
	send_frame(0x16, 1, 3, BYTES("\2\10\2"));
	still_serves();
	end();
}

Test(dubbo_server, a_one_way_request_is_served_without_a_word)
{
	struct buf b;

	begin_plain();
	buf_init(&b);
	put_grab(&b, 1, false, "echo");
	put_grab(&b, 2, false, "fail");
	buf_put(&b, "\xda\xbb\x96\0\0\0\0\0\0\0\0\3\0\0\0\0", 16);
	peer_send(&peer, buf_live(&b).p, buf_len(&b));
	buf_close(&b);
	still_serves(); /* and that is the first reply */
	cr_assert_eq(service.handled, 3);
	end();
}

Test(dubbo_server, a_call_outlives_its_connection_and_its_server)
{
	begin_plain();
	ask(1, "hold");
	ask(2, "hold");
	RUN_UNTIL(&loop, service.held_count == 2);
	peer_end(&peer);
	answer_held(0, "nobody");
	dubbo_server_free(server);
	for (int i = 0; i < 10; i++) {
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	answer_held(1, "nobody");
}

Test(dubbo_server, silent_connections_close_and_busy_ones_do_not)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");
	static struct peer busy;
	struct buf b;

	o.idle_ms = 40;
	begin(&o);
	peer_connect(&busy, dubbo_server_address(server));
	buf_init(&b);
	put_grab(&b, 1, true, "hold");
	peer_send(&busy, buf_live(&b).p, buf_len(&b));
	RUN_UNTIL(&loop, peer.closed);
	cr_assert(!busy.closed);
	cr_assert_eq(service.held_count, 1);
	answer_held(0, "done");
	RUN_UNTIL(&loop, busy.closed);
	cr_assert(buf_len(&busy.got) > 0);
	peer_end(&busy);
	buf_close(&b);
	end();
}

Test(dubbo_server, connections_over_the_limit_are_turned_away)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");
	static struct peer second;

	o.connections_max = 1;
	begin(&o);
	still_serves();
	peer_connect(&second, dubbo_server_address(server));
	RUN_UNTIL(&loop, second.closed);
	still_serves();
	peer_end(&second);
	end();
}

static void drained_cb(void *ctx)
{
	*(bool *)ctx = true;
}

Test(dubbo_server, draining_says_readonly_and_finishes_what_is_in_flight)
{
	static bool drained;
	static struct peer late;
	struct turns *t;
	struct buf body;
	struct dubbo_header h;

	begin_plain();
	ask(1, "hold");
	RUN_UNTIL(&loop, service.held_count == 1);
	dubbo_server_drain(server, drained_cb, &drained);
	h = peer_frame(&peer, &body);
	cr_assert(h.request && h.event && !h.two_way);
	cr_assert(dubbo_event_readonly(buf_live(&body)));
	buf_close(&body);
	still_serves(); /* what still comes is answered */
	peer_connect(&late, dubbo_server_address(server));
	RUN_UNTIL(&loop, late.closed);
	cr_assert_eq(late.why, UV_ECONNREFUSED);
	/* Not even after consumers had ample time to hear of it. */
	t = turns_start(&loop, 1200);
	while (!t->late) {
		uv_run(&loop, UV_RUN_ONCE);
	}
	turns_stop(t);
	cr_assert(!drained);
	/* Who has not listened till now is told to go elsewhere. */
	ask(2, "echo");
	expect_error(2, DUBBO_STATUS_SERVICE_NOT_FOUND, "stopping");
	cr_assert_eq(dubbo_server_in_flight(server), 1);
	answer_held(0, "last");
	RUN_UNTIL(&loop, drained);
	expect_answer(1, "last");
	peer_end(&late);
	end();
}

/* F59 for consumers: 40 MB of answers to one that reads late. It is not closed
 * for it, what it asks waits. */
Test(dubbo_server, a_consumer_that_reads_late_is_asked_to_wait)
{
	enum { ASKS = 400 };
	int before;

	begin_plain();
	stream_pause(&peer.stream);
	before = service.handled;
	for (int i = 0; i < ASKS; i++) {
		ask((uint64_t)i, "big");
	}
	RUN_UNTIL(&loop, service.handled > before);
	for (int i = 0; i < 100; i++) {
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	cr_assert(!peer.closed);
	cr_assert_lt(service.handled, ASKS / 2);
	stream_resume(&peer.stream);
	for (int i = 0; i < ASKS; i++) {
		struct buf body;
		struct dubbo_header h = peer_frame(&peer, &body);

		cr_assert_eq(h.id, (uint64_t)i);
		buf_close(&body);
	}
	cr_assert_eq(service.handled, before + ASKS);
	still_serves();
	end();
}

Test(dubbo_server, an_address_in_use_is_an_error)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");
	struct dubbo_server *second;

	begin(&o);
	o.listen = dubbo_server_address(server);
	cr_assert_eq(dubbo_server_new(hub, &o, service_interfaces, 1, &second),
		     UV_EADDRINUSE);
	cr_assert(second == NULL);
	end();
}
