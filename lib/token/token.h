/**
 * Tokens of users: JWT, HS256 or ES256, through libjwt.
 *
 * A key file has a line a key: `KID ALG SCOPE VALUE`, '#' starts a comment.
 * ALG is HS256 (VALUE: the secret in base64, 32 bytes and more) or ES256
 * (VALUE: the path of a PEM file, relative to the key file; a public key
 * verifies, a private key also signs). SCOPE is `user` (tokens of this key
 * speak for their `sub` only) or `front` (they may carry the scope `front`).
 *
 * The algorithm is the key's and is never taken from the token; `kid` names
 * the key (without it the only key is tried); `exp` is demanded; `nbf` is
 * kept; `sub` is the user id; `activity`, if it is there, is the one activity
 * that the token is good for.
 */
#ifndef TOKEN_TOKEN_H
#define TOKEN_TOKEN_H

#include "base/buf.h"
#include "base/id.h"

struct token_keys;

/** Read a key file: a regular one, small enough for 64 keys, so that whatever
 * is put in its place blocks nobody. NULL with a line for people appended to
 * why. */
struct token_keys *token_keys_load(const char *path, struct buf *why);
void token_keys_free(struct token_keys *keys);
size_t token_keys_count(const struct token_keys *keys);

struct token_claims {
	char user[ID_MAX + 1]; /* sub */
	size_t user_len;
	bool front;         /* scope has the word front, and the key may */
	int64_t expires_ms; /* exp, in milliseconds */
	char activity[ID_MAX + 1]; /* the only one; "" any */
	size_t activity_len;
	uint64_t key; /* the key that signed it, for token_keys_hold() */
};

/** Whether keys hold the key that signed a token: the same name, algorithm,
 * scope and secret. key is that of its claims. */
bool token_keys_hold(const struct token_keys *keys, uint64_t key);

/** 0; or ERR_DENIED with *why, a static sentence that says what is wrong. */
must_check int token_verify(const struct token_keys *keys, struct bytes token,
			    int64_t now_ms, struct token_claims *claims,
			    const char **why);

/** Append a token for user, signed with key kid (NULL: the first that can
 * sign). 0; or ERR_DENIED with a line appended to why. */
must_check int token_sign(const struct token_keys *keys, const char *kid,
			  struct bytes user, bool front, int64_t expires_ms,
			  struct buf *out, struct buf *why);

/** The same with all that claims say; their key is not read. */
must_check int token_sign_claims(const struct token_keys *keys, const char *kid,
				 const struct token_claims *claims,
				 struct buf *out, struct buf *why);

#endif
