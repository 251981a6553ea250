/**
 * The taps of a connection that have no answer yet, found by their seq. Grows
 * when answers are long in coming, so 20,000 connections that tap one at a time
 * cost little.
 */
#ifndef BENCH_TAPS_H
#define BENCH_TAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TAPS_MAX = 32768 }; /* slots: seqs of open taps lie closer together */

struct tap {
	uint64_t seq;    /* 0: a free slot */
	uint64_t due_us; /* latency counts from here */
	uint32_t user;
	uint32_t activity;
	bool unsure; /* the user may have a packet already and does not know */
};

struct taps {
	struct tap *slots; /* size of them, by seq modulo size */
	size_t size;       /* 0 or a power of two */
	size_t open;
};

/** Whether a tap with this seq, the next one, has room; makes it if it can. */
bool taps_room(struct taps *t, uint64_t seq);

/** Keep a tap for which there is room. */
void taps_put(struct taps *t, const struct tap *tap);

/** Take out the one with this seq; false if there is none. */
bool taps_take(struct taps *t, uint64_t seq, struct tap *tap);

/** Take out all, one a call: *from is 0 at first. False when none is left. */
bool taps_take_all(struct taps *t, size_t *from, struct tap *tap);

/** Free it; it is empty and usable again. */
void taps_free(struct taps *t);

#endif
