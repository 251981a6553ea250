/**
 * The items that a Dubbo body is made of in serialization 22: protobuf
 * messages with a varint length in front, strings and numbers wrapped in
 * StringValue and Int32Value. And how a frame is opened and closed around
 * them, and cut off the front of a stream.
 */
#ifndef NET_DUBBO_WIRE_H
#define NET_DUBBO_WIRE_H

#include "net/dubbo_codec.h"

/* ---- Reading ---- */

/* What is left of a message; ok is false from the first fault on, and then
 * everything that is read is empty. */
struct wire {
	const uint8_t *p;
	const uint8_t *end;
	bool ok;
};

/* One field of a protobuf message. */
struct wire_field {
	uint64_t number;
	unsigned type;      /* 0 varint, 1 fixed64, 2 bytes, 5 fixed32 */
	uint64_t varint;    /* type 0 */
	struct bytes bytes; /* type 2 */
};

/** data stays borrowed. */
struct wire wire_start(struct bytes data);
/** Nothing is left, be it after a fault. */
bool wire_done(const struct wire *w);
/** A varint length and as many bytes. */
struct bytes wire_delimited(struct wire *w);
/** A delimited StringValue; a view. */
struct bytes wire_string(struct wire *w);
/** A delimited Int32Value or Int64Value. */
uint64_t wire_number(struct wire *w);
/** The next field; false at the end of the message or at a fault. */
bool wire_next(struct wire *w, struct wire_field *f);

/* ---- Writing ---- */

/** A bare varint. */
void wire_put_varint(struct buf *out, uint64_t v);
/** A delimited StringValue. */
void wire_put_string(struct buf *out, struct bytes s);
/** A delimited Int32Value, below 128. */
void wire_put_byte(struct buf *out, uint8_t v);
/** m, delimited. */
void wire_put_message(struct buf *out, const ProtobufCMessage *m);
/** A field of wire type 2. */
void wire_put_field(struct buf *out, unsigned number, struct bytes s);
/** Bytes that wire_put_field() takes, for numbers below 16. */
size_t wire_field_size(size_t n);

/** Leave room for a header; returns where it begins in out. */
size_t wire_open(struct buf *out);
/** Write the header, with the length of what came after wire_open(). */
void wire_close(struct buf *out, size_t at, struct dubbo_header h);

/* ---- Cutting ---- */

/* Where one direction of a connection stands. */
struct dubbo_cutter {
	size_t payload_max;
	size_t skip; /* bytes to come of a body that nobody wants */
};

enum dubbo_cut {
	DUBBO_CUT_FRAME,    /* *h and *body are a whole frame */
	DUBBO_CUT_MORE,     /* nothing whole yet */
	DUBBO_CUT_TOO_LONG, /* *h alone: its body is skipped as it comes */
	DUBBO_CUT_GARBAGE,  /* no magic: this is no Dubbo */
};

/** Cut one frame off the front of data; *used bytes of it are done with in
 * every case. A body above payload_max is never asked to be buffered; one of
 * negative length counts as too long and as empty. */
enum dubbo_cut dubbo_cut(struct dubbo_cutter *c, struct bytes data,
			 struct dubbo_header *h, struct bytes *body,
			 size_t *used);

#endif
