#include "net/dubbo_codec.h"

#include "base/err.h"
#include "net/dubbo_wire.h"

enum {
	FLAG_REQUEST = 0x80,
	FLAG_TWO_WAY = 0x40,
	FLAG_EVENT = 0x20,
	SERIALIZATION_MASK = 0x1f,
	EVENT_BODY_MAX = 15, /* Dubbo reads no longer ones either */
};

/* ---- Header ---- */

static uint64_t get_u64(const uint8_t *p, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++) {
		v = v << 8 | p[i];
	}
	return v;
}

static void put_u64(uint8_t *p, unsigned n, uint64_t v)
{
	for (unsigned i = n; i > 0; i--) {
		p[i - 1] = (uint8_t)v;
		v >>= 8;
	}
}

bool dubbo_header_decode(const uint8_t *p, struct dubbo_header *h)
{
	if (p[0] != 0xda || p[1] != 0xbb) {
		return false;
	}
	h->request = (p[2] & FLAG_REQUEST) != 0;
	h->two_way = (p[2] & FLAG_TWO_WAY) != 0;
	h->event = (p[2] & FLAG_EVENT) != 0;
	h->serialization = p[2] & SERIALIZATION_MASK;
	h->status = p[3];
	h->id = get_u64(p + 4, 8);
	h->length = (uint32_t)get_u64(p + 12, 4);
	return true;
}

void dubbo_header_encode(const struct dubbo_header *h, uint8_t *p)
{
	check(h->serialization <= SERIALIZATION_MASK);
	p[0] = 0xda;
	p[1] = 0xbb;
	p[2] = (uint8_t)((h->request ? FLAG_REQUEST : 0) |
			 (h->two_way ? FLAG_TWO_WAY : 0) |
			 (h->event ? FLAG_EVENT : 0) | h->serialization);
	p[3] = h->status;
	put_u64(p + 4, 8, h->id);
	put_u64(p + 12, 4, h->length);
}

/* ---- Requests ---- */

static bool decode_attachment(struct bytes entry, struct dubbo_attachment *a)
{
	struct wire w = wire_start(entry);
	struct wire_field f;

	*a = (struct dubbo_attachment){ { NULL, 0 }, { NULL, 0 } };
	while (wire_next(&w, &f)) {
		if (f.type == 2 && f.number == 1) {
			a->key = f.bytes;
		} else if (f.type == 2 && f.number == 2) {
			a->value = f.bytes;
		}
	}
	return w.ok;
}

/* Map{ map<string,string> attachments = 1; map<string,Any> V2 = 2; }. Dubbo 3
 * writes everything twice, and the first form has all we need. */
static bool decode_attachments(struct bytes map, struct dubbo_request *r)
{
	struct wire w = wire_start(map);
	struct wire_field f;

	while (wire_next(&w, &f)) {
		if (f.number != 1 || f.type != 2 ||
		    r->attachment_count == DUBBO_ATTACHMENTS_MAX) {
			continue;
		}
		if (!decode_attachment(f.bytes,
				       &r->attachments[r->attachment_count])) {
			return false;
		}
		r->attachment_count++;
	}
	return w.ok;
}

int dubbo_request_decode(struct bytes body, struct dubbo_request *r,
			 const char **why)
{
	struct wire w = wire_start(body);

	r->attachment_count = 0;
	r->argument = bytes_make(NULL, 0);
	r->protocol = wire_string(&w);
	r->path = wire_string(&w);
	r->version = wire_string(&w);
	r->method = wire_string(&w);
	r->types = wire_string(&w);
	if (!w.ok) {
		*why = "malformed request: five strings expected";
		return ERR_PROTO;
	}
	if (r->types.n > 0) {
		r->argument = wire_delimited(&w);
	}
	if (!w.ok) {
		*why = "malformed request: the argument is cut off";
		return ERR_PROTO;
	}
	/* Peers that are no Java may leave the map out. */
	if (!wire_done(&w) && !decode_attachments(wire_delimited(&w), r)) {
		w.ok = false;
	}
	if (!w.ok) {
		*why = "malformed request: bad attachments";
		return ERR_PROTO;
	}
	return 0;
}

struct bytes dubbo_request_attachment(const struct dubbo_request *r,
				      const char *key)
{
	struct bytes want = bytes_str(key);

	for (size_t i = 0; i < r->attachment_count; i++) {
		if (bytes_eq(r->attachments[i].key, want)) {
			return r->attachments[i].value;
		}
	}
	return bytes_make(NULL, 0);
}

static size_t attachment_size(const struct dubbo_attachment *a)
{
	return wire_field_size(a->key.n) + wire_field_size(a->value.n);
}

void dubbo_request_encode(struct buf *out, uint64_t id, bool two_way,
			  const struct dubbo_request *r,
			  const ProtobufCMessage *argument)
{
	size_t at = wire_open(out);
	size_t map = 0;

	check(r->attachment_count <= DUBBO_ATTACHMENTS_MAX);
	wire_put_string(out, r->protocol);
	wire_put_string(out, r->path);
	wire_put_string(out, r->version);
	wire_put_string(out, r->method);
	wire_put_string(out, r->types);
	wire_put_message(out, argument);
	for (size_t i = 0; i < r->attachment_count; i++) {
		map += wire_field_size(attachment_size(&r->attachments[i]));
	}
	wire_put_varint(out, map); /* always there: Java throws without it */
	for (size_t i = 0; i < r->attachment_count; i++) {
		const struct dubbo_attachment *a = &r->attachments[i];

		buf_put_u8(out, 1 << 3 | 2);
		wire_put_varint(out, attachment_size(a));
		wire_put_field(out, 1, a->key);
		wire_put_field(out, 2, a->value);
	}
	wire_close(out, at,
		   (struct dubbo_header){
			   .request = true,
			   .two_way = two_way,
			   .serialization = DUBBO_PROTOBUF,
			   .id = id,
		   });
}

/* ---- Events ---- */

void dubbo_heartbeat(struct buf *out, uint64_t id)
{
	wire_close(out, wire_open(out),
		   (struct dubbo_header){
			   .request = true,
			   .two_way = true,
			   .event = true,
			   .serialization = DUBBO_PROTOBUF,
			   .id = id,
		   });
}

void dubbo_heartbeat_reply(struct buf *out, const struct dubbo_header *h,
			   struct bytes body)
{
	size_t at = wire_open(out);

	buf_put_bytes(out, body);
	wire_close(out, at,
		   (struct dubbo_header){
			   .event = true,
			   .serialization = h->serialization,
			   .status = DUBBO_STATUS_OK,
			   .id = h->id,
		   });
}

void dubbo_readonly(struct buf *out, uint64_t id)
{
	size_t at = wire_open(out);

	wire_put_string(out, BYTES("R"));
	wire_close(out, at,
		   (struct dubbo_header){
			   .request = true,
			   .event = true,
			   .serialization = DUBBO_PROTOBUF,
			   .id = id,
		   });
}

/* Whatever the serialization wraps around it, the letter stands in it. */
static bool event_says(struct bytes body, char letter)
{
	return body.n > 0 && body.n <= EVENT_BODY_MAX &&
	       memchr(body.p, letter, body.n) != NULL;
}

bool dubbo_event_readonly(struct bytes body)
{
	return event_says(body, 'R');
}

bool dubbo_event_writeable(struct bytes body)
{
	return event_says(body, 'W');
}

bool dubbo_version_has_attachments(struct bytes protocol)
{
	uint64_t patch;

	return protocol.n > 4 && memcmp(protocol.p, "2.0.", 4) == 0 &&
	       bytes_to_u64(bytes_make(protocol.p + 4, protocol.n - 4), 99,
			    &patch) &&
	       patch >= 2;
}
