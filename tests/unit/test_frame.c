/* Frames and messages, byte by byte. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "proto/frame.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"
#include "rain/grab_service.pb-c.h"

enum { MAX = FRAME_FROM_APP_MAX, ARENA = 128 * 1024 };

/* In a heap block of its exact size, so that ASan sees a read behind it. */
static enum frame_outcome next_of(const uint8_t *p, size_t n,
				  struct bytes *body, size_t *used)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);
	enum frame_outcome rv;

	cr_assert(copy != NULL);
	if (n > 0) {
		memcpy(copy, p, n);
	}
	rv = frame_next(bytes_make(copy, n), MAX, body, used);
	if (rv == FRAME_OK) {
		cr_assert_eq(body->p, copy + FRAME_HEADER);
		*body = bytes_make(p + FRAME_HEADER, body->n);
	}
	free(copy);
	return rv;
}

static void *unpack_of(const ProtobufCMessageDescriptor *d, const uint8_t *p,
		       size_t n)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);
	void *m;

	cr_assert(copy != NULL);
	if (n > 0) {
		memcpy(copy, p, n);
	}
	m = proto_unpack(d, bytes_make(copy, n), ARENA);
	free(copy); /* the message owns what it has */
	return m;
}

static struct buf grab_frame(uint64_t seq, const char *activity)
{
	Rain__Grab grab = RAIN__GRAB__INIT;
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	struct buf out;

	buf_init(&out);
	grab.activity_id = to_pb_str(activity);
	m.seq = seq;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_GRAB;
	m.grab = &grab;
	frame_put(&out, &m.base);
	return out;
}

Test(frame, layout)
{
	struct buf f = grab_frame(2, "quiz");
	static const uint8_t want[] = { 0, 0,    0, 10,  0x08, 2,   0x1a,
					6, 0x0a, 4, 'q', 'u',  'i', 'z' };

	cr_assert(bytes_eq(buf_live(&f), bytes_make(want, sizeof want)));
	buf_close(&f);
}

Test(frame, every_split_waits_for_the_whole)
{
	struct buf f = grab_frame(7, "quiz");
	struct bytes all = buf_live(&f);
	struct bytes body;
	size_t used;

	for (size_t n = 0; n < all.n; n++) {
		cr_assert_eq(next_of(all.p, n, &body, &used), FRAME_MORE);
		cr_assert_eq(used, 0);
	}
	cr_assert_eq(next_of(all.p, all.n, &body, &used), FRAME_OK);
	cr_assert_eq(used, all.n);
	cr_assert_eq(body.n, all.n - 4);
	buf_close(&f);
}

Test(frame, two_in_one_segment)
{
	struct buf f = grab_frame(7, "quiz");
	struct buf g = grab_frame(8, "night");
	size_t first = buf_len(&f);
	struct bytes all;
	struct bytes body;
	size_t used;

	buf_put_bytes(&f, buf_live(&g));
	all = buf_live(&f);
	cr_assert_eq(next_of(all.p, all.n, &body, &used), FRAME_OK);
	cr_assert_eq(used, first);
	cr_assert_eq(next_of(all.p + used, all.n - used, &body, &used),
		     FRAME_OK);
	cr_assert_eq(used, buf_len(&g));
	buf_close(&f);
	buf_close(&g);
}

/* Refused as soon as the length is there, before any of its body. */
Test(frame, lengths_that_are_refused)
{
	static const uint8_t zero[] = { 0, 0, 0, 0 };
	static const uint8_t huge[] = { 0xff, 0xff, 0xff, 0xff };
	static const uint8_t over[] = { 0, 0, 0x40, 1 };
	static const uint8_t most[] = { 0, 0, 0x40, 0 };
	struct bytes body;
	size_t used;

	cr_assert_eq(next_of(zero, 4, &body, &used), FRAME_BAD);
	cr_assert_eq(next_of(huge, 4, &body, &used), FRAME_BAD);
	cr_assert_eq(next_of(over, 4, &body, &used), FRAME_BAD);
	cr_assert_eq(next_of(most, 4, &body, &used), FRAME_MORE);
}

Test(frame, random_bytes_neither_crash_nor_grow)
{
	for (unsigned seed = 1; seed <= 5000; seed++) {
		uint8_t data[300];
		size_t n = seed % sizeof data;
		struct bytes body;
		size_t used;

		srand(seed);
		for (size_t i = 0; i < n; i++) {
			data[i] = (uint8_t)(rand() >> 8);
		}
		(void)next_of(data, n, &body, &used);
		cr_assert(used <= n);
		proto_free(
			unpack_of(&rain__client_message__descriptor, data, n));
		proto_free(unpack_of(&rain__grab_batch_response__descriptor,
				     data, n));
	}
}

/* A good message with one byte changed: the tree is walked, whatever it is. */
Test(frame, every_byte_changed)
{
	struct buf f = grab_frame(7, "quiz");
	struct bytes all = buf_live(&f);

	for (size_t i = FRAME_HEADER; i < all.n; i++) {
		for (unsigned v = 0; v < 256; v++) {
			uint8_t copy[64];

			memcpy(copy, all.p, all.n);
			copy[i] = (uint8_t)v;
			proto_free(unpack_of(&rain__client_message__descriptor,
					     copy + FRAME_HEADER,
					     all.n - FRAME_HEADER));
		}
	}
	buf_close(&f);
}

Test(message, unknown_fields_are_ignored)
{
	/* seq 5, field 99 varint, ping {}, field 100 text */
	static const uint8_t data[] = { 0x08, 5,    0x98, 0x06, 1,    0x3a,
					0,    0xa2, 0x06, 2,    0xff, 0xfe };
	Rain__ClientMessage *m =
		unpack_of(&rain__client_message__descriptor, data, sizeof data);

	cr_assert(m != NULL);
	cr_assert_eq(m->seq, 5);
	cr_assert_eq(m->body_case, RAIN__CLIENT_MESSAGE__BODY_PING);
	proto_free(m);
}

Test(message, too_many_unknown_fields)
{
	uint8_t data[3 * (PROTO_UNKNOWN_MAX + 1)];
	void *m;

	for (size_t i = 0; i < sizeof data; i += 3) {
		data[i] = 0x98;
		data[i + 1] = 0x06;
		data[i + 2] = 1;
	}
	m = unpack_of(&rain__client_message__descriptor, data, sizeof data - 3);
	cr_assert(m != NULL);
	proto_free(m);
	cr_assert(unpack_of(&rain__client_message__descriptor, data,
			    sizeof data) == NULL);
}

Test(message, a_missing_body_is_seen)
{
	static const uint8_t data[] = { 0x08, 5 };
	Rain__ClientMessage *m =
		unpack_of(&rain__client_message__descriptor, data, sizeof data);

	cr_assert(m != NULL);
	cr_assert_eq(m->body_case, RAIN__CLIENT_MESSAGE__BODY__NOT_SET);
	proto_free(m);
}

Test(message, text_that_is_not_utf8)
{
	/* grab { activity_id: one byte 0xff } */
	static const uint8_t bad[] = { 0x08, 5, 0x1a, 3, 0x0a, 1, 0xff };
	/* a surrogate, and an overlong slash */
	static const uint8_t half[] = { 0x08, 5,    0x1a, 5,   0x0a,
					3,    0xed, 0xa0, 0x80 };
	static const uint8_t lang[] = { 0x08, 5, 0x1a, 4, 0x0a, 2, 0xc0, 0xaf };
	/* the second element of a repeated message */
	static const uint8_t rep[] = { 0x0a, 3, 0x0a, 1, 'a',
				       0x0a, 3, 0x0a, 1, 0xff };

	cr_assert(unpack_of(&rain__client_message__descriptor, bad,
			    sizeof bad) == NULL);
	cr_assert(unpack_of(&rain__client_message__descriptor, half,
			    sizeof half) == NULL);
	cr_assert(unpack_of(&rain__client_message__descriptor, lang,
			    sizeof lang) == NULL);
	cr_assert(unpack_of(&rain__grab_batch_request__descriptor, rep,
			    sizeof rep) == NULL);
}

Test(message, a_nul_is_kept)
{
	static const uint8_t data[] = {
		0x08, 5, 0x1a, 5, 0x0a, 3, 'a', 0, 'b'
	};
	Rain__ClientMessage *m =
		unpack_of(&rain__client_message__descriptor, data, sizeof data);

	cr_assert(m != NULL);
	cr_assert_eq(m->grab->activity_id.len, 3);
	proto_free(m);
}

/* 16 KiB of empty sub-messages would be megabytes of C structs. */
Test(message, the_arena_is_bounded)
{
	static uint8_t data[64 * 1024];
	void *m;

	for (size_t i = 0; i < sizeof data; i += 2) {
		data[i] = 0x0a;
	}
	m = proto_unpack(&rain__grab_batch_request__descriptor,
			 bytes_make(data, sizeof data), 1024 * 1024);
	cr_assert(m == NULL);
	m = proto_unpack(&rain__grab_batch_request__descriptor,
			 bytes_make(data, sizeof data), 16 * 1024 * 1024);
	cr_assert(m != NULL);
	proto_free(m);
	cr_assert(proto_unpack(&rain__grab_batch_request__descriptor,
			       bytes_make(data, 2), 16) == NULL);
}
