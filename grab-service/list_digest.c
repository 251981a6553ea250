#include "list_digest.h"

#include <openssl/evp.h>

#include "base/rand.h"

void list_digest_init(struct list_digest *d)
{
	d->sha = EVP_MD_CTX_new();
	check(d->sha != NULL);
	check(EVP_DigestInit_ex(d->sha, EVP_sha256(), NULL) == 1);
}

void list_digest_close(struct list_digest *d)
{
	EVP_MD_CTX_free(d->sha);
	d->sha = NULL;
}

void list_digest_add(struct list_digest *d, const struct packet *p)
{
	char text[PACKET_TEXT_MAX];
	size_t n = packet_format(p, text);

	text[n] = '\n'; /* in place of the NUL */
	check(EVP_DigestUpdate(d->sha, text, n + 1) == 1);
}

void list_digest_hex(struct list_digest *d, char out[LIST_DIGEST_TEXT])
{
	uint8_t digest[(LIST_DIGEST_TEXT - 1) / 2];

	check(EVP_DigestFinal_ex(d->sha, digest, NULL) == 1);
	hex_encode(digest, sizeof(digest), out);
}
