/**
 * What somebody else may write into the keys of an activity, and what must
 * come of it in each state: the cases of test_stranger.c. The activity has 12
 * packets of 1.00 with the ids 1000 and up; w0 to w3 have the first four.
 */
#ifndef TESTS_LIB_STRANGER_CHANGES_H
#define TESTS_LIB_STRANGER_CHANGES_H

#include <stddef.h>

enum state { OPEN, PAUSED, CLOSED, STATES };

/* What must come of a change. */
enum fate {
	SKIP,
	HALTS,  /* by itself, with the reason */
	QUIET,  /* nothing: it does no harm */
	MENDED, /* nothing is decided until it is undone; then it goes on */
};

/* In the commands @ is the id, W the first winner, %N the text of claim N. */
struct change {
	const char *name;
	const char *commands[4];
	enum fate fate[STATES];
	const char *reason;
	const char *undo[3];
};

extern const struct change changes[];
extern const size_t change_count;

#endif
