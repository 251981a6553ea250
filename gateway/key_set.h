/**
 * An immutable set of token keys that several loops hold at once.
 */
#ifndef GATEWAY_KEY_SET_H
#define GATEWAY_KEY_SET_H

#include "token/token.h"

struct key_set;

/** Takes keys over; the caller holds it once. */
struct key_set *key_set_new(struct token_keys *keys);

/** Hold it once more. Safe from any thread. */
struct key_set *key_set_hold(struct key_set *set);

/** Give one hold back; the last frees it. NULL is allowed. */
void key_set_drop(struct key_set *set);

/** Borrowed, for as long as the set is held. */
const struct token_keys *key_set_keys(const struct key_set *set);

#endif
