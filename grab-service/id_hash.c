#include "id_hash.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint64_t id_hash(uint64_t key, struct bytes id)
{
	uint64_t h = mix(key + id.n);

	for (size_t i = 0; i < id.n; i += 8) {
		uint64_t word = 0;
		size_t n = id.n - i < 8 ? id.n - i : 8;

		memcpy(&word, id.p + i, n);
		h = mix(h ^ word) + key;
	}
	return h != 0 ? h : 1;
}
