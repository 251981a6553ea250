#include "gateway/hello.h"

#include "base/clock.h"
#include "base/err.h"
#include "gateway/loop.h"
#include "gateway/reply.h"
#include "gateway/throttle.h"
#include "proto/proto_util.h"

/* Only in development: a token of the form of a user id is one. No JWT is as
 * short as an id may be. */
static int trust_plain(struct bytes token, struct token_claims *claims)
{
	*claims = (struct token_claims){ .user_len = token.n,
					 .expires_ms = INT64_MAX };
	memcpy(claims->user, token.p, token.n);
	return 0;
}

static int identify(const struct gateway_loop *l, struct bytes token,
		    struct token_claims *claims, const char **why)
{
	if (l->options->trust_plain_users && id_valid(token)) {
		return trust_plain(token, claims);
	}
	if (l->keys == NULL) {
		*why = "the token is not a user id: " ID_RULE;
		return ERR_DENIED;
	}
	return token_verify(key_set_keys(l->keys), token, clock_wall_ms(),
			    claims, why);
}

/* Its token was not looked at; one that it has is not lost. */
static void refuse_pace(struct session *s, uint64_t seq,
			const struct throttle_hit *hit)
{
	if (s->state == SESSION_GREETING) {
		session_end_after(s, seq, RAIN__ERROR_CODE__TOO_FAST, hit);
		return;
	}
	gateway_refused(hit->why);
	reply_error(s, seq, RAIN__ERROR_CODE__TOO_FAST, hit->message,
		    hit->retry_ms);
}

void hello_take(struct session *s, uint64_t seq, const Rain__Hello *m)
{
	struct token_claims claims;
	const char *why = "";
	struct throttle_hit hit;
	struct bytes user;

	if (m->protocol != 1) {
		session_end(s, seq, RAIN__ERROR_CODE__BAD_PROTOCOL,
			    REFUSAL_PROTOCOL,
			    "this gateway speaks protocol 1 only");
		return;
	}
	if (!throttle_hello(s, &hit)) {
		refuse_pace(s, seq, &hit);
		return;
	}
	if (identify(s->loop, from_pb(m->token), &claims, &why) != 0) {
		session_end(s, seq, RAIN__ERROR_CODE__BAD_TOKEN, REFUSAL_TOKEN,
			    why);
		return;
	}
	user = bytes_make(claims.user, claims.user_len);
	if (s->state == SESSION_SERVING &&
	    (!bytes_eq(user, session_user(s)) || claims.front != s->front)) {
		session_end(s, seq, RAIN__ERROR_CODE__BAD_TOKEN, REFUSAL_TOKEN,
			    "this connection belongs to another user or scope");
		return;
	}
	if (!session_serve(s, &claims)) {
		session_end(s, seq, RAIN__ERROR_CODE__UNAVAILABLE,
			    REFUSAL_LIMIT_TABLE,
			    "this gateway knows too many others");
		return;
	}
	reply_hello(s, seq);
}
