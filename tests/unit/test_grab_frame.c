/* A tap and its answer, and a service's answers: the short ways and those
 * through descriptors agree. */
#include <criterion/criterion.h>

#include "proto/frame.h"
#include "proto/grab_batch.h"
#include "proto/grab_frame.h"
#include "proto/proto_util.h"

enum { ARENA = 64 * 1024 };

static struct buf packed_message(const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	struct buf out;

	buf_init(&out);
	cr_assert_eq(protobuf_c_message_pack(m, buf_room(&out, n)), n);
	buf_wrote(&out, n);
	return out;
}

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

/* ---- Reading what a service answers ---- */

enum { ANSWERS = 4 };

static void same_reply(const Rain__GrabReply *a, const Rain__GrabReply *b)
{
	cr_assert_eq(a->status, b->status);
	cr_assert_eq(a->retry_after_ms, b->retry_after_ms);
	cr_assert(bytes_eq(from_pb(a->message), from_pb(b->message)));
	cr_assert_eq(a->red_packet == NULL, b->red_packet == NULL);
	if (a->red_packet != NULL) {
		cr_assert(bytes_eq(from_pb(a->red_packet->red_packet_id),
				   from_pb(b->red_packet->red_packet_id)));
		cr_assert_eq(a->red_packet->amount_cents,
			     b->red_packet->amount_cents);
		cr_assert_eq(a->red_packet->at_ms, b->red_packet->at_ms);
	}
}

/* Whether it is read in the short way; if so, then as in the other. */
static bool reads_batch(struct bytes value, size_t count)
{
	struct grab_answer *ours = xmalloc((count + 1) * sizeof(*ours));
	Rain__GrabBatchResponse *m = NULL;
	int64_t time_ms;
	bool good = grab_batch_read(value, ours, count, &time_ms);

	if (good) {
		m = proto_unpack(&rain__grab_batch_response__descriptor, value,
				 ARENA);
		cr_assert(m != NULL, "what is refused is refused");
		cr_assert_eq(m->n_responses, count);
		cr_assert_eq(m->time_ms, time_ms);
	}
	for (size_t i = 0; good && i < count; i++) {
		const Rain__GrabResponse *a = &ours[i].response;
		const Rain__GrabResponse *b = m->responses[i];

		cr_assert_eq(a->revision, b->revision);
		cr_assert_eq(a->time_ms, b->time_ms);
		cr_assert_eq(a->stands_ms, b->stands_ms);
		cr_assert_eq(a->packets, b->packets);
		cr_assert_eq(a->reply == NULL, b->reply == NULL);
		if (a->reply != NULL) {
			same_reply(a->reply, b->reply);
		}
	}
	proto_free(m);
	free(ours);
	return good;
}

/* A win, a refusal, what stands, and nothing. */
static struct buf batch(void)
{
	Rain__RedPacket packet = RAIN__RED_PACKET__INIT;
	Rain__GrabReply replies[ANSWERS - 1] = { RAIN__GRAB_REPLY__INIT,
						 RAIN__GRAB_REPLY__INIT,
						 RAIN__GRAB_REPLY__INIT };
	Rain__GrabResponse responses[ANSWERS];
	Rain__GrabResponse *list[ANSWERS];
	Rain__GrabBatchResponse m = RAIN__GRAB_BATCH_RESPONSE__INIT;

	packet.red_packet_id = to_pb_str("365628");
	packet.amount_cents = 1221;
	packet.at_ms = INT64_C(1764430000000);
	replies[0].status = RAIN__STATUS__WON;
	replies[0].red_packet = &packet;
	replies[1].status = RAIN__STATUS__BUSY;
	replies[1].retry_after_ms = 300;
	replies[1].message = to_pb_str("later");
	replies[2].status = RAIN__STATUS__SOLD_OUT;
	for (size_t i = 0; i < ANSWERS; i++) {
		rain__grab_response__init(&responses[i]);
		responses[i].reply = i < ANSWERS - 1 ? &replies[i] : NULL;
		responses[i].revision = i * 100;
		list[i] = &responses[i];
	}
	responses[2].stands_ms = UINT32_MAX;
	responses[2].packets = 20000;
	m.responses = list;
	m.n_responses = ANSWERS;
	m.time_ms = INT64_C(1764430000001);
	return packed_message(&m.base);
}

Test(grab_batch, reads_what_services_write)
{
	struct buf b = batch();

	cr_assert(reads_batch(buf_live(&b), ANSWERS));
	cr_assert(!reads_batch(buf_live(&b), ANSWERS - 1), "one too many");
	cr_assert(!reads_batch(buf_live(&b), ANSWERS + 1), "one too few");
	cr_assert(reads_batch(bytes_make(NULL, 0), 0), "the time is not known");
	cr_assert(reads_batch(BYTES("\x10\x05"), 0), "a probe");
	buf_close(&b);
}

Test(grab_batch, never_reads_what_the_other_way_does_not)
{
	struct buf b = batch();
	size_t n = buf_len(&b);
	size_t good = 0;

	for (size_t end = 0; end <= n; end++) {
		uint8_t *copy = xmalloc(end + 1);

		memcpy(copy, buf_live(&b).p, end);
		good += reads_batch(bytes_make(copy, end), ANSWERS);
		for (size_t i = 0; end == n && i < end; i++) {
			for (unsigned v = 0; v < 256; v++) {
				copy[i] = (uint8_t)v;
				good += reads_batch(bytes_make(copy, end),
						    ANSWERS);
			}
			copy[i] = buf_live(&b).p[i];
		}
		free(copy);
	}
	cr_assert_gt(good, n);
	buf_close(&b);
}

/* ---- Writing what a service is asked ---- */

Test(grab_batch, writes_the_same_bytes)
{
	Rain__GrabRequest requests[3];
	Rain__GrabRequest *list[3];
	Rain__GrabBatchRequest m = RAIN__GRAB_BATCH_REQUEST__INIT;
	char text[200];
	struct buf written;

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < 3; i++) {
		rain__grab_request__init(&requests[i]);
		list[i] = &requests[i];
	}
	requests[1].activity_id = to_pb_str("quiz-night");
	requests[1].user_id = to_pb_str("alice");
	requests[1].not_after_ms = INT64_C(1764430000000);
	requests[2].user_id = to_pb(bytes_make(text, sizeof(text)));
	requests[2].not_after_ms = INT64_MIN;
	requests[2].attempt = UINT32_MAX;
	m.grabs = list;
	buf_init(&written);
	for (size_t n = 0; n <= 3; n++) {
		struct grab_batch b;
		struct buf ours;
		struct buf theirs;

		m.n_grabs = n;
		grab_batch_init(&b, buf_live(&written));
		ours = packed_message(&b.message.base);
		theirs = packed_message(&m.base);
		cr_assert(bytes_eq(buf_live(&ours), buf_live(&theirs)));
		buf_close(&ours);
		buf_close(&theirs);
		if (n < 3) {
			grab_batch_put(&written, &requests[n]);
		}
	}
	buf_close(&written);
}
