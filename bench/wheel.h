/**
 * What comes later: taps to be sent again and connections to be made again, in
 * slots of WHEEL_SLOT_MS.
 */
#ifndef BENCH_WHEEL_H
#define BENCH_WHEEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WHEEL_SLOTS = 1024, WHEEL_SLOT_MS = 10 };

struct connection;

struct later {
	struct later *next;
	struct connection *connection; /* NULL: any */
	bool connect;                  /* else: tap */
	uint32_t user;
	uint32_t activity;
	bool unsure; /* the user may have a packet already */
};

struct wheel {
	struct later *slots[WHEEL_SLOTS];
	uint64_t at;    /* the last slot that was handled */
	uint64_t taps;  /* in it */
	uint64_t count; /* all in it */
};

/** Keep a copy of l for so long, at most ten seconds. */
void wheel_add(struct wheel *w, uint64_t ms, const struct later *l);

/** One that is due at now_ms (from the start), in *l; false if none is. */
bool wheel_next(struct wheel *w, uint64_t now_ms, struct later *l);

/** Forget all. */
void wheel_clear(struct wheel *w);

#endif
