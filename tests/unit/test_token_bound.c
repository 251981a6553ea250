/* What a token is bound to: an activity, a key. What a key file may be. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jwt.h>

#include "base/err.h"
#include "token/token.h"

#define SECRET_A "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
#define RAW_A    "0123456789abcdef0123456789abcdef"
#define SECRET_B "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="

static const int64_t now_ms = INT64_C(1764430000000);
static char dir[] = "/tmp/rain-bound-XXXXXX";
static char path[64];

static void setup(void)
{
	cr_assert(mkdtemp(dir) != NULL);
	(void)snprintf(path, sizeof path, "%s/keys", dir);
}

static void teardown(void)
{
	(void)remove(path);
	(void)rmdir(dir);
}

TestSuite(bound, .init = setup, .fini = teardown, .timeout = 10);

static struct token_keys *load(const char *text)
{
	struct token_keys *keys;
	struct buf why;
	FILE *f = fopen(path, "w");

	cr_assert(f != NULL);
	cr_assert(fputs(text, f) >= 0);
	cr_assert_eq(fclose(f), 0);
	buf_init(&why);
	keys = token_keys_load(path, &why);
	cr_assert(keys != NULL, "%.*s", BYTES_FMT(buf_live(&why)));
	buf_close(&why);
	return keys;
}

static struct token_claims claims_for(const char *activity)
{
	struct token_claims c = { .user = "alice",
				  .user_len = 5,
				  .expires_ms = now_ms + 60000,
				  .activity_len = strlen(activity) };

	memcpy(c.activity, activity, c.activity_len);
	return c;
}

static struct token_claims there_and_back(const struct token_keys *keys,
					  struct token_claims c)
{
	struct token_claims got;
	const char *why = "";
	struct buf token;
	struct buf bad;

	buf_init(&token);
	buf_init(&bad);
	cr_assert_eq(token_sign_claims(keys, NULL, &c, &token, &bad), 0);
	cr_assert_eq(token_verify(keys, buf_live(&token), now_ms, &got, &why),
		     0, "%s", why);
	buf_close(&token);
	buf_close(&bad);
	return got;
}

/* F21: the activity is in the signed part. */
Test(bound, to_an_activity)
{
	struct token_keys *keys = load("app HS256 user " SECRET_A "\n");
	struct token_claims got = there_and_back(keys, claims_for("quiz"));
	struct token_claims bad = claims_for("a b");
	struct buf out;
	struct buf why;

	cr_assert_str_eq(got.activity, "quiz");
	cr_assert_eq(got.activity_len, 4);
	got = there_and_back(keys, claims_for(""));
	cr_assert_eq(got.activity_len, 0);
	buf_init(&out);
	buf_init(&why);
	cr_assert_eq(token_sign_claims(keys, NULL, &bad, &out, &why),
		     ERR_DENIED);
	buf_close(&out);
	buf_close(&why);
	token_keys_free(keys);
}

/* What was meant as a restriction must never count as none. */
Test(bound, to_an_activity_that_is_no_id)
{
	static const char *const odd[] = { "7",       "null",       "\"\"",
					   "\"a b\"", "[\"quiz\"]", "true" };
	struct token_keys *keys = load("app HS256 user " SECRET_A "\n");

	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		struct token_claims got;
		const char *why = "";
		char grants[128];
		jwt_t *jwt = NULL;
		char *text;

		(void)snprintf(
			grants, sizeof grants,
			"{\"sub\":\"u\",\"exp\":1764439999,\"activity\":%s}",
			odd[i]);
		cr_assert_eq(jwt_new(&jwt), 0);
		cr_assert_eq(jwt_add_grants_json(jwt, grants), 0);
		cr_assert_eq(jwt_set_alg(jwt, JWT_ALG_HS256,
					 (const unsigned char *)RAW_A, 32),
			     0);
		text = jwt_encode_str(jwt);
		cr_assert(text != NULL);
		cr_assert_eq(
			token_verify(keys, bytes_str(text), now_ms, &got, &why),
			ERR_DENIED, "%s", odd[i]);
		cr_assert(strstr(why, "activity") != NULL, "%s: %s", odd[i],
			  why);
		free(text);
		jwt_free(jwt);
	}
	token_keys_free(keys);
}

Test(bound, to_its_key)
{
	struct token_keys *keys = load("app HS256 user " SECRET_A "\n");
	uint64_t key = there_and_back(keys, claims_for("")).key;
	static const char *const others[] = {
		"other HS256 user " SECRET_A "\n",
		"app HS256 front " SECRET_A "\n",
		"app HS256 user " SECRET_B "\n",
	};

	cr_assert(token_keys_hold(keys, key));
	token_keys_free(keys);
	keys = load("# new ones\nnew HS256 user " SECRET_B
		    "\napp HS256 user " SECRET_A "\n");
	cr_assert(token_keys_hold(keys, key));
	token_keys_free(keys);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		keys = load(others[i]);
		cr_assert(!token_keys_hold(keys, key), "%s", others[i]);
		token_keys_free(keys);
	}
}

static void expect_no_file(const char *part)
{
	struct buf why;

	buf_init(&why);
	cr_assert(token_keys_load(path, &why) == NULL);
	buf_put(&why, "", 1);
	cr_assert(strstr((const char *)buf_live(&why).p, part) != NULL,
		  "says: %s", (const char *)buf_live(&why).p);
	buf_close(&why);
	(void)remove(path);
}

/* A reload reads the file on the loop of the service: nothing that is put in
 * its place may keep it. */
Test(bound, what_is_no_file)
{
	char pem[80];
	FILE *f;

	cr_assert_eq(mkfifo(path, 0600), 0);
	expect_no_file("no regular file");
	cr_assert_eq(mkdir(path, 0700), 0);
	expect_no_file("no regular file");
	cr_assert_eq(symlink("/dev/zero", path), 0);
	expect_no_file("no regular file");
	f = fopen(path, "w");
	cr_assert(f != NULL);
	cr_assert_eq(ftruncate(fileno(f), INT64_C(1) << 40), 0);
	cr_assert_eq(fclose(f), 0);
	expect_no_file("larger");
	expect_no_file("No such file");

	(void)snprintf(pem, sizeof pem, "%s/pem", dir);
	cr_assert_eq(mkfifo(pem, 0600), 0);
	f = fopen(path, "w");
	cr_assert(f != NULL);
	cr_assert(fputs("ec ES256 user pem\n", f) >= 0);
	cr_assert_eq(fclose(f), 0);
	expect_no_file("cannot be read");
	(void)unlink(pem);
}
