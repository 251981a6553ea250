/**
 * What the short ways past protobuf-c's descriptors write with: from the end to
 * the front, so that each length is known when it is its turn. end is where
 * what stands behind begins, and the result where that is then.
 */
#ifndef PROTO_WRITER_H
#define PROTO_WRITER_H

#include <string.h>

#include "proto/reader.h"

static inline uint8_t *put_varint(uint8_t *end, uint64_t v)
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

static inline uint8_t *put_number(uint8_t *end, unsigned number, uint64_t v)
{
	if (v == 0) {
		return end; /* not on the wire */
	}
	end = put_varint(end, v);
	*--end = (uint8_t)(number << 3 | READER_VARINT);
	return end;
}

/* The length and key of what stands from at to end. */
static inline uint8_t *put_delimited(uint8_t *at, unsigned number,
				     const uint8_t *end)
{
	at = put_varint(at, (uint64_t)(end - at));
	*--at = (uint8_t)(number << 3 | READER_DELIMITED);
	return at;
}

static inline uint8_t *put_text(uint8_t *end, unsigned number,
				ProtobufCBinaryData text)
{
	uint8_t *at = end - text.len;

	if (text.len == 0) {
		return end;
	}
	memcpy(at, text.data, text.len);
	return put_delimited(at, number, end);
}

#endif
