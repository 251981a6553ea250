/**
 * What was sent of a numbered sequence and what of it is acknowledged, in any
 * order: the positions 1, 2, 3, ... of an outbox. Pure.
 *
 *        done             sent          done + max
 *   ......|---- in flight --|---- room ------|
 */
#ifndef GRAB_WINDOW_H
#define GRAB_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct window {
	uint64_t done;  /* all up to this one are acknowledged */
	uint64_t sent;  /* all up to this one were sent */
	size_t max;     /* most in flight */
	uint8_t *acked; /* ring of max flags, owned */
};

/** Nothing sent, nothing acknowledged. */
void window_init(struct window *w, size_t max);
/** Frees what it owns. */
void window_close(struct window *w);

/** Start again behind position at; what was in flight is forgotten. */
void window_reset(struct window *w, uint64_t at);

/** How many may still be sent. */
size_t window_room(const struct window *w);

/** The next position leaves; there is room. */
uint64_t window_send(struct window *w);

/** Take back the newest position that was sent: it did not leave. */
void window_unsend(struct window *w);

/** Position at, which is in flight, arrived. True if done moved. */
bool window_ack(struct window *w, uint64_t at);

#endif
