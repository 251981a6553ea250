/**
 * The text of packets and claims in Redis, read and written exactly:
 *
 *   {"redPacketId":"365628617880842241","amount":"12.21"}
 *   {"redPacketId":"…","amount":"12.21","userId":"…","seq":17,"atMs":…,"tranche":1}
 *
 * These exact forms and no other JSON: no spaces, no other order, no escapes.
 * Only the amount may be written as amount_parse() reads it.
 */
#ifndef GRAB_CLAIM_H
#define GRAB_CLAIM_H

#include "base/amount.h"
#include "base/id.h"

struct packet {
	struct bytes red_packet_id; /* view into the text */
	int64_t amount_cents;
};

struct claim {
	struct packet packet;
	struct bytes user_id; /* view into the text */
	uint64_t seq;
	int64_t at_ms;
	uint32_t tranche;
};

enum { PACKET_TEXT_MAX = 160 };

/** False if the text is not exactly a packet; then *why (static) says what is
 * wrong. Amounts are 0.01 and more. */
must_check bool packet_parse(struct bytes text, struct packet *p,
			     const char **why);
must_check bool claim_parse(struct bytes text, struct claim *c,
			    const char **why);

/** Write the text of a packet; returns its length. */
size_t packet_format(const struct packet *p, char out[PACKET_TEXT_MAX]);

#endif
