/**
 * When a script call leaves and how many grabs it takes. Pure.
 *
 * Batches form by themselves: a lone grab goes at once; while its call is in
 * flight newcomers gather and leave when it returns. A second call may overlap
 * the first only when a full batch has gathered. There is no timer, so an idle
 * system adds no delay and a busy one has few calls.
 */
#ifndef GRAB_BATCH_H
#define GRAB_BATCH_H

#include <stddef.h>

enum { BATCH_CALLS_MAX = 2 };

/** How many of the waiting leave now, 0: none. calls is how many script calls
 * of the same activity are in flight; max is the size of a full batch. */
size_t batch_next(size_t waiting, size_t calls, size_t max);

#endif
