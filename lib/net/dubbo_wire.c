#include "net/dubbo_wire.h"

#include <limits.h>

enum { VARINT_MAX = 10, WIRE_VARINT = 0, WIRE_BYTES = 2 };

/* ---- Reading ---- */

struct wire wire_start(struct bytes data)
{
	/* An empty view may have no address to count from. */
	static const uint8_t nothing[1];
	const uint8_t *p = data.n > 0 ? data.p : nothing;

	return (struct wire){ p, p + data.n, true };
}

bool wire_done(const struct wire *w)
{
	return w->p == w->end;
}

static void spoil(struct wire *w)
{
	w->ok = false;
	w->p = w->end;
}

static uint64_t varint(struct wire *w)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < VARINT_MAX && w->p < w->end; i++) {
		uint8_t byte = *w->p++;

		v |= (uint64_t)(byte & 0x7f) << (7 * i);
		if ((byte & 0x80) == 0) {
			return v;
		}
	}
	spoil(w);
	return 0;
}

static struct bytes take(struct wire *w, uint64_t n)
{
	struct bytes taken = { w->p, (size_t)n };

	if (n > (size_t)(w->end - w->p)) {
		spoil(w);
		return bytes_make(NULL, 0);
	}
	w->p += n;
	return taken;
}

struct bytes wire_delimited(struct wire *w)
{
	return take(w, varint(w));
}

bool wire_next(struct wire *w, struct wire_field *f)
{
	uint64_t key;

	if (wire_done(w)) {
		return false;
	}
	key = varint(w);
	f->number = key >> 3;
	f->type = key & 7;
	f->varint = 0;
	f->bytes = bytes_make(NULL, 0);
	switch (f->type) {
	case WIRE_VARINT:
		f->varint = varint(w);
		break;
	case WIRE_BYTES:
		f->bytes = wire_delimited(w);
		break;
	case 1:
		(void)take(w, 8);
		break;
	case 5:
		(void)take(w, 4);
		break;
	default: /* groups: nobody writes them any more */
		spoil(w);
		break;
	}
	if (f->number == 0) {
		spoil(w);
	}
	return w->ok;
}

struct bytes wire_string(struct wire *w)
{
	struct wire inner = wire_start(wire_delimited(w));
	struct bytes s = bytes_make(NULL, 0);
	struct wire_field f;

	while (wire_next(&inner, &f)) {
		if (f.number == 1 && f.type == WIRE_BYTES) {
			s = f.bytes;
		}
	}
	if (!inner.ok) {
		spoil(w);
	}
	return s;
}

uint64_t wire_number(struct wire *w)
{
	struct wire inner = wire_start(wire_delimited(w));
	uint64_t v = 0;
	struct wire_field f;

	while (wire_next(&inner, &f)) {
		if (f.number == 1 && f.type == WIRE_VARINT) {
			v = f.varint;
		}
	}
	if (!inner.ok) {
		spoil(w);
	}
	return v;
}

/* ---- Writing ---- */

static size_t varint_size(uint64_t v)
{
	size_t n = 1;

	while (v >= 0x80) {
		v >>= 7;
		n++;
	}
	return n;
}

void wire_put_varint(struct buf *out, uint64_t v)
{
	while (v >= 0x80) {
		buf_put_u8(out, (uint8_t)(v | 0x80));
		v >>= 7;
	}
	buf_put_u8(out, (uint8_t)v);
}

size_t wire_field_size(size_t n)
{
	return 1 + varint_size(n) + n;
}

void wire_put_field(struct buf *out, unsigned number, struct bytes s)
{
	check(number < 16);
	buf_put_u8(out, (uint8_t)(number << 3 | WIRE_BYTES));
	wire_put_varint(out, s.n);
	buf_put_bytes(out, s);
}

void wire_put_string(struct buf *out, struct bytes s)
{
	if (s.n == 0) {
		buf_put_u8(out, 0); /* proto3 leaves a default value out */
		return;
	}
	wire_put_varint(out, wire_field_size(s.n));
	wire_put_field(out, 1, s);
}

void wire_put_byte(struct buf *out, uint8_t v)
{
	if (v == 0) {
		buf_put_u8(out, 0);
		return;
	}
	check(v < 0x80);
	buf_put_u8(out, 2);
	buf_put_u8(out, 1 << 3 | WIRE_VARINT);
	buf_put_u8(out, v);
}

void wire_put_message(struct buf *out, const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);

	wire_put_varint(out, n);
	if (n > 0) {
		check(protobuf_c_message_pack(m, buf_room(out, n)) == n);
		buf_wrote(out, n);
	}
}

size_t wire_open(struct buf *out)
{
	size_t at = buf_len(out);

	(void)buf_room(out, DUBBO_HEADER);
	buf_wrote(out, DUBBO_HEADER);
	return at;
}

void wire_close(struct buf *out, size_t at, struct dubbo_header h)
{
	size_t n = buf_len(out) - at - DUBBO_HEADER;

	check(n <= INT_MAX);
	h.length = (uint32_t)n;
	dubbo_header_encode(&h, out->mem + out->head + at);
}

/* ---- Cutting ---- */

static bool magic_so_far(struct bytes data)
{
	return (data.n < 1 || data.p[0] == 0xda) &&
	       (data.n < 2 || data.p[1] == 0xbb);
}

enum dubbo_cut dubbo_cut(struct dubbo_cutter *c, struct bytes data,
			 struct dubbo_header *h, struct bytes *body,
			 size_t *used)
{
	size_t skipped = data.n < c->skip ? data.n : c->skip;

	c->skip -= skipped;
	*used = skipped;
	if (skipped == data.n) {
		return DUBBO_CUT_MORE; /* nothing, which may have no address */
	}
	data.p += skipped;
	data.n -= skipped;
	if (!magic_so_far(data)) {
		return DUBBO_CUT_GARBAGE;
	}
	if (data.n < DUBBO_HEADER) {
		return DUBBO_CUT_MORE;
	}
	check(dubbo_header_decode(data.p, h)); /* its magic is seen above */
	if (h->length > c->payload_max) {
		*used += DUBBO_HEADER;
		c->skip = h->length <= INT_MAX ? h->length : 0;
		return DUBBO_CUT_TOO_LONG;
	}
	if (data.n - DUBBO_HEADER < h->length) {
		return DUBBO_CUT_MORE;
	}
	*body = bytes_make(data.p + DUBBO_HEADER, h->length);
	*used += DUBBO_HEADER + h->length;
	return DUBBO_CUT_FRAME;
}
