/**
 * Between crowd.c, which has the seats and the clock, and crowd_user.c, which
 * plays one user.
 */
#ifndef CONSOLE_CROWD_INTERNAL_H
#define CONSOLE_CROWD_INTERNAL_H

#include "client/app_client.h"
#include "console/crowd.h"

enum {
	CROWD_TICK_MS = 10,
	CROWD_WHEEL = 2048, /* slots of a tick each: waits of up to 20 s */
	CROWD_GATEWAYS_MAX = 16,
};

/* What a user does when its wait is over. */
enum next { NEXT_CONNECT, NEXT_TAP, NEXT_ASK, NEXT_GIVE_UP };

/* One seat for a connected user; the next one takes it. */
struct user {
	struct app_client client;
	struct crowd_state *st;
	uint64_t number;
	uint64_t taps;        /* answered */
	uint64_t sent_us;     /* the tap under way was first sent */
	uint32_t attempt;     /* of the tap under way */
	int64_t not_after_ms; /* server time given with it */
	uint64_t gateway;     /* which of them, modulo their number */
	enum next next;
	uint32_t away_ms; /* the gateway wants it to stay away so long */
	bool waiting;     /* in the wheel */
	bool tapping;     /* a tap is under way */
	bool leaving;     /* done: the close is ours */
	unsigned slot;
	struct user *wheel_next;
	struct user *wheel_prev;
};

struct crowd_state {
	struct crowd *crowd;
	struct stream_hub *hub;
	struct user *seats;
	struct user *wheel[CROWD_WHEEL];
	unsigned now; /* slot of the wheel */
	uint64_t seat_count;
	uint64_t started; /* users who took a seat */
	uint64_t seated;  /* users on a seat */
	char gateways[CROWD_GATEWAYS_MAX][64];
	size_t gateway_count;
	uint64_t first_us;
	uint64_t last_us;  /* the last answer of any kind */
	uint64_t shown_us; /* the last progress */
	uv_timer_t timer;
	bool abandoned; /* nobody answers: all go home */
	bool over;
};

/** Wake the user with `next` after ms; one wait at a time, the newest counts. */
void crowd_wait(struct user *u, uint64_t ms, enum next next);
void crowd_unwait(struct user *u);
/** The user is done and gone: its seat is free. */
void crowd_seat_free(struct user *u);

/** Connect, Hello, and tap: the user of a seat begins or comes back. */
void crowd_user_connect(struct user *u);
/** Its wait is over. */
void crowd_user_wake(struct user *u);

#endif
