/**
 * The packets that a connection knows its user to have: a few, the newest. A
 * user's own packet never changes, so a tap for it may be answered from here.
 */
#ifndef GATEWAY_MEMORY_H
#define GATEWAY_MEMORY_H

#include "base/id.h"
#include "rain/gateway.pb-c.h"

struct memory; /* NULL while nothing is known */

/** Note the packet of activity, forgetting the oldest above max (0: note
 * nothing). Packet ids of more than 64 bytes are not noted. */
void memory_note(struct memory **m, size_t max, struct bytes activity,
		 const Rain__RedPacket *packet);

/** Whether it knows the packet of activity; *packet then borrows from m. */
bool memory_find(const struct memory *m, struct bytes activity,
		 Rain__RedPacket *packet);

/** Forget all; *m is NULL then. */
void memory_free(struct memory **m);

#endif
