/* From a result to the message that the caller expects. */
#include "client/dubbo_client.h"

#include "proto/proto_util.h"

enum { MESSAGE_ARENA_MAX = 64 * 1024 * 1024 };

void *dubbo_result_message(const struct dubbo_result *result,
			   const ProtobufCMessageDescriptor *d,
			   struct bytes *why)
{
	void *m;

	switch (result->kind) {
	case DUBBO_VALUE:
		m = proto_unpack(d, result->value, MESSAGE_ARENA_MAX);
		if (m == NULL) {
			*why = BYTES("the answer is no message of this type");
		}
		return m;
	case DUBBO_NULL:
		*why = BYTES("the answer is null");
		return NULL;
	case DUBBO_EXCEPTION:
	case DUBBO_ERROR:
		break;
	}
	*why = result->message.n > 0 ? result->message
				     : BYTES("the provider failed");
	return NULL;
}
