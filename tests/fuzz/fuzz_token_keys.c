/* The file of the keys of tokens. Whatever was taken for keys signs and
 * verifies; what was not has a reason. (PEM files: unit.token_pem. OpenSSL reads
 * a thousand a second.) */
#include "base/err.h"
#include "fuzz/fuzz.h"
#include "token/token.h"
#include "token/token_keys.h"

enum { KEYS_MAX = 64, SECRET_MIN = 32, SECRET_MAX = 1024 };

static const int64_t now_ms = INT64_C(1764430000000);

static void check_key(const struct token_keys *keys, size_t i)
{
	const struct token_key *key = &keys->keys[i];

	check(id_valid(bytes_str(key->kid)));
	check(token_keys_find(keys, key->kid) == key); /* no other has it */
	check(key->verify != NULL && key->verify_len > 0);
	if (key->alg == TOKEN_HS256) {
		check(key->verify_len >= SECRET_MIN);
		check(key->verify_len <= SECRET_MAX);
		check(key->sign_len == key->verify_len);
	}
}

/* Sign with the first that can. What it signs is taken, and later is not. */
static void try_signer(const struct token_keys *keys)
{
	const struct token_key *key = token_keys_signer(keys, NULL);
	struct token_claims claims;
	const char *refused = NULL;
	struct bytes token;
	struct buf text;
	struct buf why;
	int rv;

	buf_init(&text);
	buf_init(&why);
	rv = token_sign(keys, NULL, BYTES("u1"), key != NULL && key->front,
			now_ms + 1000, &text, &why);
	check((rv == 0) == (key != NULL));
	check((rv == 0) == (buf_len(&why) == 0));
	if (rv == 0) {
		token = buf_live(&text);
		check(token_verify(keys, token, now_ms, &claims, &refused) ==
		      0);
		check(strcmp(claims.user, "u1") == 0);
		check(claims.front == key->front);
		check(token_verify(keys, token, now_ms + 1000, &claims,
				   &refused) == ERR_DENIED);
	}
	buf_close(&text);
	buf_close(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct token_keys *keys;
	struct buf why;

	buf_init(&why);
	keys = token_keys_load(fuzz_file(bytes_make(data, size)), &why);
	check((keys == NULL) == (buf_len(&why) > 0));
	check(keys != NULL || fuzz_is_lines(buf_live(&why)));
	if (keys != NULL) {
		check(token_keys_count(keys) >= 1);
		check(token_keys_count(keys) <= KEYS_MAX);
		for (size_t i = 0; i < token_keys_count(keys); i++) {
			check_key(keys, i);
		}
		/* For each input it would be most of the work. */
		if (size % 8 == 0) {
			try_signer(keys);
		}
	}
	token_keys_free(keys);
	buf_close(&why);
	return 0;
}
