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

/** A stream comes in pieces of choice bytes, or in one for 0: the length of
 * the next piece. */
size_t fuzz_piece(uint8_t choice, size_t left);

#endif
