/**
 * A team: the connections of one thread, on a loop of its own. What its files
 * share: team.c (beginning, end and housekeeping), team_connect.c
 * (connections), team_tap.c (taps out), team_answer.c (answers in), wheel.c
 * (what comes later).
 */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

#include <stdatomic.h>

#include "bench/options.h"
#include "bench/schedule.h"
#include "bench/tally.h"
#include "bench/taps.h"
#include "bench/walk.h"
#include "bench/wheel.h"
#include "client/app_client.h"
#include "token/token.h"

struct team;

enum connection_state {
	CONNECTION_DOWN,     /* waits until it connects (again) */
	CONNECTION_GREETING, /* until HelloReply */
	CONNECTION_UP,
	CONNECTION_GONE, /* --idle: ended, and stays so */
};

struct connection {
	struct app_client client;
	struct team *team;
	uint64_t number; /* among those of all teams */
	enum connection_state state;
	size_t target;    /* which of the targets */
	struct taps taps; /* without an answer */
	/* A connection that is one user: */
	uint64_t user;     /* number of that user */
	struct walk walk;  /* what is left to tap */
	uint64_t waiting;  /* what this user has in the wheel */
	bool moving;       /* closed by us, to come back as the next user */
	bool done;         /* there is no next user */
	uint64_t steps;    /* --in-step: the last one that it tapped in */
	bool arrived;      /* --in-step: answered, and waits for the others */
	uint32_t later_ms; /* told to wait so long before it connects */
};

/* What a team lets others see while it runs. */
struct pulse {
	_Atomic uint64_t answers;
	_Atomic uint64_t open;
	_Atomic uint64_t up;
	_Atomic uint64_t slowest_us; /* since somebody took it */
};

/* What all teams share. The teams only read what is not atomic. */
struct bench {
	const struct options *options;
	const struct token_keys *keys;
	struct buf front_token;
	struct winners *winners;       /* NULL: no money */
	_Atomic uint64_t began_us;     /* the first tap may leave; 0: not yet */
	_Atomic uint64_t ends_us;      /* none leaves after it */
	uint64_t count_from_us;        /* set before began_us */
	void (*news)(struct bench *b); /* a team stands, or has ended; from its
					  thread */
	_Atomic uint64_t standing;     /* teams */
	_Atomic uint64_t ended;
};

struct team {
	struct bench *bench;
	unsigned index;
	uv_thread_t thread;
	uv_loop_t loop;
	struct stream_hub *hub;
	uv_timer_t tick;
	uv_async_t wake; /* another thread has changed the times */
	uv_poll_t due;   /* when the next tap of the open loop is due */
	int due_fd;      /* -1 in the closed loop */
	struct connection *connections;
	uint64_t count;
	uint64_t connecting; /* the next that was never connected */
	uint64_t greeting;   /* how many are in that state */
	uint64_t refused;    /* --idle: that never came up */
	uint64_t held;       /* up at the end */
	uint64_t up_ms;      /* loop time when the newest came up */
	bool standing;
	uint64_t begun;   /* closed loop: connections that tap */
	uint64_t turn;    /* the next connection to tap */
	uint64_t done;    /* connections without a next user */
	uint64_t steps;   /* --in-step: the one that all may tap in, from 1 */
	uint64_t arrived; /* --in-step: connections that wait for the others */
	struct walk walk; /* of all connections, unless each is one user */
	struct schedule schedule;
	uint64_t due_next; /* tap of the schedule */
	bool due_done;     /* all taps of the schedule have left */
	struct wheel wheel;
	uint64_t open;   /* taps without an answer */
	uint64_t unsure; /* users who may have a packet and do not know */
	uint64_t ping_every_ms;
	uint64_t ping_at;   /* the next connection to look after */
	uint64_t front_max; /* in flight, as HelloReply has it */
	uint64_t last_us;   /* the newest answer */
	uint64_t sent_us;   /* the newest tap */
	bool counting;      /* in the window */
	uint64_t cpu_from_us;
	uint64_t cpu_us; /* of the thread, in the window */
	bool leaving;
	struct tally *tally;
	struct pulse pulse;
	char refusal[200]; /* why the first connection or tap was refused */
};

/** Prepare a team and start its thread. Aborts if the system has none. */
void team_start(struct team *t, struct bench *b, unsigned index);

/** Tell it that times have changed; from any thread, until it was joined. */
void team_wake(struct team *t);

/** Wait for its end. */
void team_join(struct team *t);

/** Free what is left of it. */
void team_free(struct team *t);

/** End the program: why nothing can be measured. From any thread. */
_Noreturn void bench_stop(const char *fmt, ...) printf_like(1, 2);

/* ---- team_connect.c ---- */

/** Bring up those that never were, a few at a time. */
void team_connect(struct team *t);

/** Connect one again. */
void connection_again(struct connection *c);

/** The user of this connection has tapped enough: the next one, if any. */
void connection_next_user(struct connection *c);

/** Say something on a few that were silent, so that all are looked after in
 * time. */
void team_ping(struct team *t);

/* ---- team_tap.c ---- */

/** Whether no more taps leave: the time is over. */
bool team_over(const struct team *t, uint64_t now_us);

/** Whether there is nothing left to tap. */
bool team_tapped_out(const struct team *t);

/** Closed loop: send what may be in flight. */
void connection_go_on(struct connection *c);

/** --in-step: if all wait for one another, the next step. */
void team_step(struct team *t);

/** Open loop: send what is due, and have team_due() called again in time. */
void team_due(struct team *t);

/** What was in the wheel is due. */
void team_tap_again(struct team *t, struct later *l);

/* ---- team_answer.c ---- */

/** For app_client_ops. */
void team_on_grab(struct app_client *client, uint64_t seq,
		  const Rain__GrabReply *m);

/** An Error about a tap; false if it is about none. */
bool team_on_tap_error(struct connection *c, uint64_t seq);

/** The connection is gone: nobody knows what became of its taps. */
void connection_lose_taps(struct connection *c);

/** Answers that are not there yet will not be waited for. */
void team_give_up(struct team *t);

/** Show how many taps are open. */
void team_pulse(struct team *t);

#endif
