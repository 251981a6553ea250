/**
 * What can be configured about a gateway; `rain-gateway --help` prints it.
 */
#ifndef GATEWAY_OPTIONS_H
#define GATEWAY_OPTIONS_H

#include "base/config.h"

struct service;

struct gateway_options {
	const char *listen;            /* for the apps */
	int64_t loops;                 /* threads with an event loop each */
	const char *keys;              /* key file, see token.h; "" none */
	bool trust_plain_users;        /* a user id is taken for a token */
	int64_t connections_max;       /* of all loops */
	int64_t in_flight_max;         /* requests of one connection */
	int64_t front_in_flight_max;   /* of one with the scope front */
	int64_t in_flight_total_max;   /* requests of all connections */
	int64_t frame_max;             /* bytes of a message from an app */
	int64_t write_queue_max;       /* bytes for a slow reader */
	int64_t front_write_queue_max; /* for one with the scope front */
	int64_t write_queue_total_max; /* bytes for all of them */
	int64_t hello_ms;              /* to say Hello */
	int64_t idle_ms;               /* between two messages of an app */
	int64_t dead_ms;               /* for a peer to take what is sent */
	int64_t finish_ms;             /* for the last words to leave */
	int64_t try_ms;                /* one call to a service */
	int64_t grace_ms;              /* for an answer after not_after */
	int64_t query_ms;              /* QueryResult and QueryBalance */
	int64_t gather_ms;             /* from one poll to the next, 0: not */
	int64_t batch_max;             /* grabs in one call */
	int64_t retry_percent;         /* of the requests may be repeated */
	int64_t retry_burst;           /* and this many at once */
	int64_t retry_after_ms;        /* what apps are told to wait */
	int64_t remembered_max;        /* packets known to a connection */
	int64_t edge_fresh_ms;         /* an answer is told again, 0: not */
	int64_t edge_users_max;        /* known to have been told one */
	int64_t edge_activities_max;   /* with such an answer, per loop */
	const char *grab_addresses;    /* of the grab-services */
	const char *grab_secret;
	const char *ledger_addresses; /* of the settle-workers */
	const char *ledger_secret;
	/* Below: a second, 0 for no limit, and at once. See limits.h. */
	int64_t connection_rate;
	int64_t connection_burst;
	int64_t front_rate;
	int64_t front_burst;
	int64_t user_rate;
	int64_t user_burst;
	int64_t address_rate;
	int64_t address_burst;
	int64_t activity_rate;
	int64_t activity_burst;
	int64_t hello_rate;
	int64_t hello_burst;
	int64_t address_hello_rate;
	int64_t address_hello_burst;
	int64_t address_connections_max; /* 0 for no limit */
	int64_t greeting_max;            /* connections before their Hello */
	int64_t spread_ms;               /* over which connections come back */
	int64_t users_max;               /* known beside those connected */
	int64_t addresses_max;           /* likewise */
	int64_t activities_max;          /* likewise */
};

extern const struct config_key gateway_option_keys[];

/** What the table can't check; struct service's validate. */
void gateway_options_check(const struct service *svc,
			   const struct config_pair *pairs, size_t pair_count,
			   struct buf *problems);

#endif
