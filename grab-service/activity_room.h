/**
 * Whether Redis has room for a plan: what its packets, users and claims will
 * take when all are grabbed, against maxmemory.
 */
#ifndef GRAB_ACTIVITY_ROOM_H
#define GRAB_ACTIVITY_ROOM_H

#include "client/redis.h"

enum {
	/* A packet that was grabbed: a field of users, an element of claims,
	 * while its element of packets is gone. User ids of 20 characters;
	 * each further character takes three bytes. */
	ROOM_CLAIM_BYTES = 400,
	/* Of that, what a packet takes that is loaded and not grabbed. */
	ROOM_PACKET_BYTES = 60,
	ROOM_WHY = 256,
};

/** Whether need more bytes fit. Pure; a limit of 0 is none. Else why says so
 * in numbers. */
must_check bool room_fits(uint64_t need, uint64_t used, uint64_t limit,
			  char why[ROOM_WHY]);

/** What a plan of so many packets needs of which some are loaded. Pure. */
uint64_t room_need(uint64_t packets, uint64_t loaded);

/** fits is false too if Redis does not tell; why is valid during the call. */
typedef void (*room_cb)(void *ctx, bool fits, const char *why);

/** Ask Redis; done is called later. */
void room_ask(struct redis *r, uint64_t need, uint64_t timeout_ms, room_cb done,
	      void *ctx);

#endif
