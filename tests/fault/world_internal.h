/**
 * Between the files of the world.
 */
#ifndef TESTS_FAULT_WORLD_INTERNAL_H
#define TESTS_FAULT_WORLD_INTERNAL_H

#include "fault/world.h"

enum { PATH_BYTES = 256 };

/** Choose all ports and write the configuration files. False, and why on
 * stderr. */
must_check bool world_configure(struct world *w);

#endif
