/* An element of events in Redis, made a message for Kafka: whatever comes out
 * is one that a reader can read. */
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "grab-service/event_text.h"
#include "proto/proto_util.h"
#include "rain/events.pb-c.h"

enum { ARENA_MAX = 64 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes text = fuzz_copy(bytes_make(data, size));
	struct bytes id = fuzz_copy(BYTES("quiz"));
	const char *why = NULL;
	struct buf out;
	bool ok;

	buf_init(&out);
	buf_put_u8(&out, '!');
	ok = event_text_pack(id, text, &out, &why);
	fuzz_drop(text);
	fuzz_drop(id);
	check(buf_live(&out).p[0] == '!');
	buf_take(&out, 1);
	if (ok) {
		Rain__ActivityEvent *m =
			fuzz_message(&rain__activity_event__descriptor,
				     buf_live(&out), ARENA_MAX);

		check(m != NULL && m->revision >= 1 && m->at_ms >= 0);
		check(m->change_case != RAIN__ACTIVITY_EVENT__CHANGE__NOT_SET);
		check(bytes_eq(from_pb(m->activity_id), BYTES("quiz")));
		proto_free(m);
	} else {
		check(why != NULL && buf_len(&out) == 0);
	}
	buf_close(&out);
	return 0;
}
