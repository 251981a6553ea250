/**
 * The app's side of the protocol: one connection to a gateway, requests out,
 * answers in. Cheap enough for 10,000 in a process: no timer, no table, no
 * buffer while idle. Connecting again after on_close is the owner's business.
 *
 * The owner embeds struct app_client and keeps it in place until on_close. All
 * calls and callbacks happen on the loop's thread.
 *
 *   app_client_connect() ... on_open -> app_client_hello() ... on_hello
 *     -> app_client_grab() = seq ... on_grab(seq)
 */
#ifndef CLIENT_APP_CLIENT_H
#define CLIENT_APP_CLIENT_H

#include "net/stream.h"
#include "rain/gateway.pb-c.h"

struct app_client;

/* Each may be NULL: then it is ignored, and a missing on_error closes. Messages
 * are valid during the call. Every callback may send and close. */
struct app_client_ops {
	/** Connected; the gateway expects Hello now. */
	void (*on_open)(struct app_client *c);
	void (*on_hello)(struct app_client *c, uint64_t seq,
			 const Rain__HelloReply *m);
	void (*on_grab)(struct app_client *c, uint64_t seq,
			const Rain__GrabReply *m);
	void (*on_result)(struct app_client *c, uint64_t seq,
			  const Rain__ResultReply *m);
	void (*on_balance)(struct app_client *c, uint64_t seq,
			   const Rain__BalanceReply *m);
	void (*on_pong)(struct app_client *c, uint64_t seq,
			const Rain__Pong *m);
	void (*on_notice)(struct app_client *c, const Rain__Notice *m);
	/** seq 0: about the connection. */
	void (*on_error)(struct app_client *c, uint64_t seq,
			 const Rain__Error *m);
	/** The end, exactly once and never from inside a call of ours: why as
	 * for stream on_close, ERR_PROTO if the gateway sent nonsense. What
	 * was not answered never will be; c may be connected again. */
	void (*on_close)(struct app_client *c, int why);
};

struct app_client {
	struct stream stream;
	const struct app_client_ops *ops;
	void *ctx;                /* the owner's own */
	uint64_t last_seq;        /* of the newest request */
	uint64_t asked_ms;        /* loop time of the last Hello or Ping */
	int64_t server_offset_ms; /* server time - loop time, once known */
	uint64_t server_took_ms;  /* there and back, when that was told: it may
				  * be wrong by half of this */
	uint64_t server_told_ms;  /* loop time when that was */
	bool server_known;
};

/** Connect to "host:port" within timeout_ms. on_open or on_close follows. Sets
 * everything but ctx. */
void app_client_connect(struct app_client *c, struct stream_hub *hub,
			const char *address, uint64_t timeout_ms,
			const struct app_client_ops *ops);

/* Each sends one request and returns its seq, unique on this connection. What
 * is sent on a connection that is closing is dropped; on_close tells. user is
 * empty except on a connection with the scope front. */

/** token: a JWT, see token.h. */
uint64_t app_client_hello(struct app_client *c, struct bytes token);

/** not_after_ms as in Grab: server time, or 0. */
uint64_t app_client_grab(struct app_client *c, struct bytes activity,
			 struct bytes user, uint32_t attempt,
			 int64_t not_after_ms);

/** not_after_ms: that of the grab asked about, or 0. */
uint64_t app_client_query_result(struct app_client *c, struct bytes activity,
				 struct bytes user, int64_t not_after_ms);

/** The answer is the ledger's. */
uint64_t app_client_query_balance(struct app_client *c, struct bytes user);

/** The answer has the server's time, too. */
uint64_t app_client_ping(struct app_client *c);

/** Any message, for tests of what an app should not send. */
void app_client_send(struct app_client *c, const Rain__ClientMessage *m);

/** The server's clock now, from the quickest HelloReply or Pong of the last
 * minute; 0 before the first. */
int64_t app_client_server_ms(const struct app_client *c);

/** Close now. Safe to repeat. */
void app_client_close(struct app_client *c);

#endif
