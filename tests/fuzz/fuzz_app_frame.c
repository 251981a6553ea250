/* An app's stream: cut into frames wherever its pieces end, each frame read as
 * the gateway reads it. The first byte is the length of the pieces. */
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "proto/frame.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

enum { ARENA_MAX = 64 * 1024 };

/* Cut the stream; returns how many bytes of it became whole frames. */
static size_t cut(struct bytes stream, uint8_t choice, bool *bad)
{
	enum frame_outcome outcome = FRAME_MORE;
	size_t piece = fuzz_piece(choice, stream.n);
	struct buf in;
	size_t done = 0;

	buf_init(&in);
	while (stream.n > 0 && outcome != FRAME_BAD) {
		size_t n = piece < stream.n ? piece : stream.n;

		buf_put(&in, stream.p, n);
		stream.p += n;
		stream.n -= n;
		do {
			struct bytes copy = fuzz_copy(buf_live(&in));
			struct bytes body;
			size_t used;

			outcome = frame_next(copy, FRAME_FROM_APP_MAX, &body,
					     &used);
			check((outcome == FRAME_OK) ==
			      (used == FRAME_HEADER + body.n && body.n > 0));
			buf_take(&in, used);
			done += used;
			fuzz_drop(copy);
		} while (outcome == FRAME_OK);
	}
	buf_close(&in);
	*bad = outcome == FRAME_BAD;
	return done;
}

/* What an app would have sent for m is read as m. */
static void send_again(const Rain__ClientMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(&m->base);
	struct bytes body;
	struct buf out;
	size_t used;

	if (n == 0) {
		return; /* seq 0 and no body: nobody sends that */
	}
	buf_init(&out);
	frame_put(&out, &m->base);
	check(frame_next(buf_live(&out), SIZE_MAX, &body, &used) == FRAME_OK);
	check(used == buf_len(&out) && body.n == n);
	check(fuzz_packs_to(&m->base, body));
	buf_close(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes stream = bytes_make(data, size);
	uint8_t choice = fuzz_choice(&stream);
	struct bytes body;
	size_t used;
	bool bad;
	bool bad_at_once;

	check(cut(stream, choice, &bad) == cut(stream, 0, &bad_at_once));
	check(bad == bad_at_once);
	while (frame_next(stream, FRAME_FROM_APP_MAX, &body, &used) ==
	       FRAME_OK) {
		Rain__ClientMessage *m = fuzz_message(
			&rain__client_message__descriptor, body, ARENA_MAX);

		if (m != NULL) {
			send_again(m);
			proto_free(m);
		}
		stream.p += used;
		stream.n -= used;
	}
	return 0;
}
