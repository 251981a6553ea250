/* The Dubbo codec against bytes that real Java peers wrote. */
#include <criterion/criterion.h>

#include "base/err.h"
#include "base/rand.h"
#include "lib/vectors.h"
#include "net/dubbo_codec.h"
#include "net/dubbo_wire.h"
#include "rain/activity_service.pb-c.h"

/* Any protobuf message at all: an empty one whose unknown fields are what was
 * read, and are written back in the same order. */
static ProtobufCMessage *any_message(struct bytes packed)
{
	ProtobufCMessage *m = protobuf_c_message_unpack(
		&rain__list_request__descriptor, NULL, packed.n, packed.p);

	cr_assert(m != NULL);
	return m;
}

static struct bytes cut(const struct buf *frame, struct dubbo_header *h)
{
	struct dubbo_cutter c = { .payload_max = DUBBO_PAYLOAD_MAX };
	struct bytes body;
	size_t used;

	cr_assert(dubbo_cut(&c, buf_live(frame), h, &body, &used) ==
		  DUBBO_CUT_FRAME);
	cr_assert_eq(used, buf_len(frame));
	return body;
}

static void same(const struct buf *got, const struct buf *want)
{
	cr_assert(bytes_eq(buf_live(got), buf_live(want)));
}

static bool is(struct bytes b, const char *text)
{
	return bytes_eq(b, bytes_str(text));
}

static void check_request(const char *name, size_t attachments, uint8_t user,
			  bool rewrite)
{
	struct buf frame = vector_load("requests.txt", name);
	struct buf again;
	struct dubbo_header h;
	struct dubbo_request r;
	const char *why = NULL;
	struct bytes body = cut(&frame, &h);
	ProtobufCMessage *m;

	cr_assert(h.request && h.two_way && !h.event);
	cr_assert_eq(h.serialization, DUBBO_PROTOBUF);
	cr_assert_eq(dubbo_request_decode(body, &r, &why), 0, "%s", why);
	cr_assert(is(r.protocol, "2.0.2"));
	cr_assert(is(r.path, "rain.GrabService"));
	cr_assert(is(r.version, "1.0.0"));
	cr_assert(is(r.method, "grab"));
	cr_assert(is(r.types, "Lrain/GrabRequest;"));
	cr_assert_eq(r.argument.n, 7);
	cr_assert_eq(r.argument.p[1], user);
	cr_assert_eq(r.attachment_count, attachments);
	cr_assert(is(dubbo_request_attachment(&r, "interface"),
		     "rain.GrabService"));
	cr_assert(dubbo_request_attachment(&r, "nothing").p == NULL);
	if (rewrite) {
		buf_init(&again);
		m = any_message(r.argument);
		dubbo_request_encode(&again, h.id, true, &r, m);
		same(&again, &frame);
		protobuf_c_message_free_unpacked(m, NULL);
		buf_close(&again);
	}
	buf_close(&frame);
}

Test(dubbo_codec, reads_and_writes_the_requests_of_dubbo_27)
{
	check_request("dubbo27_user_42", 4, 42, true);
	check_request("dubbo27_user_2", 4, 2, true);
	check_request("dubbo27_user_3", 4, 3, true);
}

Test(dubbo_codec, reads_the_requests_of_dubbo_33_with_attachments_twice)
{
	check_request("dubbo33_user_42", 5, 42, false);
	check_request("dubbo33_user_2", 5, 2, false);
	check_request("dubbo33_user_3", 5, 3, false);
}

static struct dubbo_result decode_reply(const struct buf *frame)
{
	struct dubbo_header h;
	struct bytes body = cut(frame, &h);
	struct dubbo_result r;
	const char *why = NULL;

	cr_assert(!h.request && !h.two_way && !h.event);
	cr_assert_eq(h.serialization, DUBBO_PROTOBUF);
	cr_assert_eq(dubbo_result_decode(h.status, body, &r, &why), 0, "%s",
		     why);
	return r;
}

static void check_value(const char *name, uint64_t id, bool attachments,
			bool rewrite)
{
	struct buf frame = vector_load("replies.txt", name);
	struct dubbo_result r = decode_reply(&frame);
	ProtobufCMessage *m;
	struct buf again;

	cr_assert_eq(r.kind, DUBBO_VALUE);
	cr_assert_eq(r.value.n, 6);
	cr_assert(memcmp(r.value.p, "\x10\x64\x1a\x02ok", 6) == 0);
	if (rewrite) {
		buf_init(&again);
		m = any_message(r.value);
		dubbo_reply_value(&again, id, attachments, m);
		same(&again, &frame);
		protobuf_c_message_free_unpacked(m, NULL);
		buf_close(&again);
	}
	buf_close(&frame);
}

Test(dubbo_codec, reads_and_writes_values)
{
	check_value("dubbo27_value", 0, true, true);
	check_value("dubbo27_value_no_attachments", 6, false, true);
	check_value("dubbo27_value_negative_id", (uint64_t)-5, true, true);
	check_value("dubbo33_value", 0, true, false);
	check_value("dubbo33_value_no_attachments", 6, false, true);
}

Test(dubbo_codec, reads_and_writes_null)
{
	struct buf old = vector_load("replies.txt", "dubbo27_null");
	struct buf new = vector_load("replies.txt", "dubbo33_null");
	struct buf again;

	buf_init(&again);
	cr_assert_eq(decode_reply(&old).kind, DUBBO_NULL);
	cr_assert_eq(decode_reply(&new).kind, DUBBO_NULL);
	dubbo_reply_value(&again, 1, true, NULL);
	same(&again, &old);
	buf_take(&again, buf_len(&again));
	dubbo_reply_value(&again, 1, false, NULL);
	cr_assert(bytes_eq(buf_live(&again),
			   BYTES("\xda\xbb\x16\x14\0\0\0\0\0\0\0\1\0\0\0\3"
				 "\2\10\2")));
	buf_close(&again);
	buf_close(&old);
	buf_close(&new);
}

Test(dubbo_codec, reads_exceptions)
{
	static const char *const names[] = { "dubbo27_exception",
					     "dubbo33_exception" };

	for (size_t i = 0; i < 2; i++) {
		struct buf frame = vector_load("replies.txt", names[i]);
		struct dubbo_result r = decode_reply(&frame);

		cr_assert_eq(r.kind, DUBBO_EXCEPTION);
		cr_assert(is(r.class_name, "java.lang.IllegalStateException"));
		cr_assert(is(r.message, "sold out"));
		buf_close(&frame);
	}
}

/* The bytes that a Java consumer was seen to accept. */
Test(dubbo_codec, writes_exceptions)
{
	struct buf out;
	struct dubbo_result r;

	buf_init(&out);
	dubbo_reply_exception(&out, 7, false, BYTES("a.B"), BYTES("no"));
	cr_assert(bytes_eq(buf_live(&out),
			   BYTES("\xda\xbb\x16\x14\0\0\0\0\0\0\0\7\0\0\0\13"
				 "\0\11\12\3a.B\22\2no")));
	buf_take(&out, buf_len(&out));
	dubbo_reply_exception(&out, 7, true, BYTES("a.B"), BYTES(""));
	r = decode_reply(&out);
	cr_assert_eq(r.kind, DUBBO_EXCEPTION);
	cr_assert(is(r.class_name, "a.B") && r.message.n == 0);
	buf_close(&out);
}

static void check_error(const char *name, const char *text)
{
	struct buf frame = vector_load("errors.txt", name);
	struct dubbo_result r = decode_reply(&frame);
	struct dubbo_header h;
	struct buf again;

	(void)cut(&frame, &h);
	cr_assert_eq(r.kind, DUBBO_ERROR);
	cr_assert_eq(r.status, DUBBO_STATUS_BAD_REQUEST);
	cr_assert(is(r.message, text), "%.*s", BYTES_FMT(r.message));
	buf_init(&again);
	dubbo_reply_error(&again, h.id, h.serialization, h.status, r.message);
	same(&again, &frame);
	buf_close(&again);
	buf_close(&frame);
}

#define JAVA_40 "Fail to decode request due to: RpcInvocation [methodName="

Test(dubbo_codec, reads_and_writes_errors)
{
	check_error("dubbo33_unknown_service",
		    JAVA_40 "grab, parameterTypes=null]");
	check_error("dubbo33_unknown_method",
		    JAVA_40 "nope, parameterTypes=null]");
	check_error("dubbo33_wrong_version",
		    JAVA_40 "grab, parameterTypes=null]");
	check_error("dubbo33_no_map", JAVA_40 "grab, parameterTypes=[class "
					      "rain.GrabRequest]]");
}

Test(dubbo_codec, an_error_without_text_is_an_error)
{
	struct dubbo_result r;
	const char *why;

	cr_assert_eq(dubbo_result_decode(100, bytes_make(NULL, 0), &r, &why),
		     0);
	cr_assert_eq(r.kind, DUBBO_ERROR);
	cr_assert_eq(r.status, DUBBO_STATUS_THREADPOOL_EXHAUSTED);
	cr_assert_eq(dubbo_result_decode(80, BYTES("\xff\xff"), &r, &why), 0);
	cr_assert_eq(r.kind, DUBBO_ERROR);
}

Test(dubbo_codec, refuses_in_the_serialization_of_the_request)
{
	struct buf out;

	buf_init(&out);
	dubbo_reply_error(&out, 1, 2, DUBBO_STATUS_BAD_REQUEST,
			  BYTES("only \"22\""));
	cr_assert(bytes_eq(buf_live(&out),
			   BYTES("\xda\xbb\2\50\0\0\0\0\0\0\0\1\0\0\0\13"
				 "\x30\11only ?22?")));
	buf_take(&out, buf_len(&out));
	dubbo_reply_error(&out, 1, 21, DUBBO_STATUS_BAD_REQUEST, BYTES("no"));
	cr_assert(bytes_eq(buf_live(&out),
			   BYTES("\xda\xbb\25\50\0\0\0\0\0\0\0\1\0\0\0\5"
				 "\"no\"\n")));
	buf_close(&out);
}

static struct dubbo_header check_event(const char *name, struct buf *frame,
				       bool readonly)
{
	struct dubbo_header h;
	struct bytes body;

	*frame = vector_load("events.txt", name);
	body = cut(frame, &h);
	cr_assert(h.event, "%s", name);
	cr_assert_eq(dubbo_event_readonly(body), readonly, "%s", name);
	return h;
}

static void check_heartbeat(const char *ask, const char *answer)
{
	struct buf asked;
	struct buf answered;
	struct buf again;
	struct dubbo_header h = check_event(ask, &asked, false);

	cr_assert(h.request && h.two_way);
	buf_init(&again);
	if (h.serialization == DUBBO_PROTOBUF) {
		dubbo_heartbeat(&again, h.id);
		same(&again, &asked);
		buf_take(&again, buf_len(&again));
	}
	dubbo_heartbeat_reply(&again, &h, cut(&asked, &h));
	h = check_event(answer, &answered, false);
	cr_assert(!h.request && !h.two_way);
	same(&again, &answered);
	buf_close(&again);
	buf_close(&asked);
	buf_close(&answered);
}

Test(dubbo_codec, echoes_heartbeats_of_any_serialization)
{
	check_heartbeat("dubbo27_heartbeat", "dubbo27_heartbeat_reply");
	check_heartbeat("dubbo33_heartbeat", "dubbo33_heartbeat_reply");
	check_heartbeat("hessian2_heartbeat", "hessian2_heartbeat_reply");
	check_heartbeat("json_heartbeat", "json_heartbeat_reply");
}

Test(dubbo_codec, knows_readonly_in_any_serialization)
{
	static const char *const names[] = { "dubbo33_readonly",
					     "hessian2_readonly",
					     "json_readonly" };
	struct buf frame;
	struct buf again;
	struct dubbo_header h;

	for (size_t i = 0; i < 3; i++) {
		h = check_event(names[i], &frame, true);
		cr_assert(h.request && !h.two_way);
		if (h.serialization == DUBBO_PROTOBUF) {
			buf_init(&again);
			dubbo_readonly(&again, h.id);
			same(&again, &frame);
			buf_close(&again);
		}
		buf_close(&frame);
	}
	cr_assert(!dubbo_event_readonly(BYTES("\3\12\1H"))); /* 2.7.6-2.7.8 */
	cr_assert(!dubbo_event_readonly(BYTES("\0\0\0\1\xaf")));
	cr_assert(dubbo_event_writeable(BYTES("\3\12\1W")));
}

Test(dubbo_codec, the_version_says_whether_attachments_come_back)
{
	cr_assert(dubbo_version_has_attachments(BYTES("2.0.2")));
	cr_assert(dubbo_version_has_attachments(BYTES("2.0.99")));
	cr_assert(!dubbo_version_has_attachments(BYTES("2.0.1")));
	cr_assert(!dubbo_version_has_attachments(BYTES("2.0.100")));
	cr_assert(!dubbo_version_has_attachments(BYTES("2.7.0")));
	cr_assert(!dubbo_version_has_attachments(BYTES("3.3.0")));
	cr_assert(!dubbo_version_has_attachments(BYTES("2.0.")));
	cr_assert(!dubbo_version_has_attachments(BYTES("")));
}

Test(dubbo_codec, header_bits_come_back)
{
	uint8_t bytes[DUBBO_HEADER];
	struct dubbo_header h;

	for (unsigned flags = 0; flags < 256; flags++) {
		struct dubbo_header in = {
			.request = (flags & 0x80) != 0,
			.two_way = (flags & 0x40) != 0,
			.event = (flags & 0x20) != 0,
			.serialization = flags & 0x1f,
			.status = 20,
			.id = 0x8000000000000001,
			.length = 0xfffffffe,
		};

		dubbo_header_encode(&in, bytes);
		cr_assert_eq(bytes[2], flags);
		cr_assert(dubbo_header_decode(bytes, &h));
		cr_assert(h.request == in.request && h.two_way == in.two_way &&
			  h.event == in.event &&
			  h.serialization == in.serialization &&
			  h.status == 20 && h.id == in.id &&
			  h.length == in.length);
	}
	bytes[1] = 0xba;
	cr_assert(!dubbo_header_decode(bytes, &h));
}
