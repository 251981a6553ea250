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

/** How many grabs a GrabBatchRequest begins with. */
size_t grab_batch_count(struct bytes value);

/** Read a GrabBatchRequest of exactly count grabs, as gateways write it, as
 * grab_batch_read() does the answers. */
must_check bool grab_batch_read_requests(struct bytes value,
					 Rain__GrabRequest *requests,
					 size_t count);

/** Append a GrabRequest as a field of GrabBatchRequest. */
void grab_batch_put(struct buf *out, const Rain__GrabRequest *request);

/** Append fields of GrabBatchResponse: all answers, then the time. */
void grab_batch_put_answer(struct buf *out, const Rain__GrabResponse *response);
void grab_batch_put_time(struct buf *out, int64_t time_ms);

/* A batch that is written already, only to be packed. */
struct grab_batch {
	ProtobufCMessage message;
	ProtobufCMessageUnknownField fields;
};

/** Have b->message pack to what has been put in written, from which it
 * borrows. */
void grab_batch_init(struct grab_batch *b, struct bytes written);

#endif
