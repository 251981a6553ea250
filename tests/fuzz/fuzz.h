/**
 * What the fuzz targets share. A target gives LLVMFuzzerTestOneInput(): it
 * reads the input as our programs would, and check()s what must hold for every
 * input. Either libFuzzer calls it or replay_main.c, over the saved inputs.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "base/buf.h"

/** One input; returns 0, and aborts if something does not hold. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** A copy on the heap with nothing behind its last byte, so that ASan sees a
 * read past the end. No bytes give NULL. Free with fuzz_drop(). */
struct bytes fuzz_copy(struct bytes b);
void fuzz_drop(struct bytes copy);

/** The first byte, taken off the front; 0 if there is none. Targets choose by
 * it among the ways to read the rest. */
uint8_t fuzz_choice(struct bytes *input);

/** A stream of n bytes comes in pieces of so many: choice, or all at once for
 * 0. Of a long stream they are longer, so that there are not too many. */
size_t fuzz_piece(uint8_t choice, size_t n);

/** The input as a file: the path of the one in memory that holds it until the
 * next call. Nothing is made or opened anew, so that it costs little. */
const char *fuzz_file(struct bytes content);

/** Whether text is whole lines without a zero byte, at least one: how problems
 * are told to people. */
bool fuzz_is_lines(struct bytes text);

#endif
