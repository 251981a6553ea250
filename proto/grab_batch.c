#include "proto/grab_batch.h"

#include "proto/grab_reply.h"
#include "proto/reader.h"

/* Bytes of a request but for its ids, of an answer but for its reply. */
enum { FIELDS_MAX = 64 };

/* ---- Reading answers ---- */

/* The next grab of a batch, or the answer to it. */
static bool read_next(struct reader *r, struct bytes *one)
{
	return read_key(r, 1, READER_DELIMITED) && read_delimited(r, one);
}

/* A message that may be missing. */
static bool read_part(struct reader *r, unsigned number,
		      bool (*read)(struct bytes data, struct grab_answer *a),
		      struct grab_answer *a)
{
	struct bytes part;

	return !read_key(r, number, READER_DELIMITED) ||
	       (read_delimited(r, &part) && read(part, a));
}

static bool read_red_packet(struct bytes data, struct grab_answer *a)
{
	struct reader r = reader_of(data);
	Rain__RedPacket *packet = &a->red_packet;
	uint64_t cents;
	uint64_t at_ms;

	rain__red_packet__init(packet);
	a->reply.red_packet = packet;
	if (!read_text(&r, 1, &packet->red_packet_id) ||
	    !read_number(&r, 2, INT64_MAX, &cents) ||
	    !read_number(&r, 3, INT64_MAX, &at_ms)) {
		return false;
	}
	packet->amount_cents = (int64_t)cents;
	packet->at_ms = (int64_t)at_ms;
	return r.p == r.end;
}

static bool read_reply(struct bytes data, struct grab_answer *a)
{
	struct reader r = reader_of(data);
	uint64_t status;
	uint64_t retry_after_ms;

	rain__grab_reply__init(&a->reply);
	a->response.reply = &a->reply;
	if (!read_number(&r, 1, INT32_MAX, &status) ||
	    !read_part(&r, 2, read_red_packet, a) ||
	    !read_number(&r, 3, UINT32_MAX, &retry_after_ms) ||
	    !read_text(&r, 4, &a->reply.message)) {
		return false;
	}
	a->reply.status = (Rain__Status)status;
	a->reply.retry_after_ms = (uint32_t)retry_after_ms;
	return r.p == r.end;
}

static bool read_answer(struct bytes data, struct grab_answer *a)
{
	struct reader r = reader_of(data);
	uint64_t time_ms;
	uint64_t stands_ms;

	rain__grab_response__init(&a->response);
	if (!read_part(&r, 1, read_reply, a) ||
	    !read_number(&r, 2, UINT64_MAX, &a->response.revision) ||
	    !read_number(&r, 3, INT64_MAX, &time_ms) ||
	    !read_number(&r, 4, UINT32_MAX, &stands_ms) ||
	    !read_number(&r, 5, UINT64_MAX, &a->response.packets)) {
		return false;
	}
	a->response.time_ms = (int64_t)time_ms;
	a->response.stands_ms = (uint32_t)stands_ms;
	return r.p == r.end;
}

bool grab_batch_read(struct bytes value, struct grab_answer *answers,
		     size_t count, int64_t *time_ms)
{
	struct reader r = reader_of(value);
	struct bytes answer;
	uint64_t time;

	for (size_t i = 0; i < count; i++) {
		if (!read_next(&r, &answer) ||
		    !read_answer(answer, &answers[i])) {
			return false;
		}
	}
	if (!read_number(&r, 2, INT64_MAX, &time)) {
		return false;
	}
	*time_ms = (int64_t)time;
	return r.p == r.end;
}

/* ---- Reading requests ---- */

static bool read_request(struct bytes data, Rain__GrabRequest *request)
{
	struct reader r = reader_of(data);
	uint64_t not_after_ms;
	uint64_t attempt;

	rain__grab_request__init(request);
	if (!read_text(&r, 1, &request->activity_id) ||
	    !read_text(&r, 2, &request->user_id) ||
	    !read_number(&r, 3, INT64_MAX, &not_after_ms) ||
	    !read_number(&r, 4, UINT32_MAX, &attempt)) {
		return false;
	}
	request->not_after_ms = (int64_t)not_after_ms;
	request->attempt = (uint32_t)attempt;
	return r.p == r.end;
}

size_t grab_batch_count(struct bytes value)
{
	struct reader r = reader_of(value);
	struct bytes grab;
	size_t n = 0;

	while (read_next(&r, &grab)) {
		n++;
	}
	return n;
}

bool grab_batch_read_requests(struct bytes value, Rain__GrabRequest *requests,
			      size_t count)
{
	struct reader r = reader_of(value);
	struct bytes grab;

	for (size_t i = 0; i < count; i++) {
		if (!read_next(&r, &grab) ||
		    !read_request(grab, &requests[i])) {
			return false;
		}
	}
	return r.p == r.end;
}

/* ---- Writing ---- */

/* What stands from at to end, which is the end of the room that was made in
 * out, becomes the next grab of the batch, or its answer. */
static void put_one(struct buf *out, uint8_t *at, const uint8_t *end)
{
	size_t n;

	at = put_delimited(at, 1, end);
	n = (size_t)(end - at);
	memmove(buf_room(out, n), at, n);
	buf_wrote(out, n);
}

void grab_batch_put(struct buf *out, const Rain__GrabRequest *request)
{
	size_t room =
		FIELDS_MAX + request->activity_id.len + request->user_id.len;
	uint8_t *end = buf_room(out, room) + room;
	uint8_t *at = put_number(end, 4, request->attempt);

	at = put_number(at, 3, (uint64_t)request->not_after_ms);
	at = put_text(at, 2, request->user_id);
	at = put_text(at, 1, request->activity_id);
	put_one(out, at, end);
}

void grab_batch_put_answer(struct buf *out, const Rain__GrabResponse *response)
{
	size_t room = FIELDS_MAX + (response->reply != NULL
					    ? grab_reply_room(response->reply)
					    : 0);
	uint8_t *end = buf_room(out, room) + room;
	uint8_t *at = put_number(end, 5, response->packets);

	at = put_number(at, 4, response->stands_ms);
	at = put_number(at, 3, (uint64_t)response->time_ms);
	at = put_number(at, 2, response->revision);
	if (response->reply != NULL) {
		at = put_delimited(put_grab_reply(at, response->reply), 1, at);
	}
	put_one(out, at, end);
}

void grab_batch_put_time(struct buf *out, int64_t time_ms)
{
	uint8_t number[FIELDS_MAX];
	uint8_t *end = number + sizeof(number);
	uint8_t *at = put_number(end, 2, (uint64_t)time_ms);

	buf_put(out, at, (size_t)(end - at));
}

/* It has no field that protobuf-c knows. What that does not know it packs as it
 * is: the key, and what is behind that. */
static const ProtobufCMessageDescriptor written_descriptor = {
	.magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
};

void grab_batch_init(struct grab_batch *b, struct bytes written)
{
	b->message = (ProtobufCMessage){ .descriptor = &written_descriptor };
	if (written.n == 0) {
		return;
	}
	check(written.p[0] < 0x80);
	b->fields = (ProtobufCMessageUnknownField){
		.tag = written.p[0] >> 3,
		.wire_type = (ProtobufCWireType)(written.p[0] & 7),
		.len = written.n - 1,
		.data = to_pb(bytes_make(written.p + 1, written.n - 1)).data,
	};
	b->message.n_unknown_fields = 1;
	b->message.unknown_fields = &b->fields;
}
