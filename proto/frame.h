/**
 * Frames between app and gateway: a 4-byte big-endian length, then that many
 * bytes of one message. Nothing is buffered before the length was checked.
 */
#ifndef PROTO_FRAME_H
#define PROTO_FRAME_H

#include <protobuf-c/protobuf-c.h>

#include "base/buf.h"

enum {
	FRAME_HEADER = 4,
	FRAME_FROM_APP_MAX = 16 * 1024,
	FRAME_TO_APP_MAX = 64 * 1024,
};

enum frame_outcome {
	FRAME_OK,   /* *body is a whole message, *used bytes were consumed */
	FRAME_MORE, /* not complete yet, nothing consumed */
	FRAME_BAD,  /* the length is 0 or above max: the stream is lost */
};

/** Cut one frame off the front of data. *body is a view into data. */
enum frame_outcome frame_next(struct bytes data, size_t max, struct bytes *body,
			      size_t *used);

/** Append message as a frame. */
void frame_put(struct buf *out, const ProtobufCMessage *message);

#endif
