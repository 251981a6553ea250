/**
 * A request that was accepted and is not answered yet, and the wheel of their
 * deadlines.
 *
 * Two parties hold it: its connection, until it is answered or the connection
 * is gone, and whoever asks the services on its behalf (a batch, an ask), who
 * frees it. So a deadline answers at once, and the late reply of a service
 * still finds the request, with nobody to tell.
 */
#ifndef GATEWAY_REQUEST_H
#define GATEWAY_REQUEST_H

#include <uthash.h>

#include "base/id.h"

struct gateway_loop;
struct session;

enum request_kind { REQUEST_GRAB, REQUEST_RESULT, REQUEST_BALANCE };

enum { REQUEST_TRIES_MAX = 3 }; /* calls on behalf of one request */

struct request_key {
	struct session *session; /* NULL once answered or abandoned */
	uint64_t seq;
};

struct request {
	struct request_key key;
	UT_hash_handle hh;    /* in loop->requests, while open */
	struct request *next; /* in session->requests, while open */
	struct request *prev;
	struct request *due_next; /* in the wheel, while open */
	struct request *due_prev;
	struct request *batch_next; /* waiting to be sent, or spare */
	struct gateway_loop *loop;
	uint64_t asked_ms;    /* loop time of the last call, of an ask */
	uint64_t due_ms;      /* loop time of the answer at the latest */
	uint64_t until_ms;    /* loop time after which it is not sent again */
	uint64_t arrived_us;  /* monotonic */
	int64_t not_after_ms; /* server time, as the services get it */
	uint32_t attempt;     /* the app's */
	unsigned slot;        /* of the wheel */
	enum request_kind kind;
	uint8_t tries; /* calls made for it */
	bool earlier;  /* one of them may have been executed */
	uint8_t user_len;
	uint8_t activity_len;
	char user[ID_MAX];
	char activity[ID_MAX];
};

enum { WHEEL_SLOTS = 256, WHEEL_TICK_MS = 50 };

/* The open requests of a loop by their deadline, WHEEL_TICK_MS exact. */
struct wheel {
	struct request *slots[WHEEL_SLOTS];
	uint64_t tick; /* the last one that was handled */
	size_t count;
};

struct request_options {
	enum request_kind kind;
	uint64_t seq;
	struct bytes user;     /* valid ids, copied */
	struct bytes activity; /* or empty */
	uint64_t until_ms;
	uint64_t due_ms;
};

/** Open a request of session s; its seq is not in flight. */
struct request *request_new(struct session *s, const struct request_options *o);

/** The open request of s with this seq, or NULL. */
struct request *request_find(struct session *s, uint64_t seq);

/** Whether somebody still waits for the answer. */
bool request_open(const struct request *r);

/** Take it from its connection: answered, or the connection is gone. */
void request_detach(struct request *r);

/** Free a request that is not open. */
void request_free(struct request *r);

/** At the end of a loop: those that it kept for the next ones. */
void request_free_spares(struct gateway_loop *l);

/** For whom it is asked; borrows from r. */
struct bytes request_user(const struct request *r);

/** The activity it is about, or empty; borrows from r. */
struct bytes request_activity(const struct request *r);

/** Call late(r) for every request whose deadline has passed; it detaches. */
void wheel_turn(struct wheel *w, uint64_t now_ms,
		void (*late)(struct request *r));

#endif
