/**
 * Whether Redis has room for a plan: what its packets, users and claims will
 * take when all are grabbed, against maxmemory.
 */
#ifndef GRAB_ACTIVITY_ROOM_H
#define GRAB_ACTIVITY_ROOM_H

#include "client/redis.h"

enum {
	ROOM_WHY = 256,
};

/** Whether need more bytes fit. Pure; a limit of 0 is none. Else why says so
 * in numbers. */
must_check bool room_fits(uint64_t need, uint64_t used, uint64_t limit,
			  char why[ROOM_WHY]);

/** fits is false too if Redis does not tell; why is valid during the call. */
typedef void (*room_cb)(void *ctx, bool fits, const char *why);

/** Ask Redis; done is called later. */
void room_ask(struct redis *r, uint64_t need, uint64_t timeout_ms, room_cb done,
	      void *ctx);

#endif
