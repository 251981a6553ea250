/* The body of a Dubbo response; the first byte is its status. What is read of
 * it, written again, is read as the same. */
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "net/dubbo_wire.h"

enum { HESSIAN2 = 2, PROTOBUF_JSON = 21, ID = 7 };

static struct dubbo_result read_frame(const struct buf *out)
{
	struct dubbo_cutter c = { .payload_max = DUBBO_PAYLOAD_MAX };
	struct dubbo_result r;
	struct dubbo_header h;
	const char *why = NULL;
	struct bytes body;
	size_t used;

	check(dubbo_cut(&c, buf_live(out), &h, &body, &used) ==
	      DUBBO_CUT_FRAME);
	check(used == buf_len(out) && !h.request && !h.event && h.id == ID);
	check(dubbo_result_decode(h.status, body, &r, &why) == 0);
	return r;
}

static void value_again(const struct dubbo_result *r, bool attachments)
{
	ProtobufCMessage *m = fuzz_any(r->value);
	struct dubbo_result got;
	struct buf out;

	if (m == NULL) {
		return; /* no protobuf: the caller's proto_unpack() says so */
	}
	buf_init(&out);
	dubbo_reply_value(&out, ID, attachments, m);
	got = read_frame(&out);
	check(got.kind == DUBBO_VALUE && fuzz_packs_to(m, got.value));
	protobuf_c_message_free_unpacked(m, NULL);
	buf_close(&out);
}

static void write_again(const struct dubbo_result *r, bool attachments)
{
	struct dubbo_result got;
	struct buf out;

	buf_init(&out);
	switch (r->kind) {
	case DUBBO_VALUE:
		value_again(r, attachments);
		buf_close(&out);
		return;
	case DUBBO_NULL:
		dubbo_reply_value(&out, ID, attachments, NULL);
		break;
	case DUBBO_EXCEPTION:
		dubbo_reply_exception(&out, ID, attachments, r->class_name,
				      r->message);
		break;
	case DUBBO_ERROR:
		/* In the serializations of others: only that it is written. */
		dubbo_reply_error(&out, ID, HESSIAN2,
				  (enum dubbo_status)r->status, r->message);
		dubbo_reply_error(&out, ID, PROTOBUF_JSON,
				  (enum dubbo_status)r->status, r->message);
		buf_take(&out, buf_len(&out));
		dubbo_reply_error(&out, ID, DUBBO_PROTOBUF,
				  (enum dubbo_status)r->status, r->message);
		break;
	}
	got = read_frame(&out);
	check(got.kind == r->kind && got.status == r->status);
	check(bytes_eq(got.class_name, r->class_name));
	check(bytes_eq(got.message, r->message));
	buf_close(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes input = bytes_make(data, size);
	uint8_t status = fuzz_choice(&input);
	struct bytes body = fuzz_copy(input);
	struct dubbo_result r;
	const char *why = NULL;
	int rv = dubbo_result_decode(status, body, &r, &why);

	check((rv == 0) == (why == NULL));
	if (rv == 0) {
		check((r.kind == DUBBO_ERROR) == (status != DUBBO_STATUS_OK));
		write_again(&r, false);
		write_again(&r, true);
	}
	fuzz_drop(body);
	return 0;
}
