/**
 * What holds for every protobuf message that a stranger sends.
 */
#ifndef TESTS_FUZZ_MESSAGE_H
#define TESTS_FUZZ_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "base/bytes.h"

/** Unpack as proto_unpack() does, pack, unpack again and check that both are
 * the same. Returns the message, or NULL if it is refused; proto_free() it. */
void *fuzz_message(const ProtobufCMessageDescriptor *d, struct bytes packed,
		   size_t arena_max);

/** A message that we send, as its reader gets it: he can always read it.
 * proto_free() what is returned. */
void *fuzz_sent(const ProtobufCMessage *m, size_t arena_max);

/** Any bytes that are protobuf, as an empty message with unknown fields; NULL
 * if they are not. Free with protobuf_c_message_free_unpacked(). */
ProtobufCMessage *fuzz_any(struct bytes packed);

/** Whether m packs to these bytes. */
bool fuzz_packs_to(const ProtobufCMessage *m, struct bytes packed);

#endif
