/* A claim for Kafka: the short way and that through descriptors agree. */
#include <criterion/criterion.h>

#include "lib/packed.h"
#include "proto/claim_event.h"
#include "proto/proto_util.h"

static void same_bytes(const Rain__ClaimEvent *m)
{
	uint8_t room[1024];
	uint8_t *end = room + sizeof room;
	struct buf theirs = packed_message(&m->base);
	uint8_t *at = put_claim_event(end, m);

	cr_assert(claim_event_room(m) <= sizeof room);
	cr_assert((size_t)(end - at) <= claim_event_room(m));
	cr_assert(bytes_eq(bytes_make(at, (size_t)(end - at)),
			   buf_live(&theirs)));
	buf_close(&theirs);
}

Test(claim_event, an_empty_one_is_no_bytes)
{
	Rain__ClaimEvent m = RAIN__CLAIM_EVENT__INIT;

	same_bytes(&m);
}

Test(claim_event, every_length_of_a_text_and_of_a_number)
{
	static const char text[300] = { 'x' };
	Rain__ClaimEvent m = RAIN__CLAIM_EVENT__INIT;

	for (int bits = 0; bits < 64; bits++) {
		uint64_t n = UINT64_MAX >> bits;

		m.activity_id = to_pb(bytes_make(text, (size_t)bits));
		m.red_packet_id = to_pb(bytes_make(text, 64 - (size_t)bits));
		m.user_id = to_pb(bytes_make(text, 4 * (size_t)bits));
		m.amount_cents = (int64_t)n;
		m.seq = n - 1;
		m.at_ms = (int64_t)(n / 2);
		m.tranche = (uint32_t)n;
		same_bytes(&m);
	}
}
