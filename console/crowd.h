/**
 * A crowd: many users with a connection and a token of their own who tap at an
 * activity through the gateway as apps do. They wait when told to, ask what
 * became of a tap when its outcome is unknown, and come back when a connection
 * breaks.
 */
#ifndef CONSOLE_CROWD_H
#define CONSOLE_CROWD_H

#include "base/histogram.h"
#include "console/ctl.h"
#include "token/token.h"

struct crowd_options {
	const char *activity;
	const char *gateways; /* "host:port,host:port": users take turns */
	const char *prefix;   /* of the user ids: PREFIX-000017 */
	const struct token_keys *keys;
	uint64_t users;
	uint64_t taps;        /* of each user, at most */
	uint64_t at_once;     /* connected at most */
	uint64_t think_ms;    /* between the taps of a user, at most */
	uint64_t patience_ms; /* without any answer: give up */
	/** Once a second while they tap; may be NULL. */
	void (*progress)(void *ctx);
	void *ctx;
};

/* What one user was told. */
struct crowd_packet {
	char id[24]; /* "" without a packet */
	int64_t amount_cents;
};

struct crowd {
	struct crowd_options options;
	struct crowd_packet *packets; /* by user number */
	uint64_t finished;            /* users who are done */
	uint64_t taps;                /* answered with a final word */
	uint64_t winners;             /* users who hold a packet */
	int64_t won_cents;
	uint64_t repeats;         /* told again, and the same */
	uint64_t sold_out;        /* users who were told so */
	uint64_t ended;           /* users who came too late */
	uint64_t waits;           /* BUSY, PAUSED and other waits */
	uint64_t pending;         /* PENDING answers */
	uint64_t reconnects;      /* connections that broke */
	uint64_t wrong;           /* answers that must not be: see why */
	char why[256];            /* the first of them */
	struct histogram latency; /* of taps, from sending to the answer */
	uint64_t elapsed_us; /* from the first connection to the last answer */
	/* Below: internal. */
	void *state;
};

/** The id of user number; out has room for ID_MAX + 1 bytes. */
void crowd_user_id(const struct crowd *crowd, uint64_t number, char *out);

/** Let them all tap and wait until they are done. CTL_OK, or CTL_UNKNOWN when
 * patience ran out. Options stay borrowed during the call. */
int crowd_run(struct ctl *ctl, const struct crowd_options *options,
	      struct crowd *crowd);
void crowd_close(struct crowd *crowd);

#endif
