/**
 * What a gateway asks of a grab-service for a batch, and what that answers,
 * without the way through descriptors, as grab_frame.h does for the apps.
 */
#ifndef PROTO_GRAB_BATCH_H
#define PROTO_GRAB_BATCH_H

#include "base/buf.h"
#include "rain/grab_service.pb-c.h"

struct grab_answer {
	Rain__GrabResponse response;
	Rain__GrabReply reply;      /* that of response, if it has one */
	Rain__RedPacket red_packet; /* that of reply, likewise */
};

/** Read a GrabBatchResponse of exactly count answers, as services write it.
 * They borrow from value. False: it is anything else, which proto_unpack() is
 * for. */
must_check bool grab_batch_read(struct bytes value, struct grab_answer *answers,
				size_t count, int64_t *time_ms);

/** Append a GrabRequest as a field of GrabBatchRequest. */
void grab_batch_put(struct buf *out, const Rain__GrabRequest *request);

/* A GrabBatchRequest that is written already. */
struct grab_batch {
	Rain__GrabBatchRequest message;
	ProtobufCMessageUnknownField fields;
};

/** Have b->message pack to what grab_batch_put() has written, from which it
 * borrows. */
void grab_batch_init(struct grab_batch *b, struct bytes written);

#endif
