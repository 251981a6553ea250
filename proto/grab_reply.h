/**
 * The GrabReply of a grab's answer, without the way through descriptors: apps
 * get it in a frame of its own, gateways with those of a batch.
 */
#ifndef PROTO_GRAB_REPLY_H
#define PROTO_GRAB_REPLY_H

#include "proto/writer.h"
#include "rain/gateway.pb-c.h"

enum { GRAB_REPLY_NUMBERS = 64 }; /* bytes of one but for its texts */

static inline size_t grab_reply_room(const Rain__GrabReply *reply)
{
	return GRAB_REPLY_NUMBERS + reply->message.len +
	       (reply->red_packet != NULL ? reply->red_packet->red_packet_id.len
					  : 0);
}

static inline uint8_t *put_red_packet(uint8_t *end,
				      const Rain__RedPacket *packet)
{
	uint8_t *at = put_number(end, 3, (uint64_t)packet->at_ms);

	at = put_number(at, 2, (uint64_t)packet->amount_cents);
	return put_text(at, 1, packet->red_packet_id);
}

/* Its fields; the key and the length before them are the caller's. */
static inline uint8_t *put_grab_reply(uint8_t *end,
				      const Rain__GrabReply *reply)
{
	uint8_t *at = put_text(end, 4, reply->message);

	at = put_number(at, 3, reply->retry_after_ms);
	if (reply->red_packet != NULL) {
		at = put_delimited(put_red_packet(at, reply->red_packet), 2,
				   at);
	}
	return put_number(at, 1, (uint64_t)(int32_t)reply->status);
}

#endif
