/**
 * Numbers that other programs print at the end of each round, added up.
 */
#ifndef TESTS_FAULT_SUMMARY_H
#define TESTS_FAULT_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

/** Add the integers of a JSON object in text, also of objects in it, to the
 * same names in sum. */
void summary_add_json(json_t *sum, const char *text);

/** Add each name=NUMBER of the last line that begins with "checked". */
void summary_add_words(json_t *sum, const char *text);

/** The number of that name, 0 if nobody told. */
long long summary_of(const json_t *sum, const char *name);

/** Why a run proves nothing though nothing was found: a sentence, or NULL.
 * tapped and checked are the sums of the tappers and of the checker. */
const char *summary_doubt(const json_t *tapped, const json_t *checked);

/** "  name=1 other=2" on a line. */
void summary_print(const json_t *sum, FILE *out);

#endif
