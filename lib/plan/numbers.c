#include "plan/numbers.h"

#include <string.h>

#include <openssl/evp.h>

#include "base/check.h"

/* From a block on. */
static void init_at(struct numbers *n, const uint8_t seed[NUMBERS_SEED],
		    uint32_t block)
{
	uint8_t counter_and_nonce[16] = { 0 };
	int ok;

	n->cipher = EVP_CIPHER_CTX_new();
	check(n->cipher != NULL);
	for (size_t i = 0; i < sizeof(block); i++) {
		counter_and_nonce[i] = (uint8_t)(block >> (8 * i));
	}
	ok = EVP_EncryptInit_ex(n->cipher, EVP_chacha20(), NULL, seed,
				counter_and_nonce);
	check(ok == 1);
	n->used = NUMBERS_BYTES;
}

void numbers_init(struct numbers *n, const uint8_t seed[NUMBERS_SEED])
{
	init_at(n, seed, 0);
}

void numbers_close(struct numbers *n)
{
	EVP_CIPHER_CTX_free(n->cipher);
}

/* The next so many bytes of the keystream, which they divide. */
static const uint8_t *take(struct numbers *n, size_t size)
{
	static const uint8_t zeros[NUMBERS_BYTES];

	if (n->used == NUMBERS_BYTES) {
		int written = 0;
		int ok = EVP_EncryptUpdate(n->cipher, n->bytes, &written, zeros,
					   NUMBERS_BYTES);

		check(ok == 1 && written == NUMBERS_BYTES);
		n->used = 0;
	}
	n->used += size;
	return n->bytes + n->used - size;
}

static uint64_t next(struct numbers *n)
{
	const uint8_t *bytes = take(n, sizeof(uint64_t));
	uint64_t x = 0;

	for (size_t i = 0; i < sizeof(x); i++) {
		x |= (uint64_t)bytes[i] << (8 * i);
	}
	return x;
}

uint64_t numbers_below(struct numbers *n, uint64_t bound)
{
	uint64_t surplus; /* 2^64 mod bound: what would be favoured */
	uint64_t x;

	if (bound == 1) {
		return 0;
	}
	surplus = (UINT64_MAX - bound + 1) % bound;
	do {
		x = next(n);
	} while (x < surplus);
	return x % bound;
}

const uint8_t *numbers_draw(struct numbers *n)
{
	return take(n, NUMBERS_BLOCK);
}

void numbers_draws(const uint8_t seed[NUMBERS_SEED], uint64_t first,
		   size_t count, uint8_t *out)
{
	struct numbers n;

	check(first + count < UINT32_MAX);
	init_at(&n, seed, (uint32_t)first);
	for (size_t i = 0; i < count; i++) {
		memcpy(out + i * NUMBERS_DRAW, numbers_draw(&n), NUMBERS_DRAW);
	}
	numbers_close(&n);
}

uint64_t numbers_scaled(const uint8_t draw[NUMBERS_DRAW], uint64_t bound)
{
	const uint64_t mask = 0xffffff;
	uint64_t carry = 0;

	/* By 24 bits, from the lowest: no product passes 64 bits, and in
	 * lua/live.lua none passes 2^53. */
	for (size_t i = NUMBERS_DRAW; i > 0; i -= 3) {
		uint64_t limb = (uint64_t)draw[i - 3] << 16 |
				(uint64_t)draw[i - 2] << 8 | draw[i - 1];

		carry = limb * (bound >> 24) +
			((limb * (bound & mask) + carry) >> 24);
	}
	return carry;
}
