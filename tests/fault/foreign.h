/**
 * The console of somebody else, which puts packets of its own into Redis.
 */
#ifndef TESTS_FAULT_FOREIGN_H
#define TESTS_FAULT_FOREIGN_H

#include "fault/world.h"

/** Push so many packets for an activity that there is not yet, and write them
 * to the file "lists" as fault_check reads it. Which packets they are comes from
 * the seed; *cents is their sum. False: a violation. */
must_check bool foreign_list(struct world *w, const char *activity,
			     uint64_t packets, uint64_t seed, uint64_t *cents);

#endif
