/* From a result to the message that the caller expects. */
#include "client/dubbo_client.h"

ProtobufCMessage *dubbo_result_message(const struct dubbo_result *result,
				       const ProtobufCMessageDescriptor *d,
				       struct bytes *why)
{
	ProtobufCMessage *m;

	switch (result->kind) {
	case DUBBO_VALUE:
		m = protobuf_c_message_unpack(d, NULL, result->value.n,
					      result->value.p);
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
