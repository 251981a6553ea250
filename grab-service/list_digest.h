/**
 * The digest of an adopted list: SHA-256 over its packets in the order in which
 * they are taken, each as packet_format() writes it and ended by '\n', in
 * lower-case hex. An amount that lies there as "12.2" counts as "12.20": what
 * is compared is who gets how much.
 */
#ifndef GRAB_LIST_DIGEST_H
#define GRAB_LIST_DIGEST_H

#include "claim.h"

enum { LIST_DIGEST_TEXT = 65 }; /* with its NUL */

struct list_digest {
	void *sha; /* EVP_MD_CTX */
};

/** To be closed again. */
void list_digest_init(struct list_digest *d);
void list_digest_close(struct list_digest *d);

/** The next packet. */
void list_digest_add(struct list_digest *d, const struct packet *p);
/** Write it, once, after all were added. */
void list_digest_hex(struct list_digest *d, char out[LIST_DIGEST_TEXT]);

#endif
