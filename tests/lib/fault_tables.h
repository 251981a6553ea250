/**
 * A Friday of three packets, of which alice and bob have won two, as the tables
 * of fault_check know it; each test breaks one thing.
 */
#ifndef TESTS_LIB_FAULT_TABLES_H
#define TESTS_LIB_FAULT_TABLES_H

#include "fault/check.h"

#define CHANGE(name) RAIN__ACTIVITY_EVENT__CHANGE_##name

/* What is left out: a user's claim in one place. */
struct hole {
	enum check_place place;
	const char *user; /* NULL: nothing */
};

extern struct check check;

/** Begin with all in order, or but for the hole. Friday, borrowed from check:
 * created at 1000, loaded, opened at 3000, closed at 9000, counted, settled at
 * 9500. */
struct check_activity *sound(void);
struct check_activity *tables(struct hole hole);

/** Lines of the log, all on connection 1; a grab has a second. grab() is a tap
 * that is answered after 10 ms without a packet. */
void ask(uint64_t seq, bool query, const char *user, int64_t ms);
void told(uint64_t seq, bool query, const char *status, int64_t ms,
	  const char *packet, int64_t cents, int64_t at_ms);
void grab(uint64_t seq, const char *user, int64_t ms, const char *status);

/** Taps 1 and 2: alice gets packet 1000, 1.00, at 5000, and bob packet 1001,
 * 2.00, at 5100. */
void alice_wins(void);
void bob_wins(void);
void both_win(void);

/** Judge, compare and free: word is in the report, or with NULL there is
 * nothing in it. */
void expect(const char *word);

#endif
