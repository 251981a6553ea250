/**
 * A ClaimEvent without the way through descriptors: there is one for each
 * packet that is won.
 */
#ifndef PROTO_CLAIM_EVENT_H
#define PROTO_CLAIM_EVENT_H

#include "proto/writer.h"
#include "rain/events.pb-c.h"

enum { CLAIM_EVENT_NUMBERS = 64 }; /* bytes of one but for its texts */

static inline size_t claim_event_room(const Rain__ClaimEvent *m)
{
	return CLAIM_EVENT_NUMBERS + m->activity_id.len + m->red_packet_id.len +
	       m->user_id.len;
}

/** Its fields, see writer.h, in what is before end: claim_event_room(). */
static inline uint8_t *put_claim_event(uint8_t *end, const Rain__ClaimEvent *m)
{
	uint8_t *at = put_number(end, 7, m->tranche);

	at = put_number(at, 6, (uint64_t)m->at_ms);
	at = put_number(at, 5, m->seq);
	at = put_number(at, 4, (uint64_t)m->amount_cents);
	at = put_text(at, 3, m->user_id);
	at = put_text(at, 2, m->red_packet_id);
	return put_text(at, 1, m->activity_id);
}

#endif
