/* What an app, or rainctl, hears from a gateway. */
#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "proto/frame.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	proto_free(fuzz_message(&rain__server_message__descriptor,
				bytes_make(data, size), FRAME_TO_APP_MAX * 4));
	return 0;
}
