#include "proto/grab_batch.h"

#include "proto/reader.h"

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
