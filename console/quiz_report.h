/**
 * The end of a quiz night: what the users were told against the books, and the
 * one screen that says how it went.
 */
#ifndef CONSOLE_QUIZ_REPORT_H
#define CONSOLE_QUIZ_REPORT_H

#include "console/books.h"
#include "console/crowd.h"
#include "console/plan_file.h"
#include "console/verify.h"

/** Every packet that a user was told must be credited to that user with that
 * amount, and nobody else may have a credit: else crowd->wrong grows. */
void quiz_compare(struct crowd *crowd, const struct books *books);

/** Print it, as text or JSON; verify is NULL if nobody could tell. */
void quiz_report(const struct ctl *ctl, const struct plan_file *plan,
		 const struct crowd *crowd, const struct books *books,
		 const struct verify *verify);

#endif
