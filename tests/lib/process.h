/**
 * A program that a test runs: its output is collected, its lines can be waited
 * for, and it dies with the test.
 */
#ifndef TESTS_LIB_PROCESS_H
#define TESTS_LIB_PROCESS_H

#include <sys/types.h>

#include "base/buf.h"

struct process {
	pid_t pid;       /* 0 once it has ended */
	int fd;          /* stdout and stderr of the program, -1 at its end */
	struct buf text; /* what came from it so far, with a NUL behind */
	int code;        /* exit code, or 128 + signal */
};

/** Start argv[0] (NULL ends the list). env, or NULL, are "NAME=value" in
 * addition to ours. */
void process_start(struct process *p, const char *const *argv,
		   const char *const *env);

/** All that it has printed so far; valid until the next call. */
const char *process_text(struct process *p);

/** Wait until it has printed part; false at the deadline or at its end. */
must_check bool process_wait_text(struct process *p, const char *part,
				  int timeout_ms);

/** Wait for its end and return code; kills it and returns -1 at the
 * deadline. */
must_check int process_wait(struct process *p, int timeout_ms);

/** Send it signum. */
void process_signal(struct process *p, int signum);

/** Kill it if it still runs, and free what it printed. */
void process_close(struct process *p);

#endif
