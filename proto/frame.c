#include "proto/frame.h"

#include "base/check.h"

enum frame_outcome frame_next(struct bytes data, size_t max, struct bytes *body,
			      size_t *used)
{
	size_t n;

	*used = 0;
	*body = (struct bytes){ NULL, 0 };
	if (data.n < FRAME_HEADER) {
		return FRAME_MORE;
	}
	n = (size_t)data.p[0] << 24 | (size_t)data.p[1] << 16 |
	    (size_t)data.p[2] << 8 | (size_t)data.p[3];
	/* Before the body is there: a stranger's length reserves nothing. */
	if (n == 0 || n > max) {
		return FRAME_BAD;
	}
	if (data.n - FRAME_HEADER < n) {
		return FRAME_MORE;
	}
	*body = bytes_make(data.p + FRAME_HEADER, n);
	*used = FRAME_HEADER + n;
	return FRAME_OK;
}

void frame_put(struct buf *out, const ProtobufCMessage *message)
{
	size_t n = protobuf_c_message_get_packed_size(message);
	uint8_t *room;

	check(n > 0 && n <= UINT32_MAX); /* the reader refuses a length of 0 */
	buf_put_u32(out, (uint32_t)n);
	room = buf_room(out, n);
	check(protobuf_c_message_pack(message, room) == n);
	buf_wrote(out, n);
}
