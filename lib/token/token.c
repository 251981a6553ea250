#include "token/token.h"

#include <errno.h>
#include <stdlib.h>

#include <jwt.h>

#include "base/err.h"
#include "token/token_keys.h"

enum { TOKEN_MAX = 4096 }; /* characters of a token */

/* The year 5138: exp in seconds, far from overflow in milliseconds. */
static const uint64_t seconds_max = 100000000000;

static const struct {
	jwt_alg_t id;
	const char *name; /* in the header of a token */
} algs[] = {
	[TOKEN_HS256] = { JWT_ALG_HS256, "HS256" },
	[TOKEN_ES256] = { JWT_ALG_ES256, "ES256" },
};

static int refuse(const char **why, const char *sentence)
{
	*why = sentence;
	return ERR_DENIED;
}

/* The key that the token names; its signature is not looked at yet. */
static const struct token_key *find_key(const struct token_keys *keys,
					const char *text, const char **why)
{
	const struct token_key *key = NULL;
	const char *kid;
	const char *alg;
	jwt_t *jwt = NULL;

	if (jwt_decode(&jwt, text, NULL, 0) != 0) {
		*why = "the token is not a JWT";
		return NULL;
	}
	kid = jwt_get_header(jwt, "kid");
	if (kid != NULL) {
		key = token_keys_find(keys, kid);
		if (key == NULL) {
			*why = "the token names a key (kid) that this gateway does not know";
		}
	} else if (token_keys_count(keys) == 1) {
		key = keys->keys;
	} else {
		*why = "the token names no key (kid), and there are several";
	}
	/* Before any signature: the algorithm is the key's, so a public key is
	 * never taken for a secret and "none" never for a signature. */
	alg = jwt_get_header(jwt, "alg");
	if (key != NULL &&
	    (alg == NULL || strcmp(alg, algs[key->alg].name) != 0)) {
		*why = "the token's algorithm is not the one of its key";
		key = NULL;
	}
	jwt_free(jwt);
	return key;
}

/* A time claim in seconds, as milliseconds; ENOENT, EINVAL or 0. As JSON text,
 * because jwt_get_grant_int() takes a string for the number 0. */
static int time_claim(jwt_t *jwt, const char *name, int64_t *ms)
{
	char *text = jwt_get_grants_json(jwt, name);
	uint64_t seconds = 0;
	bool good;

	if (text == NULL) {
		return ENOENT;
	}
	good = bytes_to_u64(bytes_str(text), seconds_max, &seconds);
	free(text);
	*ms = (int64_t)seconds * 1000;
	return good ? 0 : EINVAL;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	while (text != NULL && *text != '\0') {
		size_t len = strcspn(text, " ");

		if (len == n && memcmp(text, word, n) == 0) {
			return true;
		}
		text += len;
		text += strspn(text, " ");
	}
	return false;
}

/* False if the claim is there and is no id: a token that was meant to be
 * restricted must not become one that is not. */
static bool take_activity(jwt_t *jwt, struct token_claims *claims)
{
	char *text = jwt_get_grants_json(jwt, "activity");
	const char *id = jwt_get_grant(jwt, "activity");
	bool there = text != NULL;

	free(text);
	if (!there) {
		return true;
	}
	if (id == NULL || !id_valid(bytes_str(id))) {
		return false;
	}
	claims->activity_len = strlen(id);
	memcpy(claims->activity, id, claims->activity_len + 1);
	return true;
}

static int check_claims(jwt_t *jwt, bool may_front, int64_t now_ms,
			struct token_claims *claims, const char **why)
{
	const char *sub = jwt_get_grant(jwt, "sub");
	int64_t nbf_ms = 0;
	int rv;

	rv = time_claim(jwt, "exp", &claims->expires_ms);
	if (rv == ENOENT) {
		return refuse(why, "the token has no exp");
	}
	if (rv != 0) {
		return refuse(
			why,
			"the token's exp is not a whole number of seconds since 1970");
	}
	if (claims->expires_ms <= now_ms) {
		return refuse(why, "the token has expired");
	}
	rv = time_claim(jwt, "nbf", &nbf_ms);
	if (rv != 0 && rv != ENOENT) {
		return refuse(
			why,
			"the token's nbf is not a whole number of seconds since 1970");
	}
	if (nbf_ms > now_ms) {
		return refuse(why, "the token is not valid yet (nbf)");
	}
	if (sub == NULL || !id_valid(bytes_str(sub))) {
		return refuse(why,
			      "the token's sub is not a user id: " ID_RULE);
	}
	claims->user_len = strlen(sub);
	memcpy(claims->user, sub, claims->user_len + 1);
	if (!take_activity(jwt, claims)) {
		return refuse(why,
			      "the token's activity is not an id: " ID_RULE);
	}
	claims->front =
		may_front && has_word(jwt_get_grant(jwt, "scope"), "front");
	return 0;
}

int token_verify(const struct token_keys *keys, struct bytes token,
		 int64_t now_ms, struct token_claims *claims, const char **why)
{
	char text[TOKEN_MAX + 1];
	const struct token_key *key;
	jwt_t *jwt = NULL;
	int rv;

	*claims = (struct token_claims){ 0 };
	if (token.n == 0) {
		return refuse(why, "there is no token");
	}
	if (token.n > TOKEN_MAX || memchr(token.p, 0, token.n) != NULL) {
		return refuse(
			why,
			"the token is not a JWT of at most 4096 characters");
	}
	memcpy(text, token.p, token.n);
	text[token.n] = '\0';

	key = find_key(keys, text, why);
	if (key == NULL) {
		return ERR_DENIED;
	}
	if (jwt_decode(&jwt, text, key->verify, key->verify_len) != 0) {
		return refuse(why, "the token's signature is not valid");
	}
	check(jwt_get_alg(jwt) == algs[key->alg].id);
	rv = check_claims(jwt, key->front, now_ms, claims, why);
	claims->key = key->print;
	jwt_free(jwt);
	return rv;
}

static int fill(jwt_t *jwt, const struct token_key *key,
		const struct token_claims *claims)
{
	int rv = 0;

	rv |= jwt_add_header(jwt, "kid", key->kid);
	rv |= jwt_add_grant(jwt, "sub", claims->user);
	rv |= jwt_add_grant_int(jwt, "exp", (long)(claims->expires_ms / 1000));
	if (claims->front) {
		rv |= jwt_add_grant(jwt, "scope", "front");
	}
	if (claims->activity_len > 0) {
		rv |= jwt_add_grant(jwt, "activity", claims->activity);
	}
	rv |= jwt_set_alg(jwt, algs[key->alg].id, key->sign, key->sign_len);
	return rv;
}

static int refuse_to_sign(struct buf *why, const char *key, const char *what)
{
	buf_printf(why, "key %s %s\n", key, what);
	return ERR_DENIED;
}

int token_sign_claims(const struct token_keys *keys, const char *kid,
		      const struct token_claims *claims, struct buf *out,
		      struct buf *why)
{
	const struct token_key *key = token_keys_signer(keys, kid);
	struct bytes activity =
		bytes_make(claims->activity, claims->activity_len);
	char *text = NULL;
	jwt_t *jwt = NULL;

	if (!id_valid(bytes_make(claims->user, claims->user_len)) ||
	    (activity.n > 0 && !id_valid(activity))) {
		buf_printf(why, "ids of a user and an activity must be %s\n",
			   ID_RULE);
		return ERR_DENIED;
	}
	if (key == NULL) {
		buf_printf(why, "no key%s%s can sign\n",
			   kid != NULL ? " called " : "",
			   kid != NULL ? kid : "");
		return ERR_DENIED;
	}
	if (claims->front && !key->front) {
		return refuse_to_sign(why, key->kid,
				      "has the scope user, not front");
	}
	if (jwt_new(&jwt) == 0 && fill(jwt, key, claims) == 0) {
		text = jwt_encode_str(jwt);
	}
	jwt_free(jwt);
	if (text == NULL) {
		return refuse_to_sign(why, key->kid, "does not sign");
	}
	buf_put_bytes(out, bytes_str(text));
	free(text);
	return 0;
}

int token_sign(const struct token_keys *keys, const char *kid,
	       struct bytes user, bool front, int64_t expires_ms,
	       struct buf *out, struct buf *why)
{
	struct token_claims claims = { .front = front,
				       .expires_ms = expires_ms };

	if (!id_valid(user)) {
		buf_printf(why, "the user id must be %s\n", ID_RULE);
		return ERR_DENIED;
	}
	memcpy(claims.user, user.p, user.n);
	claims.user_len = user.n;
	return token_sign_claims(keys, kid, &claims, out, why);
}
