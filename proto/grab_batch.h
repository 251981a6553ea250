/**
 * The answers of a grab-service to a batch, read without the way through
 * descriptors, as grab_frame.h does with those of a gateway.
 */
#ifndef PROTO_GRAB_BATCH_H
#define PROTO_GRAB_BATCH_H

#include "base/bytes.h"
#include "base/check.h"
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

#endif
