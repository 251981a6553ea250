#include "gateway/gateway_metrics.h"

#define REPLY(status, label)                       \
	[RAIN__STATUS__##status] = METRIC_COUNTER( \
		"rain_gateway_grab_replies_total", \
		"Answers to Grab by status", "status=\"" label "\"")

#define EDGE(status, label)                                               \
	[RAIN__STATUS__##status] =                                        \
		METRIC_COUNTER("rain_gateway_edge_answers_total",         \
			       "Grabs answered without asking a service", \
			       "status=\"" label "\"")

#define LIMITED(label)                                      \
	METRIC_GAUGE("rain_gateway_limit_entries",          \
		     "Entries in the tables of the limits", \
		     "table=\"" label "\"")

struct gateway_metrics gateway_metrics = {
	.connections = METRIC_GAUGE("rain_gateway_connections",
				    "Connections of apps", ""),
	.greeting = METRIC_GAUGE("rain_gateway_greeting",
				 "Connections that have not said Hello yet",
				 ""),
	.write_queue = METRIC_GAUGE(
		"rain_gateway_write_queue_bytes",
		"Bytes waiting to be sent, to apps and to services", ""),
	.limit_entries = {
		[LIMIT_USER] = LIMITED("user"),
		[LIMIT_ADDRESS] = LIMITED("address"),
		[LIMIT_ACTIVITY] = LIMITED("activity"),
	},
	.accepted = METRIC_COUNTER("rain_gateway_accepted_total",
				   "Connections accepted", ""),
	.sessions = METRIC_COUNTER("rain_gateway_hellos_total",
				   "Connections that said a good Hello", ""),
	.refused = {
#define X(name, label)                                                        \
	[REFUSAL_##name] =                                                    \
		METRIC_COUNTER("rain_gateway_refused_total",                  \
			       "Requests and connections refused, by reason", \
			       "reason=\"" label "\""),
		REFUSAL_MAP(X)
#undef X
	},
	.replies = {
		REPLY(STATUS_UNSPECIFIED, "unspecified"),
		REPLY(WON, "won"),
		REPLY(ALREADY_GRABBED, "already_grabbed"),
		REPLY(SOLD_OUT, "sold_out"),
		REPLY(NOT_STARTED, "not_started"),
		REPLY(NOT_YET, "not_yet"),
		REPLY(PAUSED, "paused"),
		REPLY(ENDED, "ended"),
		REPLY(NO_SUCH_ACTIVITY, "no_such_activity"),
		REPLY(DENIED, "denied"),
		REPLY(RATE_LIMITED, "rate_limited"),
		REPLY(BUSY, "busy"),
		REPLY(PENDING, "pending"),
	},
	.queries = METRIC_COUNTER("rain_gateway_queries_total",
				  "QueryResult requests taken", ""),
	.balances = METRIC_COUNTER("rain_gateway_balances_total",
				   "QueryBalance requests taken", ""),
	.remembered = METRIC_COUNTER(
		"rain_gateway_remembered_total",
		"Grabs answered with a packet that the connection knew", ""),
	.edge = {
		EDGE(SOLD_OUT, "sold_out"),
		EDGE(NOT_STARTED, "not_started"),
		EDGE(NOT_YET, "not_yet"),
		EDGE(PAUSED, "paused"),
		EDGE(ENDED, "ended"),
	},
	.batch = METRIC_COUNTS("rain_gateway_batch_grabs",
			       "Grabs in one call to a grab-service", ""),
	.retried = METRIC_COUNTER("rain_gateway_retried_total",
				  "Requests sent to a service again", ""),
	.no_budget = METRIC_COUNTER(
		"rain_gateway_no_retry_budget_total",
		"Requests not sent again because the budget was used up", ""),
	.late = METRIC_COUNTER(
		"rain_gateway_late_total",
		"Requests answered at their deadline, without the service",
		""),
	.grab_seconds = METRIC_SECONDS(
		"rain_gateway_grab_seconds",
		"From the arrival of a grab to its answer", ""),
};

void gateway_metrics_init(void)
{
	static bool done;
	struct gateway_metrics *m = &gateway_metrics;

	if (done) {
		return;
	}
	done = true;
	metrics_register(&m->connections);
	metrics_register(&m->greeting);
	metrics_register(&m->write_queue);
	for (size_t i = 0; i < LIMIT_TABLES; i++) {
		metrics_register(&m->limit_entries[i]);
	}
	metrics_register(&m->accepted);
	metrics_register(&m->sessions);
	for (size_t i = 0; i < REFUSAL_COUNT; i++) {
		metrics_register(&m->refused[i]);
	}
	for (size_t i = 0; i < STATUS_COUNT; i++) {
		metrics_register(&m->replies[i]);
	}
	metrics_register(&m->queries);
	metrics_register(&m->balances);
	metrics_register(&m->remembered);
	for (size_t i = 0; i < STATUS_COUNT; i++) {
		if (m->edge[i].name != NULL) {
			metrics_register(&m->edge[i]);
		}
	}
	metrics_register(&m->batch);
	metrics_register(&m->retried);
	metrics_register(&m->no_budget);
	metrics_register(&m->late);
	metrics_register(&m->grab_seconds);
}

void gateway_refused(enum refusal why)
{
	metric_add(&gateway_metrics.refused[why], 1);
}
