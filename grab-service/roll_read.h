/**
 * Making the roll of an adopted list: its packets are read in the order in
 * which they are taken, page by page, while others take them. Those that are
 * taken are in the claims, where the place of each from the tail does not
 * change; the place of those that are left does not change from the head.
 */
#ifndef GRAB_ROLL_READ_H
#define GRAB_ROLL_READ_H

#include "activity_view.h"
#include "roll.h"

enum roll_read_end {
	ROLL_READ,    /* r is the roll, owned by who is called */
	ROLL_FOREIGN, /* why (valid during the call): not the opened list */
	ROLL_SILENT,  /* Redis did not answer, or it was given up */
};

typedef void (*roll_read_cb)(void *ctx, enum roll_read_end end, struct roll *r,
			     const char *why);

/** Read the packets of v's activity, whose list has v->list as its digest; done
 * is called later. v is copied. Once *give_up is true no further page is asked
 * for; it must stay until then. */
void roll_read(struct redis *redis, const struct activity_view *v,
	       uint64_t timeout_ms, const bool *give_up, roll_read_cb done,
	       void *ctx);

#endif
