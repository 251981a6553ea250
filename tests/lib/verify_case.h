/**
 * A verification of an activity of which all is sound, to spoil one thing of it:
 * five packets were claimed and credited, three are left.
 */
#ifndef TESTS_LIB_VERIFY_CASE_H
#define TESTS_LIB_VERIFY_CASE_H

#include "console/verify.h"

/* Of that seed and the plan below; test_plan.c says who computed it. */
#define COMMITMENT \
	"0b8c824b1a23c77f2cc1fb632562e67ef1973ec4bd9ea5fe4bae1a77382bd2a6"
#define BEACON "00112233445566778899aabbccddeeff"
#define OTHER  "1b8c824b1a23c77f2cc1fb632562e67ef1973ec4bd9ea5fe4bae1a77382bd2a6"

enum { BASE = 7000, CLAIMS = 5, COUNT = 8 };

/* Of the packets in the order of the plan. */
extern const int64_t amounts[COUNT];
/* What is verified; open between published() and proven() or differs(). */
extern struct verify v;

/** Seed and plan, and the commitment everywhere. */
void published(void);
/** Five claimed and credited, three left, all sound. */
void sound(void);
/** The same without the lists: only the ledger knows, and how many there were. */
void gone(void);

/** Enter packet k of the plan: of user "uK", or of nobody. */
void enter(struct verify_list *list, uint64_t k, bool user);
/** Take the last entry away. */
void drop_last(struct verify_list *list);
/** Free what is there and put a copy of `to` in its place. */
void set_text(char **text, const char *to);

/** Asserts the summary. */
void says(const char *text);
/** Judge and close: asserts that there is no difference, and the summary. */
void proven(const char *summary);
/** Judge and close: asserts how many differences, and the first one. */
void differs(uint64_t differences, const char *line);

#endif
