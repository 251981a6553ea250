#include "claim_page.h"

#include <stdlib.h>

#include "proto/proto_util.h"

void claim_page_add(struct claim_page *p, struct bytes text)
{
	p->ends = xrealloc(p->ends, (p->added + 1) * sizeof(*p->ends));
	buf_put_bytes(&p->texts, text);
	p->ends[p->added++] = buf_len(&p->texts);
}

static struct bytes text_of(const struct claim_page *p, size_t i)
{
	size_t from = i > 0 ? p->ends[i - 1] : 0;

	return bytes_make(buf_live(&p->texts).p + from, p->ends[i] - from);
}

bool claim_page_parse(struct claim_page *p, const char **why)
{
	p->list = xcalloc(p->added + 1, sizeof(*p->list));
	for (; p->count < p->added; p->count++) {
		if (!claim_parse(text_of(p, p->count), &p->list[p->count],
				 why)) {
			return false;
		}
	}
	return true;
}

enum { ANSWER_MAX = 512 }; /* a claim has at most half of that */

/* Only what differs from the claim is an answer worth a word. */
static void set_answer(const struct claim_page *p, size_t i,
		       const redisReply *user, Rain__Claim *m,
		       Rain__Answer *answer)
{
	struct bytes text = { 0 };

	if (user->type == REDIS_REPLY_STRING) {
		text = bytes_make(user->str, (size_t)user->len);
	}
	if (!bytes_eq(text, text_of(p, i))) {
		*answer = (Rain__Answer)RAIN__ANSWER__INIT;
		text.n = text.n < ANSWER_MAX ? text.n : ANSWER_MAX;
		answer->text = to_pb(text);
		m->answer = answer;
	}
}

void claim_page_reply(const struct claim_page *p, struct dubbo_call *call,
		      Rain__Outcome outcome, const char *message,
		      uint64_t total, const redisReply *users)
{
	Rain__ClaimsReply m = RAIN__CLAIMS_REPLY__INIT;
	Rain__Claim *claims = xcalloc(p->count + 1, sizeof(*claims));
	Rain__Claim **list = xcalloc(p->count + 1, sizeof(Rain__Claim *));
	Rain__Answer *answers = xcalloc(p->count + 1, sizeof(*answers));

	check(users == NULL || (size_t)users->elements == p->count);
	for (size_t i = 0; i < p->count; i++) {
		const struct claim *c = &p->list[i];

		claims[i] = (Rain__Claim)RAIN__CLAIM__INIT;
		claims[i].red_packet_id = to_pb(c->packet.red_packet_id);
		claims[i].amount_cents = c->packet.amount_cents;
		claims[i].user_id = to_pb(c->user_id);
		claims[i].seq = c->seq;
		claims[i].at_ms = c->at_ms;
		claims[i].tranche = c->tranche;
		if (users != NULL) {
			set_answer(p, i, users->element[i], &claims[i],
				   &answers[i]);
		}
		list[i] = &claims[i];
	}
	m.outcome = outcome;
	m.message = to_pb_str(message);
	m.claims = list;
	m.n_claims = p->count;
	m.total = total;
	dubbo_reply(call, &m.base);
	free(answers);
	free(list);
	free(claims);
}

void claim_page_drop(struct claim_page *p)
{
	buf_close(&p->texts);
	free(p->ends);
	free(p->list);
	*p = (struct claim_page){ 0 };
}
