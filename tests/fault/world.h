/**
 * One stack of real processes in a directory of its own, on free ports of
 * 127.0.0.1: Redis, Kafka, the settle-worker, two grab-services and two
 * gateways, each of which reaches the others through a proxy of its own.
 *
 * The operator (rainctl.ini in the directory) and the checker go straight to
 * the servers. A process that ends unasked, or not well, is a violation.
 */
#ifndef TESTS_FAULT_WORLD_H
#define TESTS_FAULT_WORLD_H

#include <stdio.h>
#include <sys/types.h>
#include <uv.h>

#include "fault/child.h"
#include "fault/proxy.h"
#include "fault/targets.h"

struct world;

enum process_state {
	PROCESS_DOWN,     /* not there; next: UP when it is started */
	PROCESS_UP,       /* next: any of the others */
	PROCESS_STOPPED,  /* SIGSTOP; next: UP by SIGCONT */
	PROCESS_KILLED,   /* SIGKILL was sent; next: DOWN when it has ended */
	PROCESS_DRAINING, /* SIGTERM was sent; next: DOWN, with exit code 0 */
};

struct world_process {
	struct world *world;
	enum process_id id;
	enum process_state state;
	struct child child;
	uv_timer_t timer;  /* until it is started or goes on again */
	uint64_t down_ms;  /* how long it stays DOWN; 0: for ever */
	uint64_t since_ms; /* loop time of the signal it ends by */
	int port;
	unsigned starts; /* so far */
	off_t log_seen;  /* bytes of its log that were looked at */
};

struct world_link {
	struct world *world;
	enum link_id id;
	struct proxy proxy;
	uv_timer_t timer; /* until it is healed */
};

struct world {
	uv_loop_t loop;
	uv_timer_t tick;    /* turns the loop for world_turn() */
	const char *bin;    /* folder of our programs */
	const char *source; /* root of the source tree */
	const char *dir;
	int kafka_ports
		[5]; /* direct, controller, one per client behind a proxy */
	struct world_process processes[PROCESS_COUNT];
	struct world_link links[LINK_COUNT];
	unsigned violations; /* so far */
	uint64_t began_ms;   /* loop time when it was opened */
	bool ending;         /* nothing is started again */
};

/** Make the loop, the configuration in dir, and the proxies. bin, source and
 * dir stay borrowed. False, and why on stderr, if that cannot be. */
must_check bool world_open(struct world *w, const char *bin, const char *source,
			   const char *dir);

/** Start all processes and wait until everything answers; false: a violation
 * says why. */
must_check bool world_start(struct world *w);

/** Start a process that is DOWN. */
void world_start_process(struct world_process *p);

/** SIGTERM to all, clients before servers; a service that does not end with 0
 * within some seconds is a violation. */
void world_stop(struct world *w);

/** Close the proxies and the loop. */
void world_close(struct world *w);

/** Turn the loop once; takes some 20 ms at most. */
void world_turn(struct world *w);

/** Run one of our programs with args (NULL ends them) while the loop turns, ms
 * at most; c has its text. Its exit code, -1 if it did not end. Call
 * child_free(c) when done. */
int world_run(struct world *w, struct child *c, const char *const *args,
	      uint64_t ms);

/** rainctl with this world's configuration and up to 7 words. */
int world_ctl(struct world *w, struct child *c, uint64_t ms,
	      const char *const *words);

/** Say what is wrong, and count it. */
void printf_like(2, 3) world_violation(struct world *w, const char *fmt, ...);

/** Begin a line on stdout with the wall clock, as it stands in the logs. */
void world_clock(void);

/** DIR/NAME in out, of 256 bytes. */
void world_path(const struct world *w, const char *name, char *out);

#endif
