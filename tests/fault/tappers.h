/**
 * fault_tappers: apps that tap through every fault and write down each tap and
 * each answer, for fault_check.
 *
 *   tappers_main.c    options, the log file, the end
 *   tappers.c         when to tap, and who: RUN -> DRAIN -> RESOLVE
 *   tappers_app.c     one connection
 *   tappers_rude.c    what the rude ones do with it
 *   tappers_log.c     the lines, which check_log.c reads
 *
 * A person is one user in one activity; what becomes of it is the question.
 */
#ifndef TESTS_FAULT_TAPPERS_H
#define TESTS_FAULT_TAPPERS_H

#include <stdio.h>
#include <uthash.h>

#include "base/id.h"
#include "client/app_client.h"
#include "token/token.h"

enum {
	TAPPERS_GATEWAYS_MAX = 16,
	TAPPERS_ACTIVITIES_MAX = 64,
	TAPPERS_CONNECTIONS_MAX = 20000,
	TAPPERS_PERSONS_MAX = 20000000,
	TAPPERS_ASKS_MAX = 200000, /* in flight; above: no tap */
	TAPPERS_STATUSES = 16,
};

struct tappers_options {
	char gateways[TAPPERS_GATEWAYS_MAX][64];
	size_t gateway_count;
	char activities[TAPPERS_ACTIVITIES_MAX][ID_MAX + 1];
	size_t activity_count; /* the last one is no activity at all */
	const char *keys;
	const char *log;
	uint64_t users;
	uint64_t connections;
	uint64_t rate; /* taps per second */
	uint64_t seed;
	uint64_t patience_ms; /* for the outcomes after the end */
};

struct person {
	int64_t not_after_ms; /* the latest of its grabs */
	uint64_t due_ms;      /* RESOLVE: loop time of the next query */
	uint32_t grabs_open;  /* without an answer yet */
	bool tapped;
	bool won;       /* was told a packet */
	bool resolved;  /* won, or the final word is that there is none */
	bool uncertain; /* a grab had no answer, or PENDING */
	bool asking;    /* RESOLVE: a query is in flight */
};

/* A request without an answer yet. */
struct ask {
	uint64_t seq;
	struct person *person;
	uint64_t sent_ms; /* monotonic */
	int64_t not_after_ms;
	uint32_t attempt;
	bool query;
	UT_hash_handle hh; /* in its app's asks, the oldest first */
};

/* What an app does on its connection. The last three are rude. */
enum role {
	ROLE_USER,
	ROLE_FRONT,
	ROLE_HALF, /* closes in the middle of a frame */
	ROLE_DEAF, /* never reads */
	ROLE_GONE, /* grabs and is gone */
};

enum app_state {
	APP_WAITING, /* until due_ms; next: connect */
	APP_HELLO,   /* next: READY, or closed at due_ms */
	APP_READY,   /* next: closed at due_ms, if that is not 0 */
	APP_CLOSING, /* on_close comes; next: WAITING */
	APP_OVER,    /* closed for good */
};

struct app {
	struct app_client client;
	struct tappers *t;
	uint64_t connection; /* a number of its own for each connection */
	struct ask *asks;
	uint64_t user;      /* whose token it shows */
	uint64_t due_ms;    /* loop time, see enum app_state */
	uint64_t taps_left; /* until it hands over to another user */
	uint32_t failures;  /* connections lost in a row */
	uint32_t pings;     /* that may still be sent for a better clock */
	enum role role;
	enum app_state state;
	bool rude; /* takes one of the rude roles each time */
};

struct tappers_counts {
	uint64_t taps;
	uint64_t queries;
	uint64_t statuses[TAPPERS_STATUSES];
	uint64_t errors;
	uint64_t strays;
	uint64_t closed; /* requests whose connection ended first */
	uint64_t reconnects;
	uint64_t skipped; /* taps for which there was no room */
	uint64_t persons;
	uint64_t wins;
	uint64_t unresolved;
};

enum phase {
	PHASE_RUN,     /* until SIGTERM */
	PHASE_DRAIN,   /* no new taps; answers still come */
	PHASE_RESOLVE, /* every open outcome is asked for */
	PHASE_OVER,    /* connections close */
};

struct tappers {
	struct tappers_options options;
	struct tappers_counts counts;
	uv_loop_t loop;
	uv_timer_t timer;
	uv_signal_t sigterm;
	uv_signal_t sigint;
	struct stream_hub *hub;
	struct token_keys *keys;
	FILE *log;
	struct app *apps;
	struct person *persons; /* by activity, then user */
	uint64_t *open;         /* RESOLVE: numbers of persons */
	size_t open_count;
	size_t open_next;
	uint64_t random;      /* state of the generator */
	uint64_t asks;        /* in flight */
	uint64_t connections; /* ever */
	uint64_t alive;       /* apps that are not over */
	uint64_t last_ms;     /* loop time of the last tick */
	uint64_t credit;      /* taps owed to the rate, in thousandths */
	uint64_t flushed_ms;
	uint64_t phase_ms; /* when the phase began */
	enum phase phase;
};

/** Everything from the first tap to the last outcome. 0; 2 if the keys or the
 * log are unusable, after saying why. counts are final then. */
int tappers_run(struct tappers *t);

/** A number below n (> 0), the same ones for the same seed. */
uint64_t tappers_below(struct tappers *t, uint64_t n);

/** Names of a person. out has room for ID_MAX + 1. */
const char *tappers_activity(const struct tappers *t, const struct person *p);
void tappers_user_id(const struct tappers *t, uint64_t user, char *out);
uint64_t tappers_user_of(const struct tappers *t, const struct person *p);

/** This user in a random activity. */
struct person *tappers_choose(struct tappers *t, uint64_t user);

/** An answer about p came: status of rain.Status. */
void tappers_learn(struct tappers *t, const struct ask *ask,
		   Rain__Status status, uint32_t retry_ms);

/** Begin: the first connection comes after a short random wait. */
void app_start(struct app *a, struct tappers *t, bool rude, bool front);
/** The timer's turn: connect, give up, hand over. */
void app_tick(struct app *a, uint64_t now);
/** Whether it may tap or ask now. */
bool app_ready(const struct app *a);
/** Tap or ask for p, which must be its user's unless it is a front. */
void app_grab(struct app *a, struct person *p);
void app_query(struct app *a, struct person *p);
/** It may begin, in one of the rude roles. */
void app_be_rude(struct app *a);
/** Close and connect again as a front: for RESOLVE. */
void app_become_front(struct app *a);
/** Close for good. */
void app_end(struct app *a);

/** One line each. ask is NULL for an answer that nobody asked for. */
void tappers_log_ask(struct app *a, const struct ask *ask);
void tappers_log_answer(struct app *a, uint64_t seq, bool query,
			const struct ask *ask, const char *status,
			const Rain__RedPacket *packet);
void tappers_log_closed(struct app *a, const struct ask *ask);
void tappers_log_connection(struct app *a, const char *event, const char *text);

#endif
