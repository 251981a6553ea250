/* The Dubbo codec against what strangers send: cut, odd, too long, random. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/rand.h"
#include "lib/vectors.h"
#include "net/dubbo_codec.h"
#include "net/dubbo_wire.h"

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

static bool is(struct bytes b, const char *text)
{
	return bytes_eq(b, bytes_str(text));
}

static int decode(struct bytes body, struct dubbo_request *r)
{
	const char *why = NULL;
	int rv = dubbo_request_decode(body, r, &why);

	cr_assert((rv == 0) == (why == NULL));
	return rv;
}

Test(dubbo_strangers, a_cut_request_is_refused_or_lacks_its_map)
{
	struct buf frame = vector_load("requests.txt", "dubbo27_user_42");
	struct dubbo_header h;
	struct bytes body = cut(&frame, &h);
	size_t before_map = body.n - 1 - 112;
	struct dubbo_request r;

	for (size_t n = 0; n < body.n; n++) {
		/* A copy of exactly n bytes, so that ASan sees an overrun. */
		char *copy = xstrndup(body.p, n);
		int rv = decode(bytes_make(copy, n), &r);

		cr_assert_eq(rv, n == before_map ? 0 : ERR_PROTO, "%zu", n);
		free(copy);
	}
	cr_assert_eq(decode(bytes_make(body.p, before_map), &r), 0);
	cr_assert_eq(r.attachment_count, 0);
	buf_close(&frame);
}

Test(dubbo_strangers, odd_requests_are_read_as_java_reads_them)
{
	struct dubbo_request r;
	struct buf b;

	/* Empty strings are 00, the map too; what follows is ignored. */
	cr_assert_eq(decode(BYTES("\0\0\0\0\3\12\1I\0\0junk"), &r), 0);
	cr_assert(r.path.n == 0 && is(r.types, "I"));
	/* No types: no argument. */
	cr_assert_eq(decode(BYTES("\0\0\0\0\0\0"), &r), 0);
	/* Unknown fields in a string. */
	cr_assert_eq(decode(BYTES("\5\20\1\12\1a\0\0\0\0\0"), &r), 0);
	cr_assert(is(r.protocol, "a"));
	/* Wire types nobody writes, field 0, an endless varint. */
	cr_assert_eq(decode(BYTES("\2\13\14\0\0\0\0\0"), &r), ERR_PROTO);
	cr_assert_eq(decode(BYTES("\2\0\0\0\0\0\0\0"), &r), ERR_PROTO);
	cr_assert_eq(
		decode(BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), &r),
		ERR_PROTO);
	/* A length near 2^64. */
	cr_assert_eq(
		decode(BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"), &r),
		ERR_PROTO);
	/* More attachments than are kept. */
	buf_init(&b);
	buf_put(&b, "\0\0\0\0\0", 5);
	wire_put_varint(&b, 100 * 5);
	for (int i = 0; i < 100; i++) {
		buf_put(&b, "\12\3\12\1k", 5);
	}
	cr_assert_eq(decode(buf_live(&b), &r), 0);
	cr_assert_eq(r.attachment_count, DUBBO_ATTACHMENTS_MAX);
	buf_close(&b);
}

Test(dubbo_strangers, bad_results_are_refused)
{
	struct dubbo_result r;
	const char *why;

	cr_assert_eq(dubbo_result_decode(20, BYTES(""), &r, &why), ERR_PROTO);
	cr_assert_eq(dubbo_result_decode(20, BYTES("\2\10\6"), &r, &why),
		     ERR_PROTO);
	cr_assert_eq(dubbo_result_decode(20, BYTES("\2\10\7\0"), &r, &why),
		     ERR_PROTO); /* though a value stands behind it */
	cr_assert_eq(dubbo_result_decode(20, BYTES("\2\10\1"), &r, &why),
		     ERR_PROTO);
	cr_assert_eq(dubbo_result_decode(20, BYTES("\2\10\1\5ab"), &r, &why),
		     ERR_PROTO);
	cr_assert_eq(dubbo_result_decode(20, BYTES("\0\2\12\5"), &r, &why),
		     ERR_PROTO);
	/* Flag 4 whose map is missing: the value is there. */
	cr_assert_eq(dubbo_result_decode(20, BYTES("\2\10\4\0"), &r, &why), 0);
	cr_assert(r.kind == DUBBO_VALUE && r.value.n == 0);
}

Test(dubbo_strangers, cuts_frames_wherever_the_segments_break)
{
	struct buf frame = vector_load("requests.txt", "dubbo27_user_42");
	struct bytes all = buf_live(&frame);
	struct dubbo_cutter c = { .payload_max = 184 };
	struct dubbo_header h;
	struct bytes body;
	size_t used;

	for (size_t n = 0; n < all.n; n++) {
		cr_assert(dubbo_cut(&c, bytes_make(all.p, n), &h, &body,
				    &used) == DUBBO_CUT_MORE);
		cr_assert_eq(used, 0);
	}
	/* The limit itself passes, one byte less does not. */
	cr_assert(dubbo_cut(&c, all, &h, &body, &used) == DUBBO_CUT_FRAME);
	cr_assert(body.n == 184 && used == 200);
	c.payload_max = 183;
	cr_assert(dubbo_cut(&c, bytes_make(all.p, 50), &h, &body, &used) ==
		  DUBBO_CUT_TOO_LONG);
	cr_assert(used == 16 && c.skip == 184);
	cr_assert(dubbo_cut(&c, bytes_make(all.p + 16, 34), &h, &body, &used) ==
		  DUBBO_CUT_MORE);
	cr_assert(used == 34 && c.skip == 150);
	cr_assert(dubbo_cut(&c, bytes_make(all.p + 50, 150), &h, &body,
			    &used) == DUBBO_CUT_MORE);
	cr_assert(used == 150 && c.skip == 0);
	cr_assert(dubbo_cut(&c, BYTES("\xda\xbc"), &h, &body, &used) ==
		  DUBBO_CUT_GARBAGE);
	cr_assert(dubbo_cut(&c, BYTES("G"), &h, &body, &used) ==
		  DUBBO_CUT_GARBAGE);
	/* A negative length: no body is skipped. */
	memset(frame.mem + frame.head + 12, 0xff, 4);
	cr_assert(dubbo_cut(&c, all, &h, &body, &used) == DUBBO_CUT_TOO_LONG);
	cr_assert(used == 16 && c.skip == 0);
	buf_close(&frame);
}

/* No input at all reads beyond its end (ASan watches). */
Test(dubbo_strangers, random_bytes_do_no_harm)
{
	uint8_t noise[64];
	struct dubbo_request r;
	struct dubbo_result result;
	const char *why;

	for (int i = 0; i < 20000; i++) {
		size_t n = (size_t)rand_below(sizeof(noise));
		char *copy;

		rand_bytes(noise, n);
		for (size_t j = 0; j < n; j++) {
			noise[j] &= j % 3 == 0 ? 0x0f : 0xff;
		}
		copy = xstrndup(noise, n);
		(void)!dubbo_request_decode(bytes_make(copy, n), &r, &why);
		(void)!dubbo_result_decode(20, bytes_make(copy, n), &result,
					   &why);
		free(copy);
	}
}
