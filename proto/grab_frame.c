#include "proto/grab_frame.h"

#include "proto/frame.h"
#include "proto/grab_reply.h"
#include "proto/reader.h"

enum { FIELDS_MAX = 64 }; /* bytes of an answer but for its reply */

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

/* ---- Writing ---- */

void grab_frame_put(struct buf *out, uint64_t seq, const Rain__GrabReply *reply)
{
	size_t room = FRAME_HEADER + FIELDS_MAX + grab_reply_room(reply);
	uint8_t *start = buf_room(out, room);
	uint8_t *end = start + room;
	uint8_t *at = put_delimited(put_grab_reply(end, reply), 3, end);
	size_t n;

	at = put_number(at, 1, seq);
	n = (size_t)(end - at);
	check(n + FRAME_HEADER <= room);
	memmove(start + FRAME_HEADER, at, n);
	for (size_t i = 0; i < FRAME_HEADER; i++) {
		start[i] = (uint8_t)(n >> (8 * (FRAME_HEADER - 1 - i)));
	}
	buf_wrote(out, FRAME_HEADER + n);
}
