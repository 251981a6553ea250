/**
 * Running a loop until something has happened, with a deadline: no test waits
 * a fixed time and hopes.
 */
#ifndef TESTS_LIB_TURNS_H
#define TESTS_LIB_TURNS_H

#include <criterion/criterion.h>
#include <uv.h>

#include "base/check.h"

struct turns {
	uv_timer_t timer;
	bool late;
};

/** Until turns_stop(): late becomes true after ms milliseconds. */
struct turns *turns_start(uv_loop_t *loop, uint64_t ms);
void turns_stop(struct turns *t);

/** Run the loop until cond holds; fail the test if it does not within 30 s.
 * cond may have effects: it is not asked again once it held. */
#define RUN_UNTIL(loop, cond) RUN_UNTIL_MS(loop, 30000, cond)

/** The same with another deadline, for what starts slowly. */
#define RUN_UNTIL_MS(loop, ms, cond)                                        \
	do {                                                                \
		struct turns *turns_ = turns_start((loop), (ms));           \
		bool held_ = (cond);                                        \
		while (!held_ && !turns_->late) {                           \
			uv_run((loop), UV_RUN_ONCE);                        \
			held_ = (cond);                                     \
		}                                                           \
		turns_stop(turns_);                                         \
		cr_assert(held_, "not within %d ms: %s", (int)(ms), #cond); \
	} while (0)

/** Run until nothing is left, and close the loop: fails the test, naming what
 * is left, if that takes more than 30 s. */
void turns_end(uv_loop_t *loop);

#endif
