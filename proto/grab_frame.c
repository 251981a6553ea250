#include "proto/grab_frame.h"

#include "proto/frame.h"
#include "proto/reader.h"

enum {
	FIELDS_MAX = 128, /* bytes of an answer but for its texts */
};

/* ---- Reading ---- */

static bool read_grab(struct bytes data, Rain__Grab *grab)
{
	struct reader r = reader_of(data);
	uint64_t attempt;
	uint64_t not_after_ms;

	if (!read_text(&r, 1, &grab->activity_id) ||
	    !read_text(&r, 2, &grab->user_id) ||
	    !read_number(&r, 3, UINT32_MAX, &attempt) ||
	    !read_number(&r, 4, INT64_MAX, &not_after_ms)) {
		return false;
	}
	grab->attempt = (uint32_t)attempt;
	grab->not_after_ms = (int64_t)not_after_ms;
	return r.p == r.end;
}

bool grab_message_read(struct bytes body, struct grab_message *m)
{
	struct reader r = reader_of(body);
	struct bytes grab;

	rain__client_message__init(&m->client);
	rain__grab__init(&m->grab);
	m->client.body_case = RAIN__CLIENT_MESSAGE__BODY_GRAB;
	m->client.grab = &m->grab;
	return read_number(&r, 1, UINT64_MAX, &m->client.seq) &&
	       read_key(&r, 3, READER_DELIMITED) && read_delimited(&r, &grab) &&
	       r.p == r.end && read_grab(grab, &m->grab);
}

/* ---- Writing, from the end: so each length is known when it is its turn ---- */

static uint8_t *put_varint(uint8_t *end, uint64_t v)
{
	size_t n = 1;
	uint8_t *at;

	for (uint64_t rest = v; rest >= 0x80; rest >>= 7) {
		n++;
	}
	at = end - n;
	for (size_t i = 0; i < n; i++) {
		at[i] = (uint8_t)((v & 0x7f) | (i + 1 < n ? 0x80 : 0));
		v >>= 7;
	}
	return at;
}

static uint8_t *put_number(uint8_t *end, unsigned number, uint64_t v)
{
	if (v == 0) {
		return end; /* not on the wire */
	}
	end = put_varint(end, v);
	*--end = (uint8_t)(number << 3 | READER_VARINT);
	return end;
}

/* The length and key of what stands from at to end. */
static uint8_t *put_delimited(uint8_t *at, unsigned number, const uint8_t *end)
{
	at = put_varint(at, (uint64_t)(end - at));
	*--at = (uint8_t)(number << 3 | READER_DELIMITED);
	return at;
}

static uint8_t *put_text(uint8_t *end, unsigned number,
			 ProtobufCBinaryData text)
{
	uint8_t *at = end - text.len;

	if (text.len == 0) {
		return end;
	}
	memcpy(at, text.data, text.len);
	return put_delimited(at, number, end);
}

static uint8_t *put_red_packet(uint8_t *end, const Rain__RedPacket *packet)
{
	uint8_t *at = put_number(end, 3, (uint64_t)packet->at_ms);

	at = put_number(at, 2, (uint64_t)packet->amount_cents);
	at = put_text(at, 1, packet->red_packet_id);
	return put_delimited(at, 2, end);
}

void grab_frame_put(struct buf *out, uint64_t seq, const Rain__GrabReply *reply)
{
	size_t room = FRAME_HEADER + FIELDS_MAX + reply->message.len +
		      (reply->red_packet != NULL
			       ? reply->red_packet->red_packet_id.len
			       : 0);
	uint8_t *start = buf_room(out, room);
	uint8_t *end = start + room;
	uint8_t *at = put_text(end, 4, reply->message);
	size_t n;

	at = put_number(at, 3, reply->retry_after_ms);
	if (reply->red_packet != NULL) {
		at = put_red_packet(at, reply->red_packet);
	}
	at = put_number(at, 1, (uint64_t)(int64_t)reply->status);
	at = put_delimited(at, 3, end);
	at = put_number(at, 1, seq);
	n = (size_t)(end - at);
	check(n + FRAME_HEADER <= room);
	memmove(start + FRAME_HEADER, at, n);
	for (size_t i = 0; i < FRAME_HEADER; i++) {
		start[i] = (uint8_t)(n >> (8 * (FRAME_HEADER - 1 - i)));
	}
	buf_wrote(out, FRAME_HEADER + n);
}
