/**
 * What is asked of rainbench on its command line.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdio.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/id.h"
#include "net/address.h"

enum {
	TARGETS_MAX = 16,
	CONNS_MAX = 60000,
	IN_FLIGHT_MAX = 16384,
	THREADS_MAX = 64,
	ACTIVITIES_MAX = 10000,
	RATE_MAX = 10000000,
	USERS_MAX = 100000000,
	TAPS_EACH_MAX = 1000000000,
	WATCH_MAX = 16,
	PAIRS_MAX = 200000000, /* users times activities: 4 bytes each */
};

/* What a connection is. */
enum scope {
	SCOPE_USER,  /* one user, with a token of his own */
	SCOPE_FRONT, /* carries all users */
	SCOPE_ECHO,  /* the target is rain-echo: no Hello, no users */
};

/* A process whose CPU time is told. */
struct watched {
	char name[32];
	pid_t pid;
};

enum retry {
	RETRY_NEVER,
	RETRY_HONOUR, /* after retry_after_ms */
	RETRY_IGNORE, /* at once, whatever was asked for */
};

struct options {
	char targets[TARGETS_MAX][ADDRESS_TEXT_MAX]; /* host:port */
	size_t target_count;
	const char *keys; /* as the other texts: of the command line */
	char (*activities)[ID_MAX + 1];
	size_t activity_count;
	enum scope scope;
	bool idle; /* hold connections, no taps */
	uint64_t conns;
	uint64_t threads;
	uint64_t rate;      /* taps a second; 0: closed loop */
	uint64_t in_flight; /* of a connection, in the closed loop */
	uint64_t users;
	uint64_t first_user;  /* number in the name of the first */
	uint64_t taps;        /* of a user in an activity; 0: without end */
	uint64_t duration_ms; /* with the warm-up; 0: until all have tapped */
	uint64_t warmup_ms;   /* not measured */
	uint64_t ramp_ms;
	uint64_t not_after_ms; /* how long a tap is worth something; 0: as the
				  gateway has it */
	bool uncached;         /* every tap says that it may have won */
	bool in_step;          /* the connections of a thread tap together */
	enum retry retry;
	struct watched watched[WATCH_MAX];
	size_t watch_count;
	bool json;
	bool quiet;
	const char *hgrm;
};

enum options_outcome {
	OPTIONS_RUN,
	OPTIONS_HELP, /* --help was asked for */
	OPTIONS_WRONG,
};

/** Read a command line. OPTIONS_WRONG: a sentence that says what is wrong and
 * what is allowed is appended to why. End with options_free() in any case. */
enum options_outcome options_take(struct options *o, int argc, char **argv,
				  struct buf *why);
void options_free(struct options *o);

/** Print what --help prints. */
void options_help(FILE *out);

#endif
