/* A damaged PEM file: each of its letters changed, one at a time. What is
 * taken all the same signs tokens that are taken; what is not has a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/pem.h>

#include <criterion/criterion.h>

#include "base/err.h"
#include "token/token.h"

static char dir[] = "/tmp/rain-pem-XXXXXX";
static char keys_path[64];
static char pem_path[64];

static void write_file(const char *path, struct bytes text)
{
	FILE *f = fopen(path, "w");

	cr_assert(f != NULL);
	cr_assert_eq(fwrite(text.p, 1, text.n, f), text.n);
	cr_assert_eq(fclose(f), 0);
}

static void setup(void)
{
	cr_assert(mkdtemp(dir) != NULL);
	(void)snprintf(keys_path, sizeof keys_path, "%s/keys", dir);
	(void)snprintf(pem_path, sizeof pem_path, "%s/ec.pem", dir);
	write_file(keys_path, BYTES("ec ES256 user ec.pem\n"));
}

static void teardown(void)
{
	(void)unlink(keys_path);
	(void)unlink(pem_path);
	(void)rmdir(dir);
}

TestSuite(token_pem, .init = setup, .fini = teardown);

/* Whether the keys were taken. */
static bool try_keys(struct bytes pem, bool private, size_t at)
{
	struct token_claims claims;
	const char *refused = NULL;
	struct token_keys *keys;
	struct buf text;
	struct buf why;
	int rv;

	write_file(pem_path, pem);
	buf_init(&text);
	buf_init(&why);
	keys = token_keys_load(keys_path, &why);
	cr_assert((keys == NULL) == (buf_len(&why) > 0), "letter %zu", at);
	if (keys != NULL && private) {
		rv = token_sign(keys, NULL, BYTES("u1"), false, 2000, &text,
				&why);
		cr_assert_eq(rv, 0, "letter %zu", at);
		rv = token_verify(keys, buf_live(&text), 1000, &claims,
				  &refused);
		cr_assert_eq(rv, 0, "letter %zu: %s", at, refused);
	}
	token_keys_free(keys);
	buf_close(&text);
	buf_close(&why);
	return keys != NULL;
}

static void damage(BIO *bio, bool private)
{
	char *data = NULL;
	size_t n = (size_t)BIO_get_mem_data(bio, &data);
	size_t taken = 0;

	cr_assert(try_keys(bytes_make(data, n), private, 0));
	for (size_t i = 0; i < n; i++) {
		char was = data[i];

		data[i] = was == 'A' ? 'B' : 'A';
		taken += try_keys(bytes_make(data, n), private, i);
		data[i] = was;
	}
	cr_assert_lt(taken, n / 10); /* a letter that says nothing, an id */
	(void)BIO_free(bio);
}

Test(token_pem, damaged_private_key)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	BIO *bio = BIO_new(BIO_s_mem());

	cr_assert_eq(PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL,
							  0, NULL, NULL),
		     1);
	EVP_PKEY_free(key);
	damage(bio, true);
}

Test(token_pem, damaged_public_key)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	BIO *bio = BIO_new(BIO_s_mem());

	cr_assert_eq(PEM_write_bio_PUBKEY(bio, key), 1);
	EVP_PKEY_free(key);
	damage(bio, false);
}
