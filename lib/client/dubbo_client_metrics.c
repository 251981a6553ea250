#include "base/metrics.h"
#include "client/dubbo_client_internal.h"

enum { VALUE, EXCEPTION, FAILED, NOT_SENT, UNKNOWN, OUTCOMES };

#define CALLS(outcome)                                  \
	METRIC_COUNTER("rain_dubbo_client_calls_total", \
		       "Dubbo calls made, by outcome",  \
		       "outcome=\"" outcome "\"")
static struct metric outcomes[OUTCOMES] = {
	[VALUE] = CALLS("value"),     [EXCEPTION] = CALLS("exception"),
	[FAILED] = CALLS("error"),    [NOT_SENT] = CALLS("not_sent"),
	[UNKNOWN] = CALLS("unknown"),
};
static struct metric in_flight = METRIC_GAUGE(
	"rain_dubbo_client_in_flight", "Dubbo calls without an answer yet", "");
static struct metric ready =
	METRIC_GAUGE("rain_dubbo_client_providers_ready",
		     "Providers that are connected and take calls", "");
static struct metric reconnects =
	METRIC_COUNTER("rain_dubbo_client_reconnects_total",
		       "Attempts to connect again to a provider", "");
static struct metric late_replies =
	METRIC_COUNTER("rain_dubbo_client_late_replies_total",
		       "Replies that came after their deadline, dropped", "");

static void register_metrics(void)
{
	for (int i = 0; i < OUTCOMES; i++) {
		metrics_register(&outcomes[i]);
	}
	metrics_register(&in_flight);
	metrics_register(&ready);
	metrics_register(&reconnects);
	metrics_register(&late_replies);
}

void dubbo_client_metrics(void)
{
	static uv_once_t once = UV_ONCE_INIT;

	uv_once(&once, register_metrics);
}

void dubbo_count_outcome(enum dubbo_outcome outcome,
			 const struct dubbo_result *result)
{
	int i = UNKNOWN;

	if (outcome == DUBBO_NOT_SENT) {
		i = NOT_SENT;
	} else if (outcome == DUBBO_DONE) {
		i = result->kind == DUBBO_ERROR       ? FAILED
		    : result->kind == DUBBO_EXCEPTION ? EXCEPTION
						      : VALUE;
	}
	metric_add(&outcomes[i], 1);
}

void dubbo_count_in_flight(int64_t n)
{
	metric_add(&in_flight, n);
}

void dubbo_count_ready(int64_t n)
{
	metric_add(&ready, n);
}

void dubbo_count_reconnect(void)
{
	metric_add(&reconnects, 1);
}

void dubbo_count_late_reply(void)
{
	metric_add(&late_replies, 1);
}
