/* Which tokens are taken for whom, and that nothing else is. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jwt.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/err.h"
#include "token/token.h"

/* 32 and 48 bytes. */
#define SECRET_A "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define RAW_A    "0123456789abcdef0123456789abcdef"
#define SECRET_B \
	"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2"

static const int64_t now_ms = INT64_C(1764430000000);
static char dir[] = "/tmp/rain-token-XXXXXX";
static struct token_keys *keys;

static void path_of(char *out, size_t n, const char *name)
{
	(void)snprintf(out, n, "%s/%s", dir, name);
}

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	path_of(path, sizeof path, name);
	f = fopen(path, "w");
	cr_assert(f != NULL);
	cr_assert(fputs(text, f) >= 0);
	cr_assert_eq(fclose(f), 0);
}

static void write_pems(void)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	char path[256];
	FILE *f;

	cr_assert(key != NULL);
	path_of(path, sizeof path, "ec.pem");
	f = fopen(path, "w");
	cr_assert(f != NULL);
	cr_assert_eq(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL),
		     1);
	cr_assert_eq(fclose(f), 0);
	path_of(path, sizeof path, "ec.pub");
	f = fopen(path, "w");
	cr_assert(f != NULL);
	cr_assert_eq(PEM_write_PUBKEY(f, key), 1);
	cr_assert_eq(fclose(f), 0);
	EVP_PKEY_free(key);
}

static struct token_keys *load(const char *text, struct buf *why)
{
	char path[256];

	write_file("keys", text);
	path_of(path, sizeof path, "keys");
	return token_keys_load(path, why);
}

static void setup(void)
{
	struct buf why;

	buf_init(&why);
	cr_assert(mkdtemp(dir) != NULL);
	write_pems();
	keys = load("# the keys of the tests\n"
		    "app HS256 user " SECRET_A "\n"
		    "edge HS256 front " SECRET_B " # the web tier\n"
		    "\n"
		    "ec ES256 user ec.pem\n"
		    "ecpub ES256 user ec.pub\n",
		    &why);
	cr_assert(keys != NULL, "%.*s", BYTES_FMT(buf_live(&why)));
	buf_close(&why);
}

static void teardown(void)
{
	static const char *const names[] = { "ec.pem", "ec.pub", "keys" };
	char path[256];

	token_keys_free(keys);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		path_of(path, sizeof path, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(dir);
}

TestSuite(token, .init = setup, .fini = teardown);

static struct buf sign(const char *kid, const char *user, bool front,
		       int64_t expires_ms)
{
	struct buf out;
	struct buf why;

	buf_init(&out);
	buf_init(&why);
	cr_assert_eq(token_sign(keys, kid, bytes_str(user), front, expires_ms,
				&out, &why),
		     0, "%.*s", BYTES_FMT(buf_live(&why)));
	buf_close(&why);
	return out;
}

static void expect_user(struct bytes token, const char *user, bool front)
{
	struct token_claims claims;
	const char *why = "";

	cr_assert_eq(token_verify(keys, token, now_ms, &claims, &why), 0, "%s",
		     why);
	cr_assert_str_eq(claims.user, user);
	cr_assert_eq(claims.user_len, strlen(user));
	cr_assert_eq(claims.front, front);
}

static void expect_refused(struct bytes token, const char *part)
{
	struct token_claims claims;
	const char *why = "";

	cr_assert_eq(token_verify(keys, token, now_ms, &claims, &why),
		     ERR_DENIED);
	cr_assert(strstr(why, part) != NULL, "says: %s", why);
}

/* A token with every part under the test's control, signed by libjwt. */
static char *forge(const char *kid, jwt_alg_t alg, const char *key, size_t n,
		   const char *grants)
{
	jwt_t *jwt = NULL;
	char *text;

	cr_assert_eq(jwt_new(&jwt), 0);
	if (kid != NULL) {
		cr_assert_eq(jwt_add_header(jwt, "kid", kid), 0);
	}
	cr_assert_eq(jwt_add_grants_json(jwt, grants), 0);
	cr_assert_eq(jwt_set_alg(jwt, alg, (const unsigned char *)key, (int)n),
		     0);
	text = jwt_encode_str(jwt);
	cr_assert(text != NULL);
	jwt_free(jwt);
	return text;
}

static void expect_forged(const char *kid, jwt_alg_t alg, const char *key,
			  size_t n, const char *grants, const char *part)
{
	char *text = forge(kid, alg, key, n, grants);

	expect_refused(bytes_str(text), part);
	free(text);
}

static void expect_grants(const char *grants, const char *part)
{
	expect_forged("app", JWT_ALG_HS256, RAW_A, 32, grants, part);
}

Test(token, hs256_names_its_user)
{
	struct buf t = sign("app", "u:1@x", false, now_ms + 60000);
	struct token_claims claims;
	const char *why;

	expect_user(buf_live(&t), "u:1@x", false);
	cr_assert_eq(token_verify(keys, buf_live(&t), now_ms, &claims, &why),
		     0);
	cr_assert_eq(claims.expires_ms, now_ms + 60000);
	buf_close(&t);
}

Test(token, es256_signs_with_the_private_and_verifies_with_the_public_key)
{
	struct buf t = sign("ec", "alice", false, now_ms + 60000);
	char pem[4096];
	char path[256];
	FILE *f;
	size_t n;
	char *text;

	expect_user(buf_live(&t), "alice", false);
	buf_close(&t);

	path_of(path, sizeof path, "ec.pem");
	f = fopen(path, "r");
	cr_assert(f != NULL);
	n = fread(pem, 1, sizeof pem, f);
	cr_assert_eq(fclose(f), 0);
	text = forge("ecpub", JWT_ALG_ES256, pem, n,
		     "{\"sub\":\"bob\",\"exp\":1764439999}");
	expect_user(bytes_str(text), "bob", false);
	free(text);
}

Test(token, front_needs_a_key_that_may)
{
	struct buf t = sign("edge", "tier", true, now_ms + 60000);
	char *text;

	expect_user(buf_live(&t), "tier", true);
	buf_close(&t);
	text = forge("app", JWT_ALG_HS256, RAW_A, 32,
		     "{\"sub\":\"u\",\"exp\":1764439999,\"scope\":\"front\"}");
	expect_user(bytes_str(text), "u", false);
	free(text);
}

Test(token, scope_is_a_list_of_words)
{
	struct buf t = sign("edge", "tier", false, now_ms + 60000);

	expect_user(buf_live(&t), "tier", false);
	buf_close(&t);
}

Test(token, expired_or_without_exp)
{
	struct buf t = sign("app", "u", false, now_ms);

	expect_refused(buf_live(&t), "expired");
	buf_close(&t);
	expect_grants("{\"sub\":\"u\"}", "no exp");
	expect_grants("{\"sub\":\"u\",\"exp\":\"1764439999\"}", "exp is not");
	expect_grants("{\"sub\":\"u\",\"exp\":-5}", "exp is not");
	expect_grants("{\"sub\":\"u\",\"exp\":9000000000000000000}",
		      "exp is not");
	expect_grants("{\"sub\":\"u\",\"exp\":1764439999,\"nbf\":1764439998}",
		      "not valid yet");
}

Test(token, bad_sub)
{
	expect_grants("{\"exp\":1764439999}", "sub");
	expect_grants("{\"sub\":\"\",\"exp\":1764439999}", "sub");
	expect_grants("{\"sub\":\"a b\",\"exp\":1764439999}", "sub");
	expect_grants("{\"sub\":\"#12\",\"exp\":1764439999}", "sub");
	expect_grants("{\"sub\":7,\"exp\":1764439999}", "sub");
}

Test(token, wrong_key_and_unknown_key)
{
	static const char grants[] = "{\"sub\":\"u\",\"exp\":1764439999}";

	expect_forged("edge", JWT_ALG_HS256, RAW_A, 32, grants, "signature");
	expect_forged("gone", JWT_ALG_HS256, RAW_A, 32, grants, "kid");
	expect_forged(NULL, JWT_ALG_HS256, RAW_A, 32, grants, "kid");
}

Test(token, a_single_key_needs_no_kid)
{
	struct token_keys *all = keys;
	struct buf why;
	char *text;

	buf_init(&why);
	keys = load("only HS256 user " SECRET_A "\n", &why);
	cr_assert(keys != NULL);
	text = forge(NULL, JWT_ALG_HS256, RAW_A, 32,
		     "{\"sub\":\"u\",\"exp\":1764439999}");
	expect_user(bytes_str(text), "u", false);
	free(text);
	token_keys_free(keys);
	keys = all;
	buf_close(&why);
}

/* The token's alg chooses nothing. */
Test(token, foreign_algorithms)
{
	static const char grants[] = "{\"sub\":\"u\",\"exp\":1764439999}";
	char pub[2048];
	char path[256];
	FILE *f;
	size_t n;
	/* {"alg":"RS256","kid":"app"} . {"sub":"u","exp":1764439999} . x */
	static const char rs256[] =
		"eyJhbGciOiJSUzI1NiIsImtpZCI6ImFwcCJ9."
		"eyJzdWIiOiJ1IiwiZXhwIjoxNzY0NDM5OTk5fQ.eHh4";

	expect_forged("app", JWT_ALG_NONE, NULL, 0, grants, "algorithm");
	expect_forged("app", JWT_ALG_HS512, RAW_A, 32, grants, "algorithm");
	expect_refused(bytes_str(rs256), "algorithm");

	/* The public key of ES256 as if it were an HS256 secret. */
	path_of(path, sizeof path, "ec.pub");
	f = fopen(path, "r");
	cr_assert(f != NULL);
	n = fread(pub, 1, sizeof pub, f);
	cr_assert_eq(fclose(f), 0);
	expect_forged("ecpub", JWT_ALG_HS256, pub, n, grants, "algorithm");
}

Test(token, garbage)
{
	static const char nul[] = "a.b\0.c";
	struct buf t = sign("app", "u", false, now_ms + 60000);
	struct bytes good = buf_live(&t);
	char big[5000];
	struct token_claims claims;
	const char *why;

	memset(big, 'a', sizeof big);
	expect_refused(BYTES(""), "no token");
	expect_refused(BYTES("not a token"), "not a JWT");
	expect_refused(BYTES("a.b.c"), "not a JWT");
	expect_refused(BYTES("...."), "not a JWT");
	expect_refused(bytes_make(nul, sizeof nul), "not a JWT");
	expect_refused(bytes_make(big, sizeof big), "not a JWT");
	/* Any one character changed or missing is enough. */
	for (size_t i = 0; i < good.n; i++) {
		uint8_t copy[1024];

		cr_assert(good.n < sizeof copy);
		memcpy(copy, good.p, good.n);
		copy[i] = copy[i] == 'A' ? 'Z' : 'A';
		if (i == good.n - 1) {
			continue; /* its low bits may be padding */
		}
		cr_assert_neq(token_verify(keys, bytes_make(copy, good.n),
					   now_ms, &claims, &why),
			      0, "character %zu", i);
		cr_assert_neq(token_verify(keys, bytes_make(good.p, i), now_ms,
					   &claims, &why),
			      0);
	}
	buf_close(&t);
}

static void expect_bad_file(const char *text, const char *part)
{
	struct buf why;

	buf_init(&why);
	cr_assert(load(text, &why) == NULL);
	buf_put_u8(&why, 0);
	cr_assert(strstr((const char *)buf_live(&why).p, part) != NULL,
		  "says: %s", (const char *)buf_live(&why).p);
	buf_close(&why);
}

Test(token, key_files_with_mistakes)
{
	expect_bad_file("", "no key");
	expect_bad_file("a HS256 user\n", "keys:1: a line is");
	expect_bad_file("\na RS256 user x\n", "keys:2: the algorithm");
	expect_bad_file("a HS256 admin " SECRET_A, "scope");
	expect_bad_file("a HS256 user c2hvcnQ=\n", "32 bytes");
	expect_bad_file("a HS256 user ???\n", "base64");
	expect_bad_file("a ES256 user none.pem\n", "cannot be read");
	expect_bad_file("a ES256 user keys\n", "P-256");
	expect_bad_file("a HS256 user " SECRET_A "\na HS256 user " SECRET_B,
			"stands above");
}

Test(token, what_cannot_be_signed)
{
	struct buf out;
	struct buf why;

	buf_init(&out);
	buf_init(&why);
	cr_assert_neq(token_sign(keys, "ecpub", BYTES("u"), false, now_ms, &out,
				 &why),
		      0);
	cr_assert_neq(
		token_sign(keys, "app", BYTES("u"), true, now_ms, &out, &why),
		0);
	cr_assert_neq(
		token_sign(keys, "app", BYTES(""), false, now_ms, &out, &why),
		0);
	cr_assert_eq(buf_len(&out), 0);
	buf_close(&out);
	buf_close(&why);
}
