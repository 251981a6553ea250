#include "fuzz/message.h"

#include "fuzz/fuzz.h"
#include "proto/proto_util.h"
#include "rain/activity_service.pb-c.h"

static struct bytes pack(const ProtobufCMessage *m)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *p = xmalloc(n + 1);
	struct bytes out;

	check(protobuf_c_message_pack(m, p) == n);
	out = fuzz_copy(bytes_make(p, n));
	fuzz_drop(bytes_make(p, n));
	return out;
}

bool fuzz_packs_to(const ProtobufCMessage *m, struct bytes packed)
{
	struct bytes mine = pack(m);
	bool same = bytes_eq(mine, packed);

	fuzz_drop(mine);
	return same;
}

void *fuzz_message(const ProtobufCMessageDescriptor *d, struct bytes packed,
		   size_t arena_max)
{
	struct bytes copy = fuzz_copy(packed);
	ProtobufCMessage *m = proto_unpack(d, copy, arena_max);
	ProtobufCMessage *again;
	struct bytes ours;

	fuzz_drop(copy); /* nothing of the message may point into it */
	if (m == NULL) {
		return NULL;
	}
	ours = pack(m);
	/* A short form of a number may have become a long one. */
	again = proto_unpack(d, ours, arena_max * 4);
	check(again != NULL);
	check(fuzz_packs_to(again, ours));
	proto_free(again);
	fuzz_drop(ours);
	return m;
}

void *fuzz_sent(const ProtobufCMessage *m, size_t arena_max)
{
	struct bytes packed = pack(m);
	ProtobufCMessage *got = proto_unpack(m->descriptor, packed, arena_max);

	check(got != NULL);
	check(fuzz_packs_to(got, packed));
	fuzz_drop(packed);
	return got;
}

ProtobufCMessage *fuzz_any(struct bytes packed)
{
	return protobuf_c_message_unpack(&rain__list_request__descriptor, NULL,
					 packed.n, packed.p);
}
