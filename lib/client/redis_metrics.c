#include <pthread.h>

#include "client/redis_internal.h"

#include "base/metrics.h"

#define COMMANDS(outcome)                                  \
	METRIC_COUNTER("rain_redis_commands_total",        \
		       "Redis commands by how they ended", \
		       "outcome=\"" outcome "\"")
#define ERRORS(class)                                                \
	METRIC_COUNTER("rain_redis_errors_total",                    \
		       "Error replies of Redis by what they demand", \
		       "class=\"" class "\"")

static struct metric commands[] = {
	[REDIS_DONE] = COMMANDS("done"),
	[REDIS_NOT_EXECUTED] = COMMANDS("not_executed"),
	[REDIS_UNKNOWN] = COMMANDS("unknown"),
	[REDIS_PARTIAL] = COMMANDS("partial"),
};

static struct metric errors[] = {
	[REDIS_REACT_NONE] = ERRORS("other"),
	[REDIS_REACT_SCRIPT] = ERRORS("script"),
	[REDIS_REACT_WAIT] = ERRORS("wait"),
	[REDIS_REACT_RECONNECT] = ERRORS("reconnect"),
	[REDIS_REACT_FULL] = ERRORS("full"),
	[REDIS_REACT_CONFIG] = ERRORS("config"),
	[REDIS_REACT_PARTIAL] = ERRORS("partial"),
};

static struct metric connects = METRIC_COUNTER(
	"rain_redis_connects_total",
	"Connections to Redis that came up; all but the first are reconnects",
	"");

static struct metric in_flight = METRIC_GAUGE(
	"rain_redis_in_flight", "Redis commands accepted and not ended", "");

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void register_all(void)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		metrics_register(&commands[i]);
	}
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		metrics_register(&errors[i]);
	}
	metrics_register(&connects);
	metrics_register(&in_flight);
}

void redis_metrics_init(void)
{
	check(pthread_once(&once, register_all) == 0);
}

void redis_metrics_outcome(enum redis_outcome outcome)
{
	metric_add(&commands[outcome], 1);
}

void redis_metrics_error(enum redis_reaction reaction)
{
	metric_add(&errors[reaction], 1);
}

void redis_metrics_connected(void)
{
	metric_add(&connects, 1);
}

void redis_metrics_in_flight(int64_t delta)
{
	metric_add(&in_flight, delta);
}
