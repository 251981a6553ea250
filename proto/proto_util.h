/**
 * Between protobuf-c's types and ours. In C every string of the .proto files
 * is a ProtobufCBinaryData (the wire is the same): protobuf-c's char * would
 * end at an embedded NUL.
 */
#ifndef PROTO_PROTO_UTIL_H
#define PROTO_PROTO_UTIL_H

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"
#include "base/check.h"

static inline struct bytes from_pb(ProtobufCBinaryData b)
{
	return (struct bytes){ b.data, b.len };
}

/** Borrows: valid as long as b's owner. Only for packing. */
static inline ProtobufCBinaryData to_pb(struct bytes b)
{
	union {
		const uint8_t *in;
		uint8_t *out;
	} p = { .in = b.p };

	return (ProtobufCBinaryData){ b.n, p.out };
}

/** Borrows the C string; NULL gives an empty value. */
static inline ProtobufCBinaryData to_pb_str(const char *s)
{
	return to_pb(bytes_str(s));
}

enum { PROTO_UNKNOWN_MAX = 16 }; /* unknown fields of one message */

/**
 * Unpack a message within bounds: its memory comes from one arena of at most
 * arena_max bytes, unknown fields are at most PROTO_UNKNOWN_MAX in each
 * message. NULL if it is malformed, needs more, or has text that is not UTF-8
 * (every string of ours; there are no raw bytes in our messages). Enums are not
 * checked: a number outside the list is for the reader to judge. Free with
 * proto_free().
 */
must_check void *proto_unpack(const ProtobufCMessageDescriptor *d,
			      struct bytes data, size_t arena_max);

/** NULL is allowed. Only the message that proto_unpack() returned, not a part
 * of it. */
void proto_free(void *message);

#endif
