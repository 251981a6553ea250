/**
 * The limits that connections share, over all loops: a table each for users,
 * addresses and activities, from the id to its buckets.
 *
 * A connection pins the entries that it needs, and then takes from their
 * buckets without any lock. What nobody pins stays only while its bucket is not
 * full: forgetting a full one changes nothing. A table holds as many as are
 * pinned and so many beside; when it is full, whoever is new is refused.
 */
#ifndef GATEWAY_LIMITS_H
#define GATEWAY_LIMITS_H

#include <sys/socket.h>

#include "base/bytes.h"
#include "base/check.h"
#include "gateway/bucket.h"

struct gateway_options;

enum limit_table { LIMIT_USER, LIMIT_ADDRESS, LIMIT_ACTIVITY, LIMIT_TABLES };

struct limits;

/* What a connection sees of an entry. */
struct limited {
	struct bucket taken;  /* requests, or messages */
	struct bucket hellos; /* of an address */
};

/* The rates of the options, as a loop has them: a copy of its own, which a
 * reload replaces. */
struct limit_rates {
	struct rate connection;
	struct rate front;
	struct rate user;
	struct rate address;
	struct rate activity;
	struct rate hello;
	struct rate address_hello;
	int64_t spread_ms; /* over which connections come back */
	int64_t greeting_max;
};

/** What o says now. */
void limit_rates_read(const struct gateway_options *o, struct limit_rates *out);

/** One for all loops of a gateway. */
struct limits *limits_new(const struct gateway_options *o);
/** After the last unpin. */
void limits_free(struct limits *l);

/** The entry of key, made if there is none, for as long as it is pinned; NULL
 * if the table is full. From any thread, as all of these. */
struct limited *limits_pin(struct limits *l, enum limit_table table,
			   struct bytes key, int64_t now_ns);
/** Give it back; NULL is fine. */
void limits_unpin(struct limits *l, enum limit_table table, struct limited *e,
		  int64_t now_ns);

/** Connections that have e pinned. */
int64_t limits_pins(struct limits *l, enum limit_table table,
		    const struct limited *e);

/** Whether e is the entry of key. */
bool limits_names(const struct limited *e, struct bytes key);

/** Take once, without a pin: as bucket_take(), or -1 if the table is full. */
int64_t limits_take(struct limits *l, enum limit_table table, struct bytes key,
		    struct rate rate, int64_t now_ns);

/** As bucket_take(), from the Hellos of all. */
int64_t limits_take_hello(struct limits *l, struct rate rate, int64_t now_ns);

/** Entries in a table, for tests. */
size_t limits_count(struct limits *l, enum limit_table table);

enum { LIMIT_ADDRESS_SIZE = 9 };

/** What an address is counted as: IPv4 by itself, IPv6 by its /64, all unix
 * sockets as one. Returns the length of the key in out. */
size_t limit_address_key(const struct sockaddr_storage *sock,
			 uint8_t out[LIMIT_ADDRESS_SIZE]);

#endif
