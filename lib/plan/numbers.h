/**
 * The random numbers of an allocation: the keystream of ChaCha20 (RFC 8439)
 * with the seed as key, nonce and counter 0, read in order as little-endian
 * 64-bit numbers. docs/fairness.md has an example to the byte.
 */
#ifndef PLAN_NUMBERS_H
#define PLAN_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

enum {
	NUMBERS_SEED = 32,
	NUMBERS_BLOCK = 64,
	NUMBERS_BYTES = 4096,
	NUMBERS_DRAW = 12,
};

struct numbers {
	void *cipher; /* EVP_CIPHER_CTX */
	size_t used;
	uint8_t bytes[NUMBERS_BYTES];
};

/** To be closed again. */
void numbers_init(struct numbers *n, const uint8_t seed[NUMBERS_SEED]);
void numbers_close(struct numbers *n);

/** 0 to bound - 1, each as likely, bound at least 1. For 1 none is read; else
 * one after the other until x >= 2^64 mod bound, and x mod bound it is. */
uint64_t numbers_below(struct numbers *n, uint64_t bound);

/** Another reading of the same keystream: draw i (from 0) is the first
 * NUMBERS_DRAW bytes of its block i of 64 bytes. The next one; valid until the
 * next call. Not after numbers_below(). */
const uint8_t *numbers_draw(struct numbers *n);

/** Draws that are needed out of order: write count of them from first on, first
 * + count below 2^32. */
void numbers_draws(const uint8_t seed[NUMBERS_SEED], uint64_t first,
		   size_t count, uint8_t *out);

/** What a draw says about bound possibilities (1 to 2^53): floor(u * bound /
 * 2^96), u being its bytes as a big-endian number. No result is likelier than
 * another by more than 2^-43 of itself. */
uint64_t numbers_scaled(const uint8_t draw[NUMBERS_DRAW], uint64_t bound);

#endif
