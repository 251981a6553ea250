/* What a Dubbo server refuses, and how it says so. */
#include <stdlib.h>

#include "lib/dubbo_ask.h"

TestSuite(dubbo_refusals, .init = dubbo_setup, .fini = dubbo_teardown,
	  .timeout = 60);

Test(dubbo_refusals, what_is_not_here_is_refused_with_words)
{
	begin_plain();
	ask_other(1, "rain.Nope", "1.0.0", "grab", "Lrain/GrabRequest;", NULL,
		  NULL);
	expect_error(1, 40, "rain.Nope");
	ask_other(2, "rain.GrabService", "2.0.0", "grab", "Lrain/GrabRequest;",
		  NULL, NULL);
	expect_error(2, 70, "1.0.0");
	ask_other(3, "rain.GrabService", "1.0.0", "$invoke",
		  "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;",
		  NULL, NULL);
	expect_error(3, 40, "$invoke");
	ask_other(4, "rain.GrabService", "1.0.0", "grab",
		  "Lrain/GrabProto$GrabRequest;", NULL, NULL);
	expect_error(4, 40, "GrabProto");
	ask_other(5, GRAB, "group", "g1");
	expect_error(5, 70, "group");
	send_frame(0xd6, 6, 3, BYTES("\xff\xff\xff"));
	expect_error(6, 40, "malformed");
	send_frame(0xd6, 7, 0, BYTES(""));
	expect_error(7, 40, "malformed");
	cr_assert_eq(service.handled, 0);
	still_serves();
	end();
}

Test(dubbo_refusals, another_serialization_is_refused_in_itself)
{
	struct buf body;
	struct dubbo_header h;

	begin_plain();
	send_frame(0xc2, 1, 6,
		   BYTES("\5"
			 "2.0.2"));
	h = peer_frame(&peer, &body);
	cr_assert(h.id == 1 && h.status == 40 && h.serialization == 2);
	cr_assert(buf_live(&body).p[0] == 0x30); /* a hessian string */
	cr_assert(memmem(buf_live(&body).p, buf_len(&body), "22", 2) != NULL);
	buf_close(&body);
	send_frame(0xdf, 2, 1, BYTES("x"));
	h = peer_frame(&peer, &body);
	cr_assert(h.id == 2 && h.status == 40 && h.serialization == 31);
	buf_close(&body);
	still_serves();
	end();
}

Test(dubbo_refusals, too_long_a_request_is_refused_before_it_is_here)
{
	uint8_t *megabyte = xcalloc(1, 1 << 20);

	begin_plain();
	send_frame(0xd6, 1, DUBBO_PAYLOAD_MAX + 1, BYTES(""));
	expect_error(1, 40, "8388609");
	for (int i = 0; i < 8; i++) {
		peer_send(&peer, megabyte, 1 << 20);
	}
	peer_send(&peer, megabyte, 1);
	still_serves(); /* in step with the frames */
	send_frame(0xd6, 2, 0xffffffff, BYTES(""));
	expect_error(2, 40, "-1");
	still_serves();
	send_frame(0xd6, 3, 0x7fffffff, BYTES("x"));
	expect_error(3, 40, "2147483647");
	free(megabyte);
	end();
}

Test(dubbo_refusals, the_limit_itself_passes)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");
	char text[202];
	struct buf b;

	memset(text, 'x', sizeof(text));
	text[201] = '\0';
	buf_init(&b);
	put_grab(&b, 1, true, text + 1);
	o.payload_max = (int64_t)buf_len(&b) - DUBBO_HEADER;
	begin(&o);
	peer_send(&peer, buf_live(&b).p, buf_len(&b));
	expect_answer(1, text + 1);
	ask(2, text);
	expect_error(2, 40, "too large");
	buf_close(&b);
	end();
}

Test(dubbo_refusals, too_long_an_answer_becomes_an_error)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");

	o.payload_max = 64 * 1024;
	begin(&o);
	ask(1, "big");
	expect_error(1, 50, "payload");
	still_serves();
	end();
}

static void expect_close(const char *bytes, size_t n)
{
	begin_plain();
	peer_send(&peer, bytes, n);
	RUN_UNTIL(&loop, peer.closed);
	cr_assert_eq(buf_len(&peer.got), 0);
	end();
}

Test(dubbo_refusals, what_is_no_dubbo_is_closed)
{
	expect_close("G", 1);
	expect_close("GET / HTTP/1.1\r\n\r\n", 18);
	expect_close("\xda\xbc", 2);
	expect_close("\0", 1);
	expect_close("telnet", 6);
}

Test(dubbo_refusals, too_many_calls_are_each_refused_at_once)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");
	struct buf b;

	o.calls_max = 2;
	begin(&o);
	buf_init(&b);
	for (uint64_t id = 1; id <= 10; id++) {
		put_grab(&b, id, true, "hold");
	}
	peer_send(&peer, buf_live(&b).p, buf_len(&b));
	for (uint64_t id = 3; id <= 10; id++) {
		expect_error(id, 100, "later");
	}
	answer_held(1, "b");
	answer_held(0, "a");
	expect_answer(2, "b");
	expect_answer(1, "a");
	still_serves();
	buf_close(&b);
	end();
}

Test(dubbo_refusals, a_secret_is_demanded)
{
	struct dubbo_server_options o = server_options("127.0.0.1:0");

	o.secret = "open sesame";
	begin(&o);
	ask(1, "echo");
	expect_error(1, 70, "token");
	ask_other(2, GRAB, "token", "open sesam");
	expect_error(2, 70, "token");
	ask_other(3, GRAB, "token", "open sesame!");
	expect_error(3, 70, "token");
	cr_assert_eq(service.handled, 0);
	ask_other(4, GRAB, "token", "open sesame");
	expect_answer(4, "");
	end();
}
