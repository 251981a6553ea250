#include "plan/numbers.h"

#include <openssl/evp.h>

#include "base/check.h"

void numbers_init(struct numbers *n, const uint8_t seed[NUMBERS_SEED])
{
	static const uint8_t counter_and_nonce[16];
	int ok;

	n->cipher = EVP_CIPHER_CTX_new();
	check(n->cipher != NULL);
	ok = EVP_EncryptInit_ex(n->cipher, EVP_chacha20(), NULL, seed,
				counter_and_nonce);
	check(ok == 1);
	n->used = NUMBERS_BYTES;
}

void numbers_close(struct numbers *n)
{
	EVP_CIPHER_CTX_free(n->cipher);
}

static uint64_t next(struct numbers *n)
{
	static const uint8_t zeros[NUMBERS_BYTES];
	uint64_t x = 0;

	if (n->used == NUMBERS_BYTES) {
		int written = 0;
		int ok = EVP_EncryptUpdate(n->cipher, n->bytes, &written, zeros,
					   NUMBERS_BYTES);

		check(ok == 1 && written == NUMBERS_BYTES);
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
