#include "gateway/memory.h"

#include <stdlib.h>

#include "base/check.h"
#include "proto/proto_util.h"

enum { PACKET_ID_MAX = 64 };

struct known {
	int64_t amount_cents;
	int64_t at_ms;
	uint8_t activity_len;
	uint8_t packet_len;
	char activity[ID_MAX];
	char packet[PACKET_ID_MAX];
};

struct memory {
	size_t count;
	struct known known[]; /* oldest first */
};

static const struct known *find(const struct memory *m, struct bytes activity)
{
	for (size_t i = 0; m != NULL && i < m->count; i++) {
		const struct known *k = &m->known[i];

		if (bytes_eq(activity,
			     bytes_make(k->activity, k->activity_len))) {
			return k;
		}
	}
	return NULL;
}

/* Room for one more at the end. */
static struct known *append(struct memory **m, size_t max)
{
	size_t n = *m != NULL ? (*m)->count : 0;

	if (n >= max) {
		memmove(&(*m)->known[0], &(*m)->known[1],
			(n - 1) * sizeof((*m)->known[0]));
		return &(*m)->known[n - 1];
	}
	*m = xrealloc(*m, sizeof(**m) + (n + 1) * sizeof((*m)->known[0]));
	(*m)->count = n + 1;
	return &(*m)->known[n];
}

void memory_note(struct memory **m, size_t max, struct bytes activity,
		 const Rain__RedPacket *packet)
{
	struct known *k;

	check(activity.n <= ID_MAX);
	if (max == 0 || packet->red_packet_id.len > PACKET_ID_MAX ||
	    find(*m, activity) != NULL) {
		return;
	}
	k = append(m, max);
	*k = (struct known){
		.amount_cents = packet->amount_cents,
		.at_ms = packet->at_ms,
		.activity_len = (uint8_t)activity.n,
		.packet_len = (uint8_t)packet->red_packet_id.len,
	};
	memcpy(k->activity, activity.p, activity.n);
	memcpy(k->packet, packet->red_packet_id.data,
	       packet->red_packet_id.len);
}

bool memory_find(const struct memory *m, struct bytes activity,
		 Rain__RedPacket *packet)
{
	const struct known *k = find(m, activity);

	if (k == NULL) {
		return false;
	}
	rain__red_packet__init(packet);
	packet->red_packet_id = to_pb(bytes_make(k->packet, k->packet_len));
	packet->amount_cents = k->amount_cents;
	packet->at_ms = k->at_ms;
	return true;
}

void memory_free(struct memory **m)
{
	free(*m);
	*m = NULL;
}
