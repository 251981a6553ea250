#include "plan/numbers.h"

#include <string.h>

#include <openssl/evp.h>

#include "base/check.h"

/* The keystream from a block on. */
static EVP_CIPHER_CTX *open_at(const uint8_t seed[NUMBERS_SEED], uint32_t block)
{
	uint8_t counter_and_nonce[16] = { 0 };
	EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
	int ok;

	check(cipher != NULL);
	for (size_t i = 0; i < sizeof(block); i++) {
		counter_and_nonce[i] = (uint8_t)(block >> (8 * i));
	}
	ok = EVP_EncryptInit_ex(cipher, EVP_chacha20(), NULL, seed,
				counter_and_nonce);
	check(ok == 1);
	return cipher;
}

static void read_stream(EVP_CIPHER_CTX *cipher, uint8_t out[NUMBERS_BYTES])
{
	static const uint8_t zeros[NUMBERS_BYTES];
	int written = 0;
	int ok = EVP_EncryptUpdate(cipher, out, &written, zeros, NUMBERS_BYTES);

	check(ok == 1 && written == NUMBERS_BYTES);
}

void numbers_init(struct numbers *n, const uint8_t seed[NUMBERS_SEED])
{
	n->cipher = open_at(seed, 0);
	n->used = NUMBERS_BYTES;
}

void numbers_close(struct numbers *n)
{
	EVP_CIPHER_CTX_free(n->cipher);
}

static uint64_t next(struct numbers *n)
{
	uint64_t x = 0;

	if (n->used == NUMBERS_BYTES) {
		read_stream(n->cipher, n->bytes);
		n->used = 0;
	}
	for (size_t i = 0; i < sizeof(x); i++) {
		x |= (uint64_t)n->bytes[n->used + i] << (8 * i);
	}
	n->used += sizeof(x);
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

void numbers_draws(const uint8_t seed[NUMBERS_SEED], uint64_t first,
		   size_t count, uint8_t *out)
{
	enum { PER_READ = NUMBERS_BYTES / NUMBERS_BLOCK };
	uint8_t bytes[NUMBERS_BYTES];
	EVP_CIPHER_CTX *cipher;

	check(first + count < UINT32_MAX);
	cipher = open_at(seed, (uint32_t)first);
	for (size_t i = 0; i < count; i++) {
		if (i % PER_READ == 0) {
			read_stream(cipher, bytes);
		}
		memcpy(out + i * NUMBERS_DRAW,
		       bytes + i % PER_READ * NUMBERS_BLOCK, NUMBERS_DRAW);
	}
	EVP_CIPHER_CTX_free(cipher);
}

uint64_t numbers_scaled(const uint8_t draw[NUMBERS_DRAW], uint64_t bound)
{
	const uint64_t mask = 0xffffff;
	uint64_t carry = 0;

	/* By 24 bits, from the lowest: no product passes 64 bits, and in
	 * lua/grab.lua none passes 2^53. */
	for (size_t i = NUMBERS_DRAW; i > 0; i -= 3) {
		uint64_t limb = (uint64_t)draw[i - 3] << 16 |
				(uint64_t)draw[i - 2] << 8 | draw[i - 1];

		carry = limb * (bound >> 24) +
			((limb * (bound & mask) + carry) >> 24);
	}
	return carry;
}
