/**
 * What a gateway counts, for all its loops together.
 */
#ifndef GATEWAY_GATEWAY_METRICS_H
#define GATEWAY_GATEWAY_METRICS_H

#include "base/metrics.h"
#include "gateway/limits.h"
#include "rain/gateway.pb-c.h"

/* X(NAME, label): why something was refused or a connection was ended. */
#define REFUSAL_MAP(X)                                \
	X(CONNECTIONS, "connections")                 \
	X(DRAINING, "draining")                       \
	X(FRAME, "frame")                             \
	X(MESSAGE, "message")                         \
	X(SEQ, "seq")                                 \
	X(HELLO_FIRST, "hello_first")                 \
	X(HELLO_TIME, "hello_time")                   \
	X(PROTOCOL, "protocol")                       \
	X(TOKEN, "token")                             \
	X(EXPIRED, "token_expired")                   \
	X(IDLE, "idle")                               \
	X(IN_FLIGHT, "in_flight")                     \
	X(IN_FLIGHT_TOTAL, "in_flight_total")         \
	X(LEDGER, "ledger")                           \
	X(SLOW, "slow")                               \
	X(WRITE_QUEUE, "write_queue")                 \
	X(NOT_AFTER, "not_after")                     \
	X(UNSUPPORTED, "unsupported")                 \
	X(FILES, "files")                             \
	X(GREETING, "greeting")                       \
	X(ADDRESS_CONNECTIONS, "address_connections") \
	X(HELLO_RATE, "hello_rate")                   \
	X(ADDRESS_HELLO_RATE, "address_hello_rate")   \
	X(CONNECTION_RATE, "connection_rate")         \
	X(CONNECTION_FLOOD, "connection_flood")       \
	X(ADDRESS_RATE, "address_rate")               \
	X(USER_RATE, "user_rate")                     \
	X(ACTIVITY_RATE, "activity_rate")             \
	X(LIMIT_TABLE, "limit_table")                 \
	X(KEY_REMOVED, "key_removed")                 \
	X(OTHER_ACTIVITY, "other_activity")           \
	X(WRITE_QUEUE_TOTAL, "write_queue_total")     \
	X(DEAD, "dead")

enum refusal {
#define X(name, label) REFUSAL_##name,
	REFUSAL_MAP(X)
#undef X
		REFUSAL_COUNT
};

enum { STATUS_COUNT = RAIN__STATUS__PENDING + 1 };

struct gateway_metrics {
	struct metric connections; /* open now */
	struct metric greeting;    /* of these, without a good Hello */
	struct metric write_queue; /* bytes waiting to be sent */
	struct metric limit_entries[LIMIT_TABLES];
	struct metric accepted;
	struct metric sessions; /* that have said Hello, ever */
	struct metric refused[REFUSAL_COUNT];
	struct metric replies[STATUS_COUNT]; /* to Grab */
	struct metric queries;
	struct metric balances;
	struct metric remembered; /* grabs answered from the connection */
	struct metric edge[STATUS_COUNT]; /* grabs answered from edge.h */
	struct metric batch;              /* grabs in a call */
	struct metric retried;            /* requests sent again */
	struct metric no_budget;          /* that would have been */
	struct metric late;               /* answered at their deadline */
	struct metric grab_seconds;
};

extern struct gateway_metrics gateway_metrics;

/** Register all. Safe to repeat. */
void gateway_metrics_init(void);

/** Count one refusal. */
void gateway_refused(enum refusal why);

#endif
