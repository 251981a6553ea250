/**
 * Whether a gateway may answer a tap itself. A pure decision.
 *
 * The last word about an activity is what the service told some user without a
 * packet: a status, under the activity's revision and number of packets, that
 * stands for some time. It says nothing about another user, who may have won
 * before. So it is told again only to a user whom the service has told that
 * very word already. That user had no packet then, and since then nobody could
 * win: that is what "stands" means, and what moves revision or number makes
 * another word. Whoever has a packet was told of it, not this word.
 *
 * That nothing has moved is known of the time at which the word was asked for.
 * So it is used only for EDGE_ROUNDS times `fresh` from then on, and asked for
 * again after `fresh`.
 */
#ifndef GATEWAY_EDGE_RULE_H
#define GATEWAY_EDGE_RULE_H

#include <stdbool.h>
#include <stdint.h>

/* In the second round one tap is on its way, and the others do not wait. */
enum { EDGE_ROUNDS = 2 };

/* A time in the loop's milliseconds that does not come. */
#define EDGE_ALWAYS UINT64_MAX

struct edge_view {
	uint64_t now_ms;
	uint64_t fresh_ms; /* 0: never answer here */
	/* The last word about the activity. */
	uint64_t word;     /* its number, 0: there is none */
	uint64_t asked_ms; /* when the call left that brought it last */
	uint64_t until_ms; /* it stands until then */
	bool asking;       /* a tap has gone through to ask for it again */
	/* What the service told this user last. */
	uint64_t told;          /* a word, 0: none */
	uint64_t told_until_ms; /* it stood for that long */
};

/** True: tell the user the last word. False: ask the service. */
bool edge_may_answer(const struct edge_view *v);

#endif
