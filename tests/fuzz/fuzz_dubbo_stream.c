/* The stream of a Dubbo peer: cut into frames wherever its pieces end. The
 * first byte is the length of the pieces. */
#include "fuzz/fuzz.h"
#include "net/dubbo_wire.h"

enum { PAYLOAD_MAX = 1024 };

/* An event's header and its echo. */
static void echo(const struct dubbo_header *h, struct bytes body)
{
	struct dubbo_cutter c = { .payload_max = PAYLOAD_MAX };
	struct dubbo_header got;
	struct bytes echoed;
	struct buf out;
	size_t used;

	check(!dubbo_event_readonly(body) || body.n > 0);
	check(!dubbo_event_writeable(body) || body.n > 0);
	buf_init(&out);
	dubbo_heartbeat_reply(&out, h, body);
	check(dubbo_cut(&c, buf_live(&out), &got, &echoed, &used) ==
	      DUBBO_CUT_FRAME);
	check(got.event && !got.request && got.id == h->id);
	check(got.serialization == h->serialization && bytes_eq(echoed, body));
	buf_close(&out);
}

static void note_frame(struct bytes header, const struct dubbo_header *h,
		       struct buf *trace)
{
	uint8_t again[DUBBO_HEADER];

	dubbo_header_encode(h, again);
	check(bytes_eq(header, bytes_make(again, sizeof again)));
	buf_put(trace, again, sizeof again);
}

/* One step at the front of in; false if there is nothing more for now. */
static bool step(struct dubbo_cutter *c, struct buf *in, struct buf *trace,
		 bool *garbage)
{
	struct bytes copy = fuzz_copy(buf_live(in));
	struct dubbo_header h;
	struct bytes body = { 0 };
	size_t skip = c->skip < copy.n ? c->skip : copy.n;
	size_t used = 0;
	enum dubbo_cut cut = dubbo_cut(c, copy, &h, &body, &used);

	check(used <= copy.n && used >= skip);
	if (cut == DUBBO_CUT_FRAME || cut == DUBBO_CUT_TOO_LONG) {
		note_frame(bytes_make(copy.p + skip, DUBBO_HEADER), &h, trace);
	}
	if (cut == DUBBO_CUT_FRAME) {
		check(body.n == h.length && body.n <= PAYLOAD_MAX);
		check(used == skip + DUBBO_HEADER + body.n);
		buf_put_bytes(trace, body);
		if (h.event) {
			echo(&h, body);
		}
	}
	*garbage = cut == DUBBO_CUT_GARBAGE;
	buf_take(in, used);
	fuzz_drop(copy);
	return cut == DUBBO_CUT_FRAME || cut == DUBBO_CUT_TOO_LONG;
}

static bool cut(struct bytes stream, uint8_t choice, struct buf *trace)
{
	struct dubbo_cutter c = { .payload_max = PAYLOAD_MAX };
	size_t piece = fuzz_piece(choice, stream.n);
	bool garbage = false;
	struct buf in;

	buf_init(&in);
	while (stream.n > 0 && !garbage) {
		size_t n = piece < stream.n ? piece : stream.n;

		buf_put(&in, stream.p, n);
		stream.p += n;
		stream.n -= n;
		while (step(&c, &in, trace, &garbage)) {
		}
	}
	buf_close(&in);
	return garbage;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes stream = bytes_make(data, size);
	uint8_t choice = fuzz_choice(&stream);
	struct buf pieces;
	struct buf whole;

	buf_init(&pieces);
	buf_init(&whole);
	check(cut(stream, choice, &pieces) == cut(stream, 0, &whole));
	check(bytes_eq(buf_live(&pieces), buf_live(&whole)));
	buf_close(&pieces);
	buf_close(&whole);
	return 0;
}
