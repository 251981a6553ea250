/**
 * Money: integer cents in memory, decimal text in Redis.
 *
 * Written as [0-9]+\.[0-9]{2} without superfluous zeros in front; read also as
 * "12" and "12.2". Anything else is refused: a sign, an exponent, a third
 * decimal, spaces, more than AMOUNT_MAX_CENTS.
 */
#ifndef BASE_AMOUNT_H
#define BASE_AMOUNT_H

#include "base/bytes.h"
#include "base/check.h"

/* 2^53 - 1: exact in a Lua number and in a JSON reader's double. */
#define AMOUNT_MAX_CENTS INT64_C(9007199254740991)

enum { AMOUNT_TEXT_MAX = 24 }; /* with its NUL */

/** False if the text is no amount; *cents is then untouched. */
must_check bool amount_parse(struct bytes text, int64_t *cents);

/** Write 0 <= cents <= AMOUNT_MAX_CENTS with a NUL; returns its length. */
size_t amount_format(int64_t cents, char out[AMOUNT_TEXT_MAX]);

/* As a value, so that a sentence can have several. */
struct amount_text {
	char text[AMOUNT_TEXT_MAX];
};

/** Any number of cents as text, "-0.50": for sentences about what is wrong, so
 * it needs not be an amount. */
struct amount_text amount_text(int64_t cents);

#endif
