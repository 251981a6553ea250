#include "gateway/secret_hash.h"

#include <string.h>

#include "base/rand.h"

__extension__ typedef unsigned __int128 wide;

void secret_hash_init(struct secret_hash *h)
{
	rand_bytes(h->secret, sizeof(h->secret));
}

uint64_t secret_hash_of(const struct secret_hash *h, struct bytes key)
{
	uint64_t hash = h->secret[0] ^ key.n;

	for (size_t i = 0; i < key.n; i += 8) {
		uint64_t word = 0;
		wide product;

		memcpy(&word, key.p + i, key.n - i < 8 ? key.n - i : 8);
		product = (wide)(hash ^ word) * (h->secret[1] | 1);
		hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^
		       h->secret[0];
	}
	return hash;
}
