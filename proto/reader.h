/**
 * What the short ways of grab_frame.c and grab_batch.c read with: fields as they
 * are mostly written, in their order, each at most once, texts of ASCII. What
 * is written in another way is not read, so it has to be read by proto_unpack().
 */
#ifndef PROTO_READER_H
#define PROTO_READER_H

#include "proto/proto_util.h"

enum { READER_VARINT = 0, READER_DELIMITED = 2 }; /* wire types */

/* What is left of a message. */
struct reader {
	const uint8_t *p;
	const uint8_t *end;
};

static inline struct reader reader_of(struct bytes data)
{
	/* Nothing may have no address to count from. */
	return (struct reader){ data.p, data.n > 0 ? data.p + data.n : data.p };
}

static inline bool read_varint(struct reader *r, uint64_t *v)
{
	*v = 0;
	for (unsigned shift = 0; shift < 63 && r->p < r->end; shift += 7) {
		uint8_t byte = *r->p++;

		*v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			return true;
		}
	}
	return false; /* cut off, or of ten bytes */
}

/* Whether this field comes next; its key is one byte. */
static inline bool read_key(struct reader *r, unsigned number, unsigned type)
{
	if (r->p == r->end || *r->p != (number << 3 | type)) {
		return false;
	}
	r->p++;
	return true;
}

static inline bool read_delimited(struct reader *r, struct bytes *out)
{
	uint64_t n;

	if (!read_varint(r, &n) || n > (size_t)(r->end - r->p)) {
		return false;
	}
	*out = bytes_make(r->p, (size_t)n);
	r->p += n;
	return true;
}

/* Fields that may be missing: false if one is there and not so written. */

static inline bool read_text(struct reader *r, unsigned number,
			     ProtobufCBinaryData *out)
{
	struct bytes text;

	if (!read_key(r, number, READER_DELIMITED)) {
		return true;
	}
	if (!read_delimited(r, &text) || !bytes_ascii(text)) {
		return false;
	}
	*out = to_pb(text);
	return true;
}

static inline bool read_number(struct reader *r, unsigned number, uint64_t max,
			       uint64_t *out)
{
	*out = 0;
	return !read_key(r, number, READER_VARINT) ||
	       (read_varint(r, out) && *out <= max);
}

#endif
