/* A tap and its answer: the short ways and those through descriptors agree. */
#include <criterion/criterion.h>

#include "lib/packed.h"
#include "proto/frame.h"
#include "proto/grab_frame.h"
#include "proto/proto_util.h"

enum { ARENA = 64 * 1024 };

/* ---- Reading ---- */

static struct buf packed(uint64_t seq, const Rain__Grab *grab)
{
	Rain__Grab copy = *grab;
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;

	m.seq = seq;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_GRAB;
	m.grab = &copy;
	return packed_message(&m.base);
}

/* Whether it is read in the short way; if so, then as in the other. */
static bool reads(struct bytes body)
{
	struct grab_message m;
	Rain__ClientMessage *same;

	if (!grab_message_read(body, &m)) {
		return false;
	}
	same = proto_unpack(&rain__client_message__descriptor, body, ARENA);
	cr_assert(same != NULL, "what is refused is refused");
	cr_assert_eq(same->body_case, RAIN__CLIENT_MESSAGE__BODY_GRAB);
	cr_assert_eq(m.client.body_case, same->body_case);
	cr_assert_eq(m.client.grab, &m.grab);
	cr_assert_eq(m.client.seq, same->seq);
	cr_assert(bytes_eq(from_pb(m.grab.activity_id),
			   from_pb(same->grab->activity_id)));
	cr_assert(bytes_eq(from_pb(m.grab.user_id),
			   from_pb(same->grab->user_id)));
	cr_assert_eq(m.grab.attempt, same->grab->attempt);
	cr_assert_eq(m.grab.not_after_ms, same->grab->not_after_ms);
	proto_free(same);
	return true;
}

static bool reads_grab(uint64_t seq, const Rain__Grab *grab)
{
	struct buf b = packed(seq, grab);
	bool good = reads(buf_live(&b));

	buf_close(&b);
	return good;
}

Test(grab_frame, reads_what_apps_write)
{
	Rain__Grab grab = RAIN__GRAB__INIT;
	char longer[200];

	cr_assert(reads_grab(0, &grab));
	grab.activity_id = to_pb_str("quiz-night");
	cr_assert(reads_grab(1, &grab));
	grab.user_id = to_pb_str("alice");
	grab.attempt = UINT32_MAX;
	grab.not_after_ms = INT64_MAX;
	cr_assert(reads_grab((UINT64_C(1) << 63) - 1, &grab));
	memset(longer, 'a', sizeof(longer));
	grab.user_id = to_pb(bytes_make(longer, sizeof(longer)));
	cr_assert(reads_grab(300, &grab));
}

Test(grab_frame, leaves_the_rest_to_others)
{
	const struct {
		const char *what;
		struct bytes body;
	} other[] = {
		{ "nothing", { NULL, 0 } },
		{ "no body", BYTES("\x08\x05") },
		{ "ping", BYTES("\x08\x05\x3a\x00") },
		{ "cut off", BYTES("\x08\x05\x1a\x06\x0a\x04qui") },
		{ "seq cut off", BYTES("\x08\x85") },
		{ "length cut off", BYTES("\x08\x05\x1a") },
		{ "more behind", BYTES("\x08\x05\x1a\x03\x0a\x01q\x3a\x00") },
		{ "twice", BYTES("\x08\x05\x1a\x06\x0a\x01q\x0a\x01z") },
		{ "another order",
		  BYTES("\x08\x05\x1a\x06\x12\x01u\x0a\x01q") },
		{ "seq behind", BYTES("\x1a\x03\x0a\x01q\x08\x05") },
		{ "unknown", BYTES("\x08\x05\x1a\x05\x0a\x01q\x28\x01") },
		{ "another type", BYTES("\x08\x05\x1a\x02\x08\x01") },
		{ "text inside", BYTES("\x08\x05\x1a\x04\x0a\x7f"
				       "ab") },
		{ "no ASCII", BYTES("\x08\x05\x1a\x04\x0a\x02\xc3\xa9") },
		{ "no UTF-8", BYTES("\x08\x05\x1a\x03\x0a\x01\xff") },
		{ "attempt of 33 bits",
		  BYTES("\x08\x05\x1a\x06\x18\x80\x80\x80\x80\x10") },
		{ "ten bytes",
		  BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x00") },
	};

	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		struct grab_message m;

		cr_assert(!grab_message_read(other[i].body, &m), "%s",
			  other[i].what);
	}
}

/* Every byte of a message as every other byte, and every end. */
Test(grab_frame, never_reads_what_the_other_way_does_not)
{
	Rain__Grab grab = RAIN__GRAB__INIT;
	struct buf b;
	uint8_t *copy;
	size_t n;
	size_t good = 0;

	grab.activity_id = to_pb_str("q");
	grab.user_id = to_pb_str("bob");
	grab.attempt = 300;
	grab.not_after_ms = INT64_C(1764430000000);
	b = packed(70000, &grab);
	n = buf_len(&b);
	for (size_t end = 0; end <= n; end++) {
		copy = malloc(end + 1);
		cr_assert(copy != NULL);
		memcpy(copy, buf_live(&b).p, end);
		good += reads(bytes_make(copy, end));
		for (size_t i = 0; i < end; i++) {
			for (unsigned v = 0; v < 256; v++) {
				copy[i] = (uint8_t)v;
				good += reads(bytes_make(copy, end));
			}
			copy[i] = buf_live(&b).p[i];
		}
		free(copy);
	}
	cr_assert_gt(good, n);
	buf_close(&b);
}

/* ---- Writing ---- */

static void writes(uint64_t seq, Rain__GrabReply reply)
{
	Rain__ServerMessage m = RAIN__SERVER_MESSAGE__INIT;
	struct buf ours;
	struct buf theirs;

	buf_init(&ours);
	buf_init(&theirs);
	m.seq = seq;
	m.body_case = RAIN__SERVER_MESSAGE__BODY_GRAB_REPLY;
	m.grab_reply = &reply;
	/* Behind something, as it mostly is. */
	buf_put_u8(&ours, 7);
	buf_put_u8(&theirs, 7);
	grab_frame_put(&ours, seq, &reply);
	frame_put(&theirs, &m.base);
	cr_assert(bytes_eq(buf_live(&ours), buf_live(&theirs)));
	buf_close(&ours);
	buf_close(&theirs);
}

Test(grab_frame, writes_the_same_bytes)
{
	static const uint64_t seqs[] = { 0, 1, 127, 128, 70000, UINT64_MAX };
	char text[600];
	Rain__RedPacket packet = RAIN__RED_PACKET__INIT;

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < sizeof(seqs) / sizeof(seqs[0]); i++) {
		Rain__GrabReply reply = RAIN__GRAB_REPLY__INIT;

		writes(seqs[i], reply);
		reply.status = RAIN__STATUS__PENDING;
		writes(seqs[i], reply);
		reply.retry_after_ms = UINT32_MAX;
		reply.message = to_pb_str("it would take too long");
		writes(seqs[i], reply);
		for (size_t n = 0; n <= sizeof(text); n++) {
			reply.message = to_pb(bytes_make(text, n));
			writes(seqs[i], reply);
			packet.red_packet_id = to_pb(bytes_make(text, n));
			reply.red_packet = &packet;
			writes(seqs[i], reply);
			reply.red_packet = NULL;
		}
		packet.red_packet_id = to_pb_str("365628617880842241");
		packet.amount_cents = seqs[i] == 1 ? INT64_MIN : 1221;
		packet.at_ms = INT64_C(1764430000000);
		reply.status = RAIN__STATUS__WON;
		reply.red_packet = &packet;
		writes(seqs[i], reply);
	}
}
