#include "gateway/options.h"

#include "net/address.h"
#include "net/service.h"
#include "token/token.h"

#define AT(field) offsetof(struct gateway_options, field)
#define TEXT(name, field, def, flag, text)                                \
	{                                                                 \
		(name), CONFIG_STRING, AT(field), (def), .flags = (flag), \
							 .help = (text)   \
	}
#define NUMBER(name, type, field, def, low, high, text)                        \
	{                                                                      \
		(name), (type), AT(field), (def), .min = (low), .max = (high), \
						  .help = (text)               \
	}

#define LIVE(name, type, field, def, low, high, text)                          \
	{                                                                      \
		(name), (type), AT(field), (def), .min = (low), .max = (high), \
						  .flags = CONFIG_LIVE,        \
						  .help = (text)               \
	}
/* A token bucket: so many a second, so many at once. */
#define RATE(what, rate, rate_def, burst, burst_def, text)                    \
	LIVE("limit." what "_rate", CONFIG_INT, rate, rate_def, 0, RATE_MAX,  \
	     text),                                                           \
		LIVE("limit." what "_burst", CONFIG_INT, burst, burst_def, 1, \
		     RATE_MAX, "how many of them at once")

enum {
	KIB = 1024,
	MIB = 1024 * 1024,
	HOUR_MS = 3600 * 1000,
	RATE_MAX = 100000000,
};

const struct config_key gateway_option_keys[] = {
	TEXT("gateway.listen", listen, "127.0.0.1:7000", CONFIG_REQUIRED,
	     "address and port for the apps"),
	NUMBER("gateway.loops", CONFIG_INT, loops, "2", 1, 64,
	       "threads with an event loop each"),
	TEXT("gateway.keys", keys, "", CONFIG_LIVE,
	     "file with the keys of the apps' tokens, a line a key: "
	     "KID ALG SCOPE VALUE"),
	{ "gateway.trust_plain_users", CONFIG_BOOL, AT(trust_plain_users),
	  "false",
	  .help = "DEVELOPMENT ONLY: a user id in place of a token is "
		  "believed" },
	NUMBER("gateway.connections_max", CONFIG_INT, connections_max, "15000",
	       1, 10000000, "connections in all; above: refused"),
	NUMBER("gateway.in_flight_max", CONFIG_INT, in_flight_max, "32", 1,
	       10000, "requests in flight of one connection; above: BUSY"),
	NUMBER("gateway.front_in_flight_max", CONFIG_INT, front_in_flight_max,
	       "10000", 1, 1000000,
	       "the same for a connection with the scope front"),
	NUMBER("gateway.in_flight_total_max", CONFIG_INT, in_flight_total_max,
	       "50000", 1, 10000000,
	       "requests in flight of all connections; above: BUSY"),
	NUMBER("gateway.frame_max", CONFIG_SIZE, frame_max, "16KiB", 64,
	       16 * KIB,
	       "largest message from an app; above: the connection closes"),
	NUMBER("gateway.write_queue_max", CONFIG_SIZE, write_queue_max,
	       "256KiB", KIB, 64 * MIB,
	       "answers waiting for a slow reader; above: it closes"),
	NUMBER("gateway.front_write_queue_max", CONFIG_SIZE,
	       front_write_queue_max, "16MiB", KIB, 1024 * MIB,
	       "the same for a connection with the scope front"),
	NUMBER("gateway.write_queue_total_max", CONFIG_SIZE,
	       write_queue_total_max, "256MiB", MIB, 1024LL * 1024 * MIB,
	       "answers waiting for all slow readers; above: those that do "
	       "not read close"),
	NUMBER("gateway.hello_time", CONFIG_TIME, hello_ms, "10s", 50, HOUR_MS,
	       "time to say Hello; then the connection closes"),
	NUMBER("gateway.idle_time", CONFIG_TIME, idle_ms, "3m", 50,
	       24 * HOUR_MS, "silence after which a connection closes"),
	NUMBER("gateway.dead_time", CONFIG_TIME, dead_ms, "30s", 100,
	       24 * HOUR_MS,
	       "how long a peer may leave unconfirmed what was sent to it; "
	       "then the connection closes"),
	NUMBER("gateway.finish_time", CONFIG_TIME, finish_ms, "2s", 10, 60000,
	       "time for the last answers of a closing connection to leave"),
	NUMBER("gateway.try_time", CONFIG_TIME, try_ms, "500ms", 10, 10000,
	       "how long one call to a service may take"),
	NUMBER("gateway.grace", CONFIG_TIME, grace_ms, "200ms", 0, 2000,
	       "how long after not_after_ms an answer is waited for"),
	NUMBER("gateway.query_time", CONFIG_TIME, query_ms, "1s", 10, 10000,
	       "how long QueryResult and QueryBalance may take"),
	NUMBER("gateway.gather_time", CONFIG_TIME, gather_ms, "1ms", 0, 20,
	       "a loop that has looked for messages looks again no sooner: what "
	       "comes meanwhile is read at once; 0: as soon as it can"),
	NUMBER("gateway.batch_max", CONFIG_INT, batch_max, "1000", 1, 1000,
	       "grabs in one call to a grab-service"),
	NUMBER("gateway.retry_percent", CONFIG_INT, retry_percent, "10", 0, 100,
	       "share of the requests that may be sent again when their "
	       "outcome is unknown"),
	NUMBER("gateway.retry_burst_max", CONFIG_INT, retry_burst, "200", 0,
	       1000000, "how many of them at once, per loop"),
	NUMBER("gateway.retry_after", CONFIG_TIME, retry_after_ms, "300ms", 1,
	       60000,
	       "what apps are told to wait before they ask again; up to half "
	       "is added by chance"),
	NUMBER("gateway.remembered_max", CONFIG_INT, remembered_max, "4", 0, 64,
	       "packets that a connection remembers of its user"),
	NUMBER("edge.fresh", CONFIG_TIME, edge_fresh_ms, "50ms", 0, 10000,
	       "how long SOLD_OUT and the like are told again, without "
	       "asking, to those who were told; twice that while one tap "
	       "asks; 0: always ask"),
	NUMBER("edge.users_max", CONFIG_INT, edge_users_max, "200000", 1,
	       10000000,
	       "users known to have been told, of all loops; above: some are "
	       "asked for again"),
	NUMBER("edge.activities_max", CONFIG_INT, edge_activities_max, "1000",
	       1, 100000,
	       "activities with an answer to be told again, per loop; above: "
	       "the oldest is forgotten"),
	TEXT("grab.addresses", grab_addresses, "127.0.0.1:20880",
	     CONFIG_REQUIRED, "the grab-services, host:port,host:port"),
	TEXT("grab.secret", grab_secret, "", CONFIG_SECRET,
	     "shared secret that they demand; empty: none"),
	TEXT("ledger.addresses", ledger_addresses, "127.0.0.1:20881",
	     CONFIG_REQUIRED, "the settle-workers, host:port,host:port"),
	TEXT("ledger.secret", ledger_secret, "", CONFIG_SECRET,
	     "shared secret that they demand; empty: none"),
	RATE("connection", connection_rate, "100", connection_burst, "200",
	     "messages a second of one connection; 0: no limit"),
	RATE("front", front_rate, "0", front_burst, "100000",
	     "the same for a connection with the scope front"),
	RATE("user", user_rate, "20", user_burst, "40",
	     "grabs, questions and renewals of its token a second of one "
	     "user, over all of its connections; 0: no limit"),
	RATE("address", address_rate, "0", address_burst, "10000",
	     "messages a second from one address (IPv6: /64); 0: no limit"),
	RATE("activity", activity_rate, "0", activity_burst, "10000",
	     "grabs and questions a second about one activity; 0: no limit"),
	RATE("hello", hello_rate, "20000", hello_burst, "20000",
	     "Hellos a second in all; 0: no limit"),
	RATE("address_hello", address_hello_rate, "0", address_hello_burst,
	     "2000", "Hellos a second from one address; 0: no limit"),
	LIVE("limit.address_connections_max", CONFIG_INT,
	     address_connections_max, "0", 0, 10000000,
	     "connections from one address; 0: no limit"),
	LIVE("limit.greeting_max", CONFIG_INT, greeting_max, "10000", 1,
	     10000000,
	     "connections that have not said Hello yet; above: the one that "
	     "has waited longest closes"),
	LIVE("limit.reconnect_spread", CONFIG_TIME, spread_ms, "3s", 0,
	     10 * 60 * 1000,
	     "over how long those come back, by chance, that are turned away "
	     "or leave a gateway that stops"),
	NUMBER("limit.users_max", CONFIG_INT, users_max, "100000", 1, 10000000,
	       "users remembered by their limit, beside those connected; "
	       "above: RATE_LIMITED"),
	NUMBER("limit.addresses_max", CONFIG_INT, addresses_max, "20000", 1,
	       10000000, "the same of addresses; above: turned away"),
	NUMBER("limit.activities_max", CONFIG_INT, activities_max, "1000", 1,
	       10000000, "the same of activities; above: RATE_LIMITED"),
	{ 0 },
};

/* Who can say Hello: nobody may be a surprise, and everybody even less. */
static void check_keys(const struct gateway_options *o, struct buf *problems)
{
	struct token_keys *keys;
	struct buf why;

	if (o->keys[0] == '\0') {
		if (!o->trust_plain_users) {
			buf_printf(problems,
				   "gateway.keys: is not set, so nobody could "
				   "say Hello; allowed: a key file, or, for "
				   "development only, "
				   "gateway.trust_plain_users=true\n");
		}
		return;
	}
	buf_init(&why);
	keys = token_keys_load(o->keys, &why);
	if (keys == NULL) {
		/* A line, whose end is ours to set. */
		struct bytes text =
			bytes_make(buf_live(&why).p, buf_len(&why) - 1);

		buf_printf(problems,
			   "gateway.keys: %.*s; allowed: a file with a line a "
			   "key, KID ALG SCOPE VALUE\n",
			   BYTES_FMT(text));
	}
	token_keys_free(keys);
	buf_close(&why);
}

void gateway_options_check(const struct service *svc,
			   const struct config_pair *pairs, size_t pair_count,
			   struct buf *problems)
{
	const struct gateway_options *o = svc->options;

	(void)pairs;
	(void)pair_count;
	(void)address_check("gateway.listen", o->listen, problems);
	check_keys(o, problems);
	(void)address_list_check("grab.addresses", o->grab_addresses, problems);
	(void)address_list_check("ledger.addresses", o->ledger_addresses,
				 problems);
}
