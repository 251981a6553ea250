#include "gateway/admission.h"

enum admission admission_decide(const struct admission_view *v)
{
	if (v->now_ms >= v->expires_ms) {
		return TOKEN_EXPIRED;
	}
	if (v->key_removed) {
		return KEY_REMOVED;
	}
	if (v->in_flight >= v->in_flight_max) {
		return CONNECTION_FULL;
	}
	if (v->loop_in_flight >= v->loop_in_flight_max) {
		return GATEWAY_FULL;
	}
	/* Half of all, so that a ledger that hangs leaves room for grabs. */
	if (v->for_ledger &&
	    v->ledger_in_flight >= (v->loop_in_flight_max + 1) / 2) {
		return LEDGER_FULL;
	}
	if (!v->for_ledger &&
	    v->loop_in_flight - v->ledger_in_flight >= v->window) {
		return SERVICES_SLOW;
	}
	return ADMITTED;
}

enum not_after admission_not_after(int64_t now_ms, int64_t not_after_ms,
				   int64_t *resolved_ms, uint64_t *left_ms)
{
	*resolved_ms = not_after_ms;
	*left_ms = 0;
	if (not_after_ms < 0) {
		return NOT_AFTER_NEGATIVE;
	}
	if (not_after_ms == 0) {
		*resolved_ms = now_ms + NOT_AFTER_DEFAULT_MS;
	}
	if (*resolved_ms > now_ms + NOT_AFTER_AHEAD_MS + NOT_AFTER_SLACK_MS) {
		return NOT_AFTER_TOO_FAR;
	}
	if (*resolved_ms <= now_ms) {
		return NOT_AFTER_PASSED;
	}
	*left_ms = (uint64_t)(*resolved_ms - now_ms);
	return NOT_AFTER_AHEAD;
}
