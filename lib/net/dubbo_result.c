/* Responses: what they say, and how ours are written. */
#include "base/err.h"
#include "net/dubbo_codec.h"
#include "net/dubbo_wire.h"

/* The first item of an OK response. */
enum result_flag {
	FLAG_EXCEPTION,
	FLAG_VALUE,
	FLAG_NULL,
	FLAG_WITH_ATTACHMENTS, /* added to the three above */
	FLAG_END = 6,
};

enum { HESSIAN2 = 2, PROTOBUF_JSON = 21, HESSIAN_TEXT_MAX = 1023 };

/* ThrowableProto{ class = 1; message = 2; stack trace = 3; cause = 4; }. */
static bool decode_throwable(struct bytes data, struct dubbo_result *r)
{
	struct wire w = wire_start(data);
	struct wire_field f;

	while (wire_next(&w, &f)) {
		if (f.type == 2 && f.number == 1) {
			r->class_name = f.bytes;
		} else if (f.type == 2 && f.number == 2) {
			r->message = f.bytes;
		}
	}
	return w.ok;
}

int dubbo_result_decode(uint8_t status, struct bytes body,
			struct dubbo_result *r, const char **why)
{
	struct wire w = wire_start(body);
	uint64_t flag;

	*r = (struct dubbo_result){ .kind = DUBBO_ERROR, .status = status };
	if (status != DUBBO_STATUS_OK) {
		/* The status says enough, whatever became of its text. */
		r->message = wire_string(&w);
		return 0;
	}
	flag = wire_number(&w);
	if (!w.ok || flag >= FLAG_END) {
		*why = "malformed response: bad result flag";
		return ERR_PROTO;
	}
	switch (flag % FLAG_WITH_ATTACHMENTS) {
	case FLAG_VALUE:
		r->kind = DUBBO_VALUE;
		r->value = wire_delimited(&w);
		break;
	case FLAG_NULL:
		r->kind = DUBBO_NULL;
		break;
	default:
		r->kind = DUBBO_EXCEPTION;
		w.ok = decode_throwable(wire_delimited(&w), r) && w.ok;
		break;
	}
	if (!w.ok) {
		*why = "malformed response: the result is cut off";
		return ERR_PROTO;
	}
	return 0; /* its attachments are of no use to us */
}

static uint8_t flag_of(enum result_flag flag, bool with_attachments)
{
	return (uint8_t)(flag + (with_attachments ? FLAG_WITH_ATTACHMENTS : 0));
}

static void end_reply(struct buf *out, size_t at, uint64_t id,
		      bool with_attachments)
{
	if (with_attachments) {
		struct bytes key = BYTES("dubbo");
		struct bytes value = BYTES("2.0.2");
		size_t n = wire_field_size(key.n) + wire_field_size(value.n);

		wire_put_varint(out, wire_field_size(n));
		buf_put_u8(out, 1 << 3 | 2);
		wire_put_varint(out, n);
		wire_put_field(out, 1, key);
		wire_put_field(out, 2, value);
	}
	wire_close(out, at,
		   (struct dubbo_header){
			   .serialization = DUBBO_PROTOBUF,
			   .status = DUBBO_STATUS_OK,
			   .id = id,
		   });
}

void dubbo_reply_value(struct buf *out, uint64_t id, bool with_attachments,
		       const ProtobufCMessage *message)
{
	size_t at = wire_open(out);

	if (message != NULL) {
		wire_put_byte(out, flag_of(FLAG_VALUE, with_attachments));
		wire_put_message(out, message);
	} else {
		wire_put_byte(out, flag_of(FLAG_NULL, with_attachments));
	}
	end_reply(out, at, id, with_attachments);
}

void dubbo_reply_exception(struct buf *out, uint64_t id, bool with_attachments,
			   struct bytes class_name, struct bytes message)
{
	size_t at = wire_open(out);

	wire_put_byte(out, flag_of(FLAG_EXCEPTION, with_attachments));
	wire_put_varint(out, wire_field_size(class_name.n) +
				     wire_field_size(message.n));
	wire_put_field(out, 1, class_name);
	wire_put_field(out, 2, message);
	end_reply(out, at, id, with_attachments);
}

static uint8_t plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' ? c : '?';
}

/* Hessian counts UTF-16 units, JSON escapes: plain ASCII needs neither. */
static void put_plain(struct buf *out, struct bytes text)
{
	for (size_t i = 0; i < text.n; i++) {
		buf_put_u8(out, plain(text.p[i]));
	}
}

void dubbo_reply_error(struct buf *out, uint64_t id, uint8_t serialization,
		       enum dubbo_status status, struct bytes message)
{
	size_t at = wire_open(out);

	/* Whoever speaks another serialization should be able to read why it
	 * was refused. */
	switch (serialization) {
	case HESSIAN2:
		if (message.n > HESSIAN_TEXT_MAX) {
			message.n = HESSIAN_TEXT_MAX;
		}
		buf_put_u8(out, (uint8_t)(0x30 | message.n >> 8));
		buf_put_u8(out, (uint8_t)message.n);
		put_plain(out, message);
		break;
	case PROTOBUF_JSON:
		buf_put_u8(out, '"');
		put_plain(out, message);
		buf_put(out, "\"\n", 2);
		break;
	default:
		wire_put_string(out, message);
		break;
	}
	wire_close(out, at,
		   (struct dubbo_header){
			   .serialization = serialization,
			   .status = (uint8_t)status,
			   .id = id,
		   });
}
