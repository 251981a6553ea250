/* The exchange that docs/protocol.md works out byte by byte is what our code
 * sends. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "proto/frame.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

/* Two hex digits at a word's start and nothing else in the word: a byte. The
 * first word that is none ends the bytes of the line. */
static void take_line(struct buf *out, const char *p)
{
	for (;;) {
		while (*p == ' ') {
			p++;
		}
		if (!isxdigit((unsigned char)p[0]) ||
		    !isxdigit((unsigned char)p[1]) ||
		    (p[2] != ' ' && p[2] != '\n')) {
			return;
		}
		buf_put_u8(out, (uint8_t)strtoul(p, NULL, 16));
		p += 2;
	}
}

/* The bytes of the block "```frame NAME". */
static struct buf block(const char *name)
{
	const char *source = getenv("RAIN_SOURCE");
	char path[512];
	char head[64];
	char line[512];
	bool inside = false;
	struct buf out;
	FILE *f;

	buf_init(&out);
	(void)snprintf(path, sizeof(path), "%s/docs/protocol.md",
		       source != NULL ? source : ".");
	(void)snprintf(head, sizeof(head), "```frame %s\n", name);
	f = fopen(path, "r");
	cr_assert(f != NULL, "cannot read %s", path);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strcmp(line, head) == 0) {
			inside = true;
		} else if (strncmp(line, "```", 3) == 0) {
			inside = false;
		} else if (inside) {
			take_line(&out, line);
		}
	}
	(void)fclose(f);
	cr_assert(buf_len(&out) > FRAME_HEADER, "no frame called %s", name);
	return out;
}

static void expect_block(const char *name, const ProtobufCMessage *m)
{
	struct buf want = block(name);
	struct buf got;

	buf_init(&got);
	frame_put(&got, m);
	cr_assert(bytes_eq(buf_live(&want), buf_live(&got)), "%s", name);
	buf_close(&want);
	buf_close(&got);
}

Test(protocol_doc, hello)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Hello hello = RAIN__HELLO__INIT;

	hello.token = to_pb_str("alice");
	hello.protocol = 1;
	m.seq = 1;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_HELLO;
	m.hello = &hello;
	expect_block("hello", &m.base);
}

Test(protocol_doc, hello_reply)
{
	Rain__ServerMessage m = RAIN__SERVER_MESSAGE__INIT;
	Rain__HelloReply reply = RAIN__HELLO_REPLY__INIT;

	reply.user_id = to_pb_str("alice");
	reply.server_time_ms = 1764430000000;
	reply.ping_every_ms = 60000;
	reply.idle_limit_ms = 180000;
	reply.max_in_flight = 32;
	reply.protocol = 1;
	m.seq = 1;
	m.body_case = RAIN__SERVER_MESSAGE__BODY_HELLO_REPLY;
	m.hello_reply = &reply;
	expect_block("hello_reply", &m.base);
}

Test(protocol_doc, grab)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Grab grab = RAIN__GRAB__INIT;

	grab.activity_id = to_pb_str("quiz");
	grab.not_after_ms = 1764430001500;
	m.seq = 2;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_GRAB;
	m.grab = &grab;
	expect_block("grab", &m.base);
}

Test(protocol_doc, grab_reply)
{
	Rain__ServerMessage m = RAIN__SERVER_MESSAGE__INIT;
	Rain__RedPacket packet = RAIN__RED_PACKET__INIT;
	Rain__GrabReply reply = RAIN__GRAB_REPLY__INIT;

	packet.red_packet_id = to_pb_str("365628617880842241");
	packet.amount_cents = 1221;
	packet.at_ms = 1764430000040;
	reply.status = RAIN__STATUS__WON;
	reply.red_packet = &packet;
	m.seq = 2;
	m.body_case = RAIN__SERVER_MESSAGE__BODY_GRAB_REPLY;
	m.grab_reply = &reply;
	expect_block("grab_reply", &m.base);
}
