/**
 * What the files of the flood share: flood.c (taps out, answers in),
 * flood_connect.c (connections), flood_options.c (what is asked of it), flood_report.c (what came of it).
 */
#ifndef BENCH_FLOOD_H
#define BENCH_FLOOD_H

#include <stdio.h>

#include "base/histogram.h"
#include "client/app_client.h"

enum {
	FLOOD_CONNECTIONS_MAX = 4096,
	FLOOD_GATEWAYS_MAX = 16,
	FLOOD_SEQS = 32768, /* open taps of a connection, by seq modulo this */
	FLOOD_SLOTS = 1024, /* of taps to come, FLOOD_SLOT_MS each */
	FLOOD_SLOT_MS = 10,
	FLOOD_STATUSES = 16,
};

/* What is known of one user. */
struct flood_user {
	struct flood_user *next; /* waiting in a slot to tap again */
	uint32_t attempt;        /* of the next tap */
	bool away;               /* a tap is open or waits */
	bool waits;              /* in a slot */
	bool unsure;             /* may have won: PENDING, or no answer */
};

struct flood_tap {
	uint64_t due_us; /* when it was to leave, 0: not open */
	uint64_t seq;
	struct flood_user *user;
};

struct flood_connection {
	struct app_client client;
	struct flood *flood;
	size_t index;
	struct flood_tap *taps; /* FLOOD_SEQS of them */
	size_t open;            /* taps without an answer */
	bool up;                /* Hello was answered */
	uv_timer_t again;       /* to connect again */
};

enum flood_retry {
	RETRY_NEVER,
	RETRY_HONOUR, /* after retry_after_ms */
	RETRY_IGNORE, /* at once, whatever was asked for */
};

struct flood_options {
	char gateways[FLOOD_GATEWAYS_MAX][64];
	size_t gateway_count;
	const char *keys;
	const char *activity;
	uint64_t rate;      /* taps a second; 0: as fast as answers come */
	uint64_t in_flight; /* without a rate: taps of a connection */
	uint64_t seconds;
	uint64_t warm; /* of these, not counted */
	uint64_t connections;
	uint64_t users;     /* who take turns */
	uint64_t first;     /* number of the first of them */
	uint64_t not_after; /* of a tap, ms from now; 0: the gateway's */
	enum flood_retry retry;
};

struct flood {
	struct flood_options options;
	uv_loop_t loop;
	struct stream_hub *hub;
	struct buf token;
	struct flood_connection *connections;
	struct flood_user *users;
	uint64_t next_user;
	uint64_t next_connection;
	struct flood_user *slots[FLOOD_SLOTS];
	uint64_t slot; /* the last one that was handled */
	uv_timer_t tick;
	uv_signal_t term; /* no more taps, as if the time was over */
	uint64_t up;
	uint64_t began_us; /* the first tap; 0: not yet */
	uint64_t count_from_us;
	uint64_t ends_us; /* no tap is sent after it */
	bool leaving;
	/* ---- What came of it ---- */
	uint64_t sent;
	uint64_t again;   /* of these, because of an answer */
	uint64_t unsent;  /* no connection, or all of them too full */
	uint64_t unsure;  /* users who may have won and do not know */
	uint64_t lost;    /* open when the connection closed */
	uint64_t errors;  /* answered by an Error */
	uint64_t strange; /* answers that nobody asked for */
	uint64_t closed;  /* connections that ended before we did */
	uint64_t statuses[FLOOD_STATUSES];
	uint64_t useful;        /* executed, within the time that counts */
	uint64_t useful_late;   /* of these, more than a second late */
	uint64_t waits_missing; /* refused without retry_after_ms */
	uint64_t wait_min_ms;
	uint64_t wait_max_ms;
	struct histogram executed; /* latency, from when the tap was due */
	struct histogram refused;
	struct histogram pending;
};

/** Say why, and exit. */
void flood_stop(const char *why) __attribute__((noreturn));

/** Read the command line; ends with a sentence if it makes no sense. */
void flood_take_options(struct flood_options *o, int argc, char **argv);

/** Connect all; taps begin when all have said Hello. */
void flood_connect(struct flood *f);

/* ---- flood.c ---- */

/** u taps again after so long. */
void flood_tap_later(struct flood *f, struct flood_user *u, uint64_t ms);
/** u may have won and does not know; or knows. */
void flood_doubt(struct flood *f, struct flood_user *u, bool unsure);
/** Without a rate: tap as often as may be in flight. */
void flood_go_on(struct flood_connection *c);
/** For app_client_ops. */
void flood_on_grab(struct app_client *client, uint64_t seq,
		   const Rain__GrabReply *m);
void flood_on_error(struct app_client *client, uint64_t seq,
		    const Rain__Error *m);

/* ---- flood_options.c, flood_report.c ---- */

/** Make the token of all connections. */
void flood_sign(struct flood *f);

/** Whether a status says that Redis was asked and gave its word. */
bool flood_executed(unsigned status);

/** Count an answer that came us after its tap was due. */
void flood_count(struct flood *f, const Rain__GrabReply *m, uint64_t us);

/** All of it as one JSON object. */
void flood_report(const struct flood *f, FILE *out);

#endif
