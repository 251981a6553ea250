/**
 * The keys of a key file, as token.c uses them. Not for others: they see
 * struct token_keys only as a name, in token.h.
 */
#ifndef TOKEN_TOKEN_KEYS_H
#define TOKEN_TOKEN_KEYS_H

#include "token/token.h"

enum token_alg { TOKEN_HS256, TOKEN_ES256 };

struct token_key {
	char *kid;
	enum token_alg alg;
	bool front;            /* its tokens may have the scope front */
	unsigned char *verify; /* HS256: the secret; ES256: public PEM */
	int verify_len;
	unsigned char *sign; /* the same secret, or private PEM; else NULL */
	int sign_len;
	uint64_t print; /* of all that verifying depends on */
};

struct token_keys {
	size_t count;
	struct token_key *keys;
};

/** The key called kid, or NULL. Borrowed from keys. */
const struct token_key *token_keys_find(const struct token_keys *keys,
					const char *kid);

/** The key called kid, or the first if kid is NULL, among those that can
 * sign; NULL if there is none. Borrowed from keys. */
const struct token_key *token_keys_signer(const struct token_keys *keys,
					  const char *kid);

#endif
