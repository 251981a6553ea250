/**
 * The two messages that nearly all traffic of a gateway is, a tap and its
 * answer, without the way through descriptors. What is said about them in
 * gateway.proto holds; these are shorter ways to the same bytes.
 */
#ifndef PROTO_GRAB_FRAME_H
#define PROTO_GRAB_FRAME_H

#include "base/buf.h"
#include "rain/gateway.pb-c.h"

struct grab_message {
	Rain__ClientMessage client;
	Rain__Grab grab; /* that of client */
};

/** Read a ClientMessage with a Grab as apps write it: every field at most once
 * and in its order, nothing unknown, ids of ASCII. m borrows from body. False:
 * it is anything else, which proto_unpack() is for. */
must_check bool grab_message_read(struct bytes body, struct grab_message *m);

/** Append reply as a frame, as frame_put() would the ServerMessage with it. */
void grab_frame_put(struct buf *out, uint64_t seq,
		    const Rain__GrabReply *reply);

#endif
