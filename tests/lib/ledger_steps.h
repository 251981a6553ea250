/**
 * Claims of one activity, batch by batch, as Kafka has them: what stands at an
 * offset is always the same, so a batch that was not applied can come again.
 */
#ifndef TESTS_LIB_LEDGER_STEPS_H
#define TESTS_LIB_LEDGER_STEPS_H

#include "lib/ledger_fixture.h"

enum { LEDGER_STEPS_BATCH = 50 };

/** A random number below n, the same sequence in every run. */
size_t ledger_steps_below(size_t n);

/** The activity, which has more money than there will be claims. */
void ledger_steps_begin(struct fixture *x);

/** Apply the batch that is next; f->next moves on if it was applied. 0 or
 * ERR_STORE. */
must_check int ledger_steps_next(struct fixture *x,
				 struct ledger_result *result);

/** Offset and effect are one: asserts that every claim before next_offset is
 * accounted for, and none behind it. */
void ledger_steps_exact(struct fixture *x);

#endif
