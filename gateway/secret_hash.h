/**
 * A hash that nobody can foresee who does not know the secret: apps choose the
 * keys of our tables, and could choose such that all share a place.
 */
#ifndef GATEWAY_SECRET_HASH_H
#define GATEWAY_SECRET_HASH_H

#include <stdint.h>

#include "base/bytes.h"

struct secret_hash {
	uint64_t secret[2];
};

/** Draw a secret. */
void secret_hash_init(struct secret_hash *h);

/** The hash of key under h's secret. Equal keys have equal hashes, different
 * ones may: compare them too. */
uint64_t secret_hash_of(const struct secret_hash *h, struct bytes key);

#endif
