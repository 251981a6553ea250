/**
 * How long a grab that joins the queue will wait, told from how fast script
 * calls have come back. Pure.
 *
 * A queue that is bounded by its length alone holds, when Redis is slow, only
 * grabs that nobody waits for any more by the time they are executed: all work
 * is late, and nothing useful is done. So it is bounded by time: what would
 * wait for too long is refused when it comes.
 */
#ifndef GRAB_PACE_H
#define GRAB_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times are of the monotonic clock, in microseconds. */
struct pace {
	uint64_t call_us; /* between two calls that come back, 0 unknown */
	uint64_t last_us; /* when the last one did */
};

/* A queue and its calls, as they are. */
struct pace_view {
	uint64_t now_us;
	uint64_t oldest_us; /* when the oldest call in flight left */
	size_t calls;       /* in flight */
	size_t waiting;
	size_t batch_max; /* how many go in one call */
};

/** A call that left at sent_us came back. */
void pace_done(struct pace *p, uint64_t sent_us, uint64_t now_us);

/** How long until the answer of one that joins the queue now. Calls that are
 * out for longer than usual count as what is usual by now. */
uint64_t pace_wait_us(const struct pace *p, const struct pace_view *v);

/** Whether one more may join: left_us is how long its caller waits, most_us
 * how long anybody should. With nothing in flight a whole batch always may:
 * there is no other way to find out how fast Redis has become. */
bool pace_room(const struct pace *p, const struct pace_view *v,
	       uint64_t left_us, uint64_t most_us);

#endif
