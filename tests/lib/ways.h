/**
 * Every way in which an allocation is made: each algorithm, and the one that is
 * drawn live. For tests that go through all of them.
 */
#ifndef TESTS_LIB_WAYS_H
#define TESTS_LIB_WAYS_H

#include "plan/allocate.h"

struct way {
	enum allocate_algorithm algorithm;
	bool live;
};

static struct way ways[] = {
	{ .algorithm = ALLOCATE_DOUBLE_MEAN },
	{ .algorithm = ALLOCATE_LINE_CUT },
	{ .algorithm = ALLOCATE_EQUAL },
	{ .algorithm = ALLOCATE_TIERS },
	{ .algorithm = ALLOCATE_UNIFORM },
	{ .algorithm = ALLOCATE_NORMAL },
	{ .algorithm = ALLOCATE_DOUBLE_MEAN, .live = true },
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

_Static_assert(WAYS == ALLOCATE_ALGORITHMS + 1, "an algorithm is missing");

#endif
