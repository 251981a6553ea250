#include "token/token_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

enum {
	KEYS_MAX = 64,
	LINE_SIZE = 4096,
	SECRET_MIN = 32, /* bytes: as long as the hash */
	SECRET_MAX = 1024,
	FIELDS = 4,             /* KID ALG SCOPE VALUE */
	FILE_MAX = 1024 * 1024, /* bytes: far more than 64 keys need */
};

/* Where in the key file we are, and where complaints go. */
struct reader {
	const char *path;
	unsigned line;
	struct buf *why;
};

static bool complain(struct reader *r, const char *text)
{
	buf_printf(r->why, "%s:%u: %s\n", r->path, r->line, text);
	return false;
}

static bool read_secret(struct reader *r, const char *value,
			struct token_key *key)
{
	size_t n = strlen(value);
	size_t pad = n >= 2 ? (size_t)(value[n - 1] == '=') +
				      (size_t)(value[n - 2] == '=')
			    : 0;
	int len = -1;

	if (n % 4 == 0 && n / 4 * 3 <= SECRET_MAX) {
		key->verify = xmalloc(n / 4 * 3 + 1);
		len = EVP_DecodeBlock(key->verify, (const uint8_t *)value,
				      (int)n);
	}
	if (len < 0) {
		return complain(
			r, "an HS256 secret is base64 of 32 to 1024 bytes");
	}
	key->verify_len = len - (int)pad;
	if (key->verify_len < SECRET_MIN) {
		return complain(r, "an HS256 secret needs 32 bytes or more");
	}
	key->sign_len = key->verify_len;
	key->sign = xmalloc((size_t)key->sign_len);
	memcpy(key->sign, key->verify, (size_t)key->sign_len);
	return true;
}

/* A regular file of a sensible size, whose reading ends; NULL with *what. A
 * pipe would wait for somebody to write, in the middle of a reload. */
static FILE *open_file(const char *path, const char **what)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	FILE *in = NULL;

	if (fd < 0 || fstat(fd, &st) != 0) {
		*what = strerror(errno);
	} else if (!S_ISREG(st.st_mode)) {
		*what = "is no regular file";
	} else if (st.st_size > FILE_MAX) {
		*what = "is larger than 1 MiB";
	} else {
		in = fdopen(fd, "r");
		*what = in == NULL ? strerror(errno) : "";
	}
	if (in == NULL && fd >= 0) {
		(void)close(fd);
	}
	return in;
}

static BIO *open_beside(const struct reader *r, const char *name)
{
	const char *slash = strrchr(r->path, '/');
	const char *what;
	struct buf path;
	FILE *in;

	buf_init(&path);
	if (name[0] != '/' && slash != NULL) {
		buf_put(&path, r->path, (size_t)(slash - r->path) + 1);
	}
	buf_put(&path, name, strlen(name) + 1);
	in = open_file((const char *)buf_live(&path).p, &what);
	buf_close(&path);
	return in != NULL ? BIO_new_fp(in, BIO_CLOSE) : NULL;
}

/* What a memory BIO holds, as a copy; frees the BIO. */
static unsigned char *take_bio(BIO *bio, int *len)
{
	char *data = NULL;
	long n = BIO_get_mem_data(bio, &data);
	unsigned char *copy = NULL;

	if (n > 0) {
		copy = (unsigned char *)xstrndup(data, (size_t)n);
		*len = (int)n;
	}
	(void)BIO_free(bio);
	return copy;
}

static bool is_p256(const EVP_PKEY *pkey)
{
	char group[32] = "";
	size_t n = 0;

	return EVP_PKEY_is_a(pkey, "EC") &&
	       EVP_PKEY_get_group_name(pkey, group, sizeof group, &n) == 1 &&
	       strcmp(group, "prime256v1") == 0;
}

/* A damaged file may hold a private key and the public key of another: what it
 * signs nobody would take. */
static bool is_whole(EVP_PKEY *pkey, bool private)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(pkey, NULL);
	bool whole = ctx != NULL && EVP_PKEY_public_check(ctx) == 1 &&
		     (!private || EVP_PKEY_pairwise_check(ctx) == 1);

	EVP_PKEY_CTX_free(ctx);
	return whole;
}

/* Without this OpenSSL asks for it at the terminal, or reads standard input,
 * and everything waits. */
static int no_phrase(char *out, int size, int writing, void *arg)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

static bool read_pem(struct reader *r, const char *name, struct token_key *key)
{
	BIO *in = open_beside(r, name);
	EVP_PKEY *pkey;
	BIO *out;
	bool private;

	if (in == NULL) {
		return complain(r, "the PEM file cannot be read");
	}
	pkey = PEM_read_bio_PrivateKey(in, NULL, no_phrase, NULL);
	private = pkey != NULL;
	if (!private) {
		(void)BIO_reset(in);
		pkey = PEM_read_bio_PUBKEY(in, NULL, no_phrase, NULL);
	}
	(void)BIO_free(in);
	if (pkey == NULL || !is_p256(pkey)) {
		EVP_PKEY_free(pkey);
		return complain(
			r,
			"the PEM file holds no EC key on the curve P-256, or one behind a pass phrase");
	}
	if (!is_whole(pkey, private)) {
		EVP_PKEY_free(pkey);
		return complain(
			r,
			"the PEM file is damaged: its public key is none, or not that of its private key");
	}
	out = BIO_new(BIO_s_mem());
	check(out != NULL && PEM_write_bio_PUBKEY(out, pkey) == 1);
	key->verify = take_bio(out, &key->verify_len);
	if (private) {
		out = BIO_new(BIO_s_mem());
		check(out != NULL &&
		      PEM_write_bio_PrivateKey(out, pkey, NULL, NULL, 0, NULL,
					       NULL) == 1);
		key->sign = take_bio(out, &key->sign_len);
	}
	EVP_PKEY_free(pkey);
	return true;
}

static bool read_key(struct reader *r, char *const field[FIELDS],
		     struct token_key *key)
{
	if (!id_valid(bytes_str(field[0]))) {
		return complain(r, "a key's name is " ID_RULE);
	}
	key->kid = xstrndup(field[0], strlen(field[0]));
	if (strcmp(field[2], "front") == 0) {
		key->front = true;
	} else if (strcmp(field[2], "user") != 0) {
		return complain(r, "the scope must be user or front");
	}
	if (strcmp(field[1], "HS256") == 0) {
		key->alg = TOKEN_HS256;
		return read_secret(r, field[3], key);
	}
	if (strcmp(field[1], "ES256") == 0) {
		key->alg = TOKEN_ES256;
		return read_pem(r, field[3], key);
	}
	return complain(r, "the algorithm must be HS256 or ES256");
}

static bool read_line(struct reader *r, char *line, struct token_keys *keys)
{
	char *field[FIELDS + 1] = { 0 };
	char *save = NULL;
	size_t n = 0;

	line[strcspn(line, "#\r\n")] = '\0';
	for (char *p = strtok_r(line, " \t", &save); p != NULL && n <= FIELDS;
	     p = strtok_r(NULL, " \t", &save)) {
		field[n++] = p;
	}
	if (n == 0) {
		return true;
	}
	if (n != FIELDS) {
		return complain(r, "a line is: KID ALG SCOPE VALUE");
	}
	if (keys->count == KEYS_MAX) {
		return complain(r, "more than 64 keys");
	}
	if (token_keys_find(keys, field[0]) != NULL) {
		return complain(r, "a key of this name stands above");
	}
	return read_key(r, field, &keys->keys[keys->count++]);
}

/* Two keys have the same one only if tokens of one are tokens of the other. */
static uint64_t print_of(const struct token_key *key)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned char about[2] = { (unsigned char)key->alg, key->front };
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	uint64_t print;

	check(md != NULL && EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1 &&
	      EVP_DigestUpdate(md, about, sizeof about) == 1 &&
	      EVP_DigestUpdate(md, key->kid, strlen(key->kid) + 1) == 1 &&
	      EVP_DigestUpdate(md, key->verify, (size_t)key->verify_len) == 1 &&
	      EVP_DigestFinal_ex(md, digest, NULL) == 1);
	EVP_MD_CTX_free(md);
	memcpy(&print, digest, sizeof print);
	return print;
}

struct token_keys *token_keys_load(const char *path, struct buf *why)
{
	struct reader r = { .path = path, .why = why };
	struct token_keys *keys;
	char line[LINE_SIZE];
	const char *what = "";
	bool good = true;
	FILE *in = open_file(path, &what);

	if (in == NULL) {
		buf_printf(why, "%s: %s\n", path, what);
		return NULL;
	}
	keys = xcalloc(1, sizeof *keys);
	keys->keys = xcalloc(KEYS_MAX, sizeof *keys->keys);
	while (good && fgets(line, sizeof line, in) != NULL) {
		r.line++;
		good = strchr(line, '\n') != NULL || feof(in)
			       ? read_line(&r, line, keys)
			       : complain(&r, "the line is too long");
	}
	OPENSSL_cleanse(line, sizeof line);
	(void)fclose(in);
	for (size_t i = 0; good && i < keys->count; i++) {
		keys->keys[i].print = print_of(&keys->keys[i]);
	}
	if (good && keys->count == 0) {
		buf_printf(why, "%s: there is no key in it\n", path);
		good = false;
	}
	if (!good) {
		token_keys_free(keys);
		return NULL;
	}
	return keys;
}

void token_keys_free(struct token_keys *keys)
{
	if (keys == NULL) {
		return;
	}
	for (size_t i = 0; i < keys->count; i++) {
		struct token_key *key = &keys->keys[i];

		if (key->sign != NULL) {
			OPENSSL_cleanse(key->sign, (size_t)key->sign_len);
		}
		if (key->verify != NULL) {
			OPENSSL_cleanse(key->verify, (size_t)key->verify_len);
		}
		free(key->sign);
		free(key->verify);
		free(key->kid);
	}
	free(keys->keys);
	free(keys);
}

size_t token_keys_count(const struct token_keys *keys)
{
	return keys->count;
}

bool token_keys_hold(const struct token_keys *keys, uint64_t key)
{
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->keys[i].print == key) {
			return true;
		}
	}
	return false;
}

const struct token_key *token_keys_find(const struct token_keys *keys,
					const char *kid)
{
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->keys[i].kid != NULL &&
		    strcmp(keys->keys[i].kid, kid) == 0) {
			return &keys->keys[i];
		}
	}
	return NULL;
}

const struct token_key *token_keys_signer(const struct token_keys *keys,
					  const char *kid)
{
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->keys[i].sign != NULL &&
		    (kid == NULL || strcmp(keys->keys[i].kid, kid) == 0)) {
			return &keys->keys[i];
		}
	}
	return NULL;
}
