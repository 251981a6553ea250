#include "gateway/mailbox.h"

#include <stdlib.h>

#include <utlist.h>

#include "base/check.h"

void mailbox_init(struct mailbox *m)
{
	m->first = NULL;
	check(uv_mutex_init(&m->lock) == 0);
}

void mailbox_close(struct mailbox *m)
{
	struct mail mail;

	while (mailbox_take(m, &mail)) {
		check(mail.kind != MAIL_SOCKET);
		key_set_drop(mail.keys);
		free(mail.rates);
	}
	uv_mutex_destroy(&m->lock);
}

void mailbox_put(struct mailbox *m, const struct mail *mail)
{
	struct mail *copy = xmalloc(sizeof(*copy));

	*copy = *mail;
	uv_mutex_lock(&m->lock);
	DL_APPEND(m->first, copy);
	uv_mutex_unlock(&m->lock);
}

bool mailbox_take(struct mailbox *m, struct mail *out)
{
	struct mail *mail;

	uv_mutex_lock(&m->lock);
	mail = m->first;
	if (mail != NULL) {
		DL_DELETE(m->first, mail);
	}
	uv_mutex_unlock(&m->lock);
	if (mail == NULL) {
		return false;
	}
	*out = *mail;
	free(mail);
	return true;
}
