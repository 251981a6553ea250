#include "gateway/key_set.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"

struct key_set {
	struct token_keys *keys;
	_Atomic int holds;
};

struct key_set *key_set_new(struct token_keys *keys)
{
	struct key_set *set = xcalloc(1, sizeof(*set));

	set->keys = keys;
	atomic_init(&set->holds, 1);
	return set;
}

struct key_set *key_set_hold(struct key_set *set)
{
	(void)atomic_fetch_add(&set->holds, 1);
	return set;
}

void key_set_drop(struct key_set *set)
{
	if (set != NULL && atomic_fetch_sub(&set->holds, 1) == 1) {
		token_keys_free(set->keys);
		free(set);
	}
}

const struct token_keys *key_set_keys(const struct key_set *set)
{
	return set->keys;
}
