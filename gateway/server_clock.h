/**
 * The server's time, which is Redis's: the grab-services tell it with their
 * answers, and between two of them our own clock goes on from there. An answer
 * that was quick says it more precisely than one that was slow.
 */
#ifndef GATEWAY_SERVER_CLOCK_H
#define GATEWAY_SERVER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { SERVER_CLOCK_STALE_MS = 10 * 1000 };

struct server_clock {
	int64_t offset_ms; /* server time - loop time */
	uint64_t took_ms;  /* there and back, of the sample in use */
	uint64_t at_ms;    /* loop time of the sample in use */
	bool known;
};

/** An answer with server_ms came at got_ms to a call of sent_ms, both loop
 * time. Kept if it is no slower than the one in use, or that one is stale. */
void server_clock_sample(struct server_clock *c, uint64_t sent_ms,
			 uint64_t got_ms, int64_t server_ms);

/** Whether a new sample is wanted. */
bool server_clock_stale(const struct server_clock *c, uint64_t now_ms);

/** The server's time; this machine's wall clock while none is known. */
int64_t server_clock_now(const struct server_clock *c, uint64_t now_ms);

#endif
