/**
 * Randomness from the operating system, and text made of it.
 */
#ifndef BASE_RAND_H
#define BASE_RAND_H

#include <stddef.h>
#include <stdint.h>

/** Fill n bytes from getrandom(2); aborts if the system has none. */
void rand_bytes(void *p, size_t n);

/** A uniform number below bound (> 0), without modulo bias. */
uint64_t rand_below(uint64_t bound);

/** 2 * n lower-case hex digits and a NUL from n bytes. */
void hex_encode(const void *p, size_t n, char *out);

/** n bytes from 2 * n hex digits of either case; 0, or -1 for other text. */
int hex_decode(const char *text, size_t len, uint8_t *out, size_t n);

#endif
