#include "gateway/verdict.h"

enum { TEXT_MAX = 512 };

enum verdict verdict_of(enum dubbo_outcome outcome,
			const struct dubbo_result *result)
{
	if (outcome == DUBBO_NOT_SENT) {
		return VERDICT_NOT_SENT;
	}
	if (outcome == DUBBO_UNKNOWN) {
		return VERDICT_LOST;
	}
	if (result->kind == DUBBO_VALUE) {
		return VERDICT_VALUE;
	}
	if (result->kind != DUBBO_ERROR) {
		return VERDICT_UNKNOWN; /* thrown by the method itself */
	}
	switch (result->status) {
	case DUBBO_STATUS_SERVICE_NOT_FOUND:
		return VERDICT_NOT_SENT; /* a provider that is stopping */
	case DUBBO_STATUS_SERIALIZATION_ERROR:
	case DUBBO_STATUS_BAD_REQUEST:
	case DUBBO_STATUS_THREADPOOL_EXHAUSTED:
		return VERDICT_REFUSED; /* said before any method is called */
	default:
		return VERDICT_UNKNOWN;
	}
}

static bool waits(Rain__Status status)
{
	switch (status) {
	case RAIN__STATUS__NOT_STARTED:
	case RAIN__STATUS__NOT_YET:
	case RAIN__STATUS__PAUSED:
	case RAIN__STATUS__RATE_LIMITED:
	case RAIN__STATUS__BUSY:
	case RAIN__STATUS__PENDING:
		return true;
	default:
		return false;
	}
}

/* Cut at the end of a character. */
static ProtobufCBinaryData clip(ProtobufCBinaryData text)
{
	if (text.len > TEXT_MAX) {
		text.len = TEXT_MAX;
		while (text.len > 0 && (text.data[text.len] & 0xc0) == 0x80) {
			text.len--;
		}
	}
	return text;
}

void verdict_reply(const Rain__GrabReply *in, bool earlier, uint32_t retry_ms,
		   Rain__GrabReply *out)
{
	bool won = in->status == RAIN__STATUS__WON ||
		   in->status == RAIN__STATUS__ALREADY_GRABBED;
	bool packet = in->red_packet != NULL &&
		      in->red_packet->red_packet_id.len > 0 &&
		      in->red_packet->amount_cents > 0;

	rain__grab_reply__init(out);
	out->status = in->status;
	out->message = clip(in->message);
	if (in->status == RAIN__STATUS__STATUS_UNSPECIFIED ||
	    protobuf_c_enum_descriptor_get_value(&rain__status__descriptor,
						 (int)in->status) == NULL ||
	    won != packet || (earlier && waits(in->status))) {
		out->status = RAIN__STATUS__PENDING;
	} else if (won) {
		out->red_packet = in->red_packet;
	}
	if (waits(out->status)) {
		out->retry_after_ms =
			in->retry_after_ms != 0 ? in->retry_after_ms : retry_ms;
	}
}
