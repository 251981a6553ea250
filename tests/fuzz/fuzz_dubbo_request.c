/* The body of a Dubbo request. What is read of it, written again, is read as
 * the same. */
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "net/dubbo_wire.h"

static void same(const struct dubbo_request *a, const struct dubbo_request *b)
{
	check(bytes_eq(a->protocol, b->protocol));
	check(bytes_eq(a->path, b->path));
	check(bytes_eq(a->version, b->version));
	check(bytes_eq(a->method, b->method));
	check(bytes_eq(a->types, b->types));
	check(a->attachment_count == b->attachment_count);
	for (size_t i = 0; i < a->attachment_count; i++) {
		check(bytes_eq(a->attachments[i].key, b->attachments[i].key));
		check(bytes_eq(a->attachments[i].value,
			       b->attachments[i].value));
	}
}

static void write_again(const struct dubbo_request *r,
			const ProtobufCMessage *argument)
{
	struct dubbo_cutter c = { .payload_max = DUBBO_PAYLOAD_MAX };
	const char *why = NULL;
	struct dubbo_request got;
	struct dubbo_header h;
	struct bytes body;
	struct buf out;
	size_t used;

	buf_init(&out);
	dubbo_request_encode(&out, UINT64_MAX, true, r, argument);
	check(dubbo_cut(&c, buf_live(&out), &h, &body, &used) ==
	      DUBBO_CUT_FRAME);
	check(used == buf_len(&out));
	check(h.request && h.two_way && !h.event && h.id == UINT64_MAX);
	check(dubbo_request_decode(body, &got, &why) == 0 && why == NULL);
	same(r, &got);
	check(fuzz_packs_to(argument, got.argument));
	buf_close(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes body = fuzz_copy(bytes_make(data, size));
	struct dubbo_request r;
	const char *why = NULL;
	int rv = dubbo_request_decode(body, &r, &why);
	ProtobufCMessage *argument;

	check((rv == 0) == (why == NULL));
	if (rv == 0) {
		(void)dubbo_version_has_attachments(r.protocol);
		(void)dubbo_request_attachment(&r, "token");
		/* Without types an argument is not read. */
		argument = r.types.n > 0 ? fuzz_any(r.argument) : NULL;
		if (argument != NULL) {
			write_again(&r, argument);
			protobuf_c_message_free_unpacked(argument, NULL);
		}
	}
	fuzz_drop(body);
	return 0;
}
