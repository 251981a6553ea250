/**
 * A program that the torture runs: it dies with us, whatever becomes of us,
 * and its end is told on the loop.
 */
#ifndef TESTS_FAULT_CHILD_H
#define TESTS_FAULT_CHILD_H

#include <stdbool.h>
#include <uv.h>

#include "base/buf.h"

enum { CHILD_ARGS_MAX = 128 };

struct child;
/** It has ended, and the struct may be used again. */
typedef void (*child_end_cb)(struct child *c);

struct child {
	uv_process_t process;
	uv_pipe_t pipe;      /* what it prints, if that is collected */
	struct buf text;     /* the same, at most CHILD_TEXT_MAX bytes */
	int open;            /* handles that are not closed yet */
	bool running;        /* the process has not ended */
	int code;            /* exit code, or 128 + signal, once it has ended */
	child_end_cb on_end; /* NULL: nobody asks */
	void *data;          /* the owner's */
	char piece[4096];
};

/** What our own main() does first: "--become PARENT PROGRAM ARGS..." turns
 * this process into the program. Returns if that is not what was asked for. */
void child_become(int argc, char **argv);

/** Run args (NULL ends them). With collect, its stdout is collected in text;
 * all else that it prints goes to the end of the file log, or into text with
 * NULL. 0, or libuv's code: then on_end does not come, yet turn the loop before
 * c is used again. */
must_check int child_start(struct child *c, uv_loop_t *loop,
			   const char *const *args, const char *log,
			   bool collect, child_end_cb on_end);

/** Nothing is left of it on the loop. */
bool child_ended(const struct child *c);

/** Whether it has come so far in its start that signum would not just end it:
 * it holds the signal back or has a handler. */
bool child_hears(const struct child *c, int signum);

/** Send signum, if it runs. */
void child_signal(struct child *c, int signum);

/** The text as a string; valid until the child prints more. */
const char *child_text(struct child *c);

/** Free the text of one that has ended. */
void child_free(struct child *c);

#endif
