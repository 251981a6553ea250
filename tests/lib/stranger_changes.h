/**
 * What somebody else may write into the keys of an activity, and what must
 * come of it in each state: the cases of test_stranger.c. The activity has 12
 * packets of 1.00, in a list or live; w0 to w3 have the first four.
 */
#ifndef TESTS_LIB_STRANGER_CHANGES_H
#define TESTS_LIB_STRANGER_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

enum state { OPEN, PAUSED, CLOSED, STATES };
extern const char *const state_names[STATES];

/* What must come of a change. */
enum fate {
	SKIP,
	HALTS,  /* by itself, with the reason */
	QUIET,  /* nothing: it does no harm */
	MENDED, /* nothing is decided until it is undone; then it goes on */
};

#define ALL(fate)                \
	{                        \
		fate, fate, fate \
	}
#define COUNTS "do not fit"

/* In the commands @ is the id, W the first winner, %N the text of claim N, &N
 * the id of the packet at place N, from 0, $S and $R the state and the revision
 * that it had. In reasons too. */
struct change {
	const char *name;
	const char *commands[4];
	enum fate fate[STATES];
	const char *reason;
	const char *undo[3];
	/* The relay may write over it, which mends it: then it is written once
	 * more, until it is noticed. */
	bool again;
};

enum { CHANGE_WINNERS = 4 };

/* What stands for them. */
struct change_words {
	char id[32];
	long long first_packet;
	char claims[CHANGE_WINNERS][200];
	const char *state;
	char revision[8];
};

/** Write the text with its words, and a NUL. */
void change_fill(const struct change_words *w, const char *in, char *out,
		 size_t size);

extern const struct change changes[];
extern const size_t change_count;

/* Of a live activity only. */
extern const struct change live_changes[];
extern const size_t live_change_count;

/* How many of the changes above are of the list of packets, which a live one
 * does not have: they come first. */
enum { LIST_CHANGES = 9 };

#endif
