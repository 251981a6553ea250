#include "proto/grab_batch.h"

#include "proto/reader.h"
#include "proto/writer.h"

enum { FIELDS_MAX = 64 }; /* bytes of a request but for its ids */

/* ---- Reading ---- */

static bool read_red_packet(struct bytes data, Rain__RedPacket *packet)
{
	struct reader r = reader_of(data);
	uint64_t cents;
	uint64_t at_ms;

	rain__red_packet__init(packet);
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
	struct bytes packet;
	uint64_t status;
	uint64_t retry_after_ms;

	rain__grab_reply__init(&a->reply);
	if (!read_number(&r, 1, INT32_MAX, &status)) {
		return false;
	}
	if (read_key(&r, 2, READER_DELIMITED)) {
		if (!read_delimited(&r, &packet) ||
		    !read_red_packet(packet, &a->red_packet)) {
			return false;
		}
		a->reply.red_packet = &a->red_packet;
	}
	if (!read_number(&r, 3, UINT32_MAX, &retry_after_ms) ||
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
	struct bytes reply;
	uint64_t time_ms;
	uint64_t stands_ms;

	rain__grab_response__init(&a->response);
	if (read_key(&r, 1, READER_DELIMITED)) {
		if (!read_delimited(&r, &reply) || !read_reply(reply, a)) {
			return false;
		}
		a->response.reply = &a->reply;
	}
	if (!read_number(&r, 2, UINT64_MAX, &a->response.revision) ||
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
		if (!read_key(&r, 1, READER_DELIMITED) ||
		    !read_delimited(&r, &answer) ||
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

/* ---- Writing ---- */

void grab_batch_put(struct buf *out, const Rain__GrabRequest *request)
{
	size_t room =
		FIELDS_MAX + request->activity_id.len + request->user_id.len;
	uint8_t *start = buf_room(out, room);
	uint8_t *end = start + room;
	uint8_t *at = put_number(end, 4, request->attempt);

	at = put_number(at, 3, (uint64_t)request->not_after_ms);
	at = put_text(at, 2, request->user_id);
	at = put_text(at, 1, request->activity_id);
	at = put_delimited(at, 1, end);
	memmove(start, at, (size_t)(end - at));
	buf_wrote(out, (size_t)(end - at));
}

void grab_batch_init(struct grab_batch *b, struct bytes written)
{
	rain__grab_batch_request__init(&b->message);
	if (written.n == 0) {
		return;
	}
	/* What protobuf-c does not know it packs as it is: the key, and what is
	 * behind that. */
	check(written.p[0] == (1 << 3 | READER_DELIMITED));
	b->fields = (ProtobufCMessageUnknownField){
		.tag = 1,
		.wire_type = PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED,
		.len = written.n - 1,
		.data = to_pb(bytes_make(written.p + 1, written.n - 1)).data,
	};
	b->message.base.n_unknown_fields = 1;
	b->message.base.unknown_fields = &b->fields;
}
