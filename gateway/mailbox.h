/**
 * Messages to a loop from other threads. Bounded by what sends them: a mail
 * per connection that was accepted, per reload, per drain.
 */
#ifndef GATEWAY_MAILBOX_H
#define GATEWAY_MAILBOX_H

#include <uv.h>

#include "gateway/key_set.h"

struct limited;
struct limit_rates;

enum mail_kind { MAIL_SOCKET, MAIL_KEYS, MAIL_RATES, MAIL_DRAIN };

struct mail {
	struct mail *next;
	struct mail *prev;
	enum mail_kind kind;
	int fd;                    /* MAIL_SOCKET; goes to the reader */
	struct limited *address;   /* MAIL_SOCKET; its pin goes along */
	struct key_set *keys;      /* MAIL_KEYS; goes to the reader */
	struct limit_rates *rates; /* MAIL_RATES; the reader frees them */
};

struct mailbox {
	uv_mutex_t lock;
	struct mail *first;
};

/** Start empty. */
void mailbox_init(struct mailbox *m);
/** Drops what nobody read. No socket is among that: a loop does not end before
 * its connections have. */
void mailbox_close(struct mailbox *m);

/** Put a copy; from any thread. */
void mailbox_put(struct mailbox *m, const struct mail *mail);

/** Take the oldest; false if there is none. */
bool mailbox_take(struct mailbox *m, struct mail *out);

#endif
