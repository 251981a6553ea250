/**
 * What protobuf-c makes of a message.
 */
#ifndef TESTS_LIB_PACKED_H
#define TESTS_LIB_PACKED_H

#include <criterion/criterion.h>
#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"

static inline struct buf packed_message(const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	struct buf out;

	buf_init(&out);
	cr_assert_eq(protobuf_c_message_pack(m, buf_room(&out, n)), n);
	buf_wrote(&out, n);
	return out;
}

#endif
