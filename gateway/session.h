/**
 * The connection of one app: frames in, requests taken, answers out.
 *
 *   GREETING   waits for Hello, as long as gateway.hello_time
 *   SERVING    next: Hello was good; requests are taken
 *   ENDING     next: an Error that ends it was sent, or it closes; nothing is
 *              read any more, and answers still to come are dropped
 */
#ifndef GATEWAY_SESSION_H
#define GATEWAY_SESSION_H

#include "base/id.h"
#include "gateway/gateway_metrics.h"
#include "gateway/limits.h"
#include "gateway/memory.h"
#include "gateway/request.h"
#include "net/stream.h"
#include "token/token.h"

struct gateway_loop;
struct throttle_hit;

enum session_state { SESSION_GREETING, SESSION_SERVING, SESSION_ENDING };

struct session {
	struct stream stream;
	struct gateway_loop *loop;
	struct session *next; /* in loop->greeting or loop->serving, in the
			       * order of last_ms */
	struct session *prev;
	uint64_t last_ms;         /* loop time of the last whole frame */
	int64_t expires_ms;       /* of the token, wall clock */
	struct request *requests; /* open ones */
	struct memory *memory;    /* packets of its user */
	char *only;               /* activity of its token, NULL: any */
	struct limited *address;  /* these three are pinned; NULL: not */
	struct limited *user_limit;
	struct limited *activity; /* the last one that it asked about */
	struct bucket messages;
	struct bucket refusals; /* of messages */
	uint64_t seq_most;      /* of its requests, ever */
	uint64_t key;           /* that signed its token, 0: none did */
	uint32_t keys_seen;     /* loop->keys_version when that was there */
	uint32_t in_flight;     /* length of requests */
	uint8_t state;          /* enum session_state */
	bool front;             /* speaks for many users */
	bool heard_out;         /* it sends no more, and is answered yet */
	uint8_t user_len;
	char user[ID_MAX];
};

/* With 100,000 idle connections this is what memory is. */
_Static_assert(sizeof(struct session) < 700, "an idle connection is small");

/** Take over fd, and the pin of its address. Frees itself when the connection
 * has ended. */
void session_new(struct gateway_loop *l, int fd, struct limited *address);

/** Hello was good: from now on it serves the user of claims. False if that
 * user finds no place in the table of the limits. */
must_check bool session_serve(struct session *s,
			      const struct token_claims *claims);

/** Whether the key that signed its token is still one of the gateway's. */
bool session_key_holds(struct session *s);

/** Its user, empty before Hello; borrows from s. */
struct bytes session_user(const struct session *s);

/** How many requests it may have in flight. */
size_t session_in_flight_max(const struct session *s);

/** Say why with an Error and close once that has left. */
void session_end(struct session *s, uint64_t seq, Rain__ErrorCode code,
		 enum refusal why, const char *message);
/** The same, and tell it to wait so long before it comes again. */
void session_end_after(struct session *s, uint64_t seq, Rain__ErrorCode code,
		       const struct throttle_hit *hit);

/** A request of s was answered: if the gateway is draining and it was the
 * last one, s ends. */
void session_settled(struct session *s);

/** The gateway is stopping: end now, or when all is answered. */
void session_drain(struct session *s);

/** End those of l that were silent for too long. */
void session_sweep(struct gateway_loop *l);

#endif
