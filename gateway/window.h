/**
 * How many requests a loop may have with the grab-services at once, told from
 * how long they take. Pure.
 *
 * What is taken beyond what can be done only waits, here or there, until
 * nobody wants the answer any more. So when answers take nearly as long as a
 * call may take, fewer are taken, and the rest is BUSY at once; while answers
 * come in time the window opens again. An activity that is overloaded alone
 * does not get there: its grab-service refuses what would wait for so long.
 */
#ifndef GATEWAY_WINDOW_H
#define GATEWAY_WINDOW_H

#include <stddef.h>
#include <stdint.h>

enum {
	WINDOW_LEAST = 512,  /* however slow they are */
	WINDOW_FIRST = 4096, /* before anything is known */
};

struct window {
	size_t size; /* requests, what counts */
	size_t most;
	uint64_t cut_ms; /* loop time when it became smaller */
};

/** At most `most` requests, which may be less than WINDOW_LEAST. */
void window_init(struct window *w, size_t most);

/** count requests came back, with whatever, after took_ms, slow if that is more
 * than slow_ms; in_flight are out, these included. */
void window_done(struct window *w, uint64_t now_ms, uint64_t took_ms,
		 uint64_t slow_ms, size_t in_flight, size_t count);

#endif
