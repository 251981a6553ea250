/**
 * A page of claims on its way from Redis to whoever compares: kept as text
 * until the hash of users is read too, so that a claim and what its user is
 * told are compared to the letter.
 */
#ifndef GRAB_CLAIM_PAGE_H
#define GRAB_CLAIM_PAGE_H

#include <hiredis/hiredis.h>

#include "base/buf.h"
#include "net/dubbo_server.h"
#include "rain/activity_service.pb-c.h"

#include "claim.h"

/* Zeroed is empty. */
struct claim_page {
	struct buf texts;   /* of all elements, end to end */
	size_t *ends;       /* of each in texts; owned */
	size_t added;       /* elements */
	struct claim *list; /* views into texts; owned */
	size_t count;       /* of list: claims that could be parsed */
};

/** Append a copy of an element. */
void claim_page_add(struct claim_page *p, struct bytes text);

/** Once, after all were added. False if element number count is no claim: then
 * *why (static) says what is wrong, and list has those before it. */
must_check bool claim_page_parse(struct claim_page *p, const char **why);

/** Answer with a ClaimsReply of the claims in list. users is the reply to HMGET
 * for their users, in order, or NULL if they were not asked. */
void claim_page_reply(const struct claim_page *p, struct dubbo_call *call,
		      Rain__Outcome outcome, const char *message,
		      uint64_t total, const redisReply *users);

/** Free everything; it is empty then. */
void claim_page_drop(struct claim_page *p);

#endif
