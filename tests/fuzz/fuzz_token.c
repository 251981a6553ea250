/* Tokens, against fixed keys. The first byte chooses: a token as it comes, of
 * which only the ones that we signed may be taken; or a header, a newline and
 * claims, which are signed here, so that what a key's owner may write is read
 * too. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/err.h"
#include "fuzz/fuzz.h"
#include "token/token.h"

#define SECRET_APP "0123456789abcdef0123456789abcdef"

enum { PART_MAX = 1500, TOKEN_SIZE = 4200 };

static const int64_t now_ms = INT64_C(1764430000000);

static const char public_pem[] =
	"-----BEGIN PUBLIC KEY-----\n"
	"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEd0qs6tZwCdpGJ4wZM/JiefUvn2M8\n"
	"FUIua0wHDQff0bPgtwFo+Z5enI8y77Oes6aTY6Aav+bBCZdfN/FTSCnL+g==\n"
	"-----END PUBLIC KEY-----\n";

/* All that was ever signed with these keys, without the signatures, and whose
 * token it is. */
static const struct {
	const char *text;
	const char *user;
	bool front;
} signed_by_us[] = {
	{ "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImFwcCJ9.eyJzdWI"
	  "iOiIyNjU2Mjg2MTc4ODI4NDIyNDgiLCJleHAiOjE3NjQ0Mzk5OTl9",
	  "265628617882842248", false },
	{ "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImVkZ2UifQ.eyJzd"
	  "WIiOiJlZGdlLTEiLCJzY29wZSI6InVzZXIgZnJvbnQiLCJleHAiOjE3NjQ0M"
	  "zk5OTl9",
	  "edge-1", true },
	{ "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImVjIn0.eyJzdWIi"
	  "OiJ1QGV4YW1wbGUiLCJuYmYiOjE3NjQ0MjAwMDAsImV4cCI6MTc2NDQzOTk5"
	  "OX0",
	  "u@example", false },
	{ "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6ImFwcCJ9.eyJzdWI"
	  "iOiJ1Iiwic2NvcGUiOiJmcm9udCIsImV4cCI6MTc2NDQzOTk5OX0",
	  "u", false },
};

static int in_memory(const char *text)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	check(fd >= 0);
	check(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return fd;
}

static struct token_keys *load(void)
{
	int pem = in_memory(public_pem);
	struct token_keys *keys;
	char text[512];
	char path[64];
	struct buf why;
	int fd;

	(void)snprintf(
		text, sizeof text,
		"app HS256 user MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"
		"edge HS256 front QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZna"
		"Glqa2xtbm9wcXJzdHV2\n"
		"ec ES256 user /proc/self/fd/%d\n",
		pem);
	fd = in_memory(text);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	buf_init(&why);
	keys = token_keys_load(path, &why);
	check(keys != NULL && token_keys_count(keys) == 3);
	buf_close(&why);
	check(close(fd) == 0 && close(pem) == 0);
	return keys;
}

static void check_claims(const struct token_claims *c)
{
	check(c->user_len == strlen(c->user));
	check(id_valid(bytes_make(c->user, c->user_len)));
	check(c->expires_ms > now_ms);
}

static void take(const struct token_keys *keys, struct bytes token)
{
	struct bytes copy = fuzz_copy(token);
	struct token_claims claims;
	const char *why = NULL;
	bool known = false;
	int rv = token_verify(keys, copy, now_ms, &claims, &why);

	check((rv == 0) == (why == NULL));
	check(rv == 0 || rv == ERR_DENIED);
	for (size_t i = 0; i < sizeof signed_by_us / sizeof *signed_by_us;
	     i++) {
		struct bytes text = bytes_str(signed_by_us[i].text);

		known = known ||
			(rv == 0 && copy.n > text.n &&
			 memcmp(copy.p, text.p, text.n) == 0 &&
			 copy.p[text.n] == '.' &&
			 strcmp(claims.user, signed_by_us[i].user) == 0 &&
			 claims.front == signed_by_us[i].front);
	}
	check(known == (rv == 0));
	if (rv == 0) {
		check_claims(&claims);
	}
	fuzz_drop(copy);
}

/* Append in base64url, without '='. */
static void put_part(struct buf *out, struct bytes part)
{
	uint8_t text[PART_MAX * 2];
	int n = EVP_EncodeBlock(text, part.p, (int)part.n);

	for (int i = 0; i < n && text[i] != '='; i++) {
		buf_put_u8(out, text[i] == '+'   ? '-'
				: text[i] == '/' ? '_'
						 : text[i]);
	}
}

static void sign_and_take(const struct token_keys *keys, struct bytes input)
{
	const uint8_t *newline =
		input.n > 0 ? memchr(input.p, '\n', input.n) : NULL;
	struct token_claims claims;
	const char *why = NULL;
	struct bytes header;
	struct bytes payload;
	struct buf out;
	uint8_t mac[32];
	unsigned n = sizeof mac;
	struct bytes copy;

	if (newline == NULL) {
		return;
	}
	header = bytes_make(input.p, (size_t)(newline - input.p));
	payload = bytes_make(newline + 1, input.n - header.n - 1);
	if (header.n > PART_MAX || payload.n > PART_MAX) {
		return;
	}
	buf_init(&out);
	put_part(&out, header);
	buf_put_u8(&out, '.');
	put_part(&out, payload);
	check(HMAC(EVP_sha256(), SECRET_APP, (int)strlen(SECRET_APP),
		   buf_live(&out).p, buf_len(&out), mac, &n) != NULL);
	buf_put_u8(&out, '.');
	put_part(&out, bytes_make(mac, n));
	check(buf_len(&out) < TOKEN_SIZE);
	copy = fuzz_copy(buf_live(&out));
	buf_close(&out);
	if (token_verify(keys, copy, now_ms, &claims, &why) == 0) {
		check_claims(&claims);
		check(!claims.front); /* the key is for users */
	} else {
		check(why != NULL);
	}
	fuzz_drop(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct token_keys *keys;
	struct bytes input = bytes_make(data, size);

	if (keys == NULL) {
		keys = load();
	}
	if (fuzz_choice(&input) % 2 == 0) {
		take(keys, input);
	} else {
		sign_and_take(keys, input);
	}
	return 0;
}
