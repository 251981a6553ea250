/*
 * token: what somebody else's program needs to speak to a gateway.
 */
#include <stdio.h>

#include "base/clock.h"
#include "console/command.h"
#include "console/output.h"
#include "proto/proto_util.h"

enum {
	TTL_S = 3600, /* as commands.c says */
	TTL_MAX_S = 366 * 86400,
};

/* Who signs, and how long it holds. */
struct signer {
	struct token_keys *keys;
	const char *kid; /* NULL: the first that signs */
	uint64_t ttl_s;
};

static bool take_signer(const struct ctl *ctl, const struct command *c,
			const struct arguments *a, struct signer *s,
			struct buf *why)
{
	s->kid = argument_option(c, a, "key");
	s->ttl_s = TTL_S;
	if (!argument_number(c, a, "ttl", 0, TTL_MAX_S, &s->ttl_s, why)) {
		return false;
	}
	s->keys = ctl_token_keys(ctl, why);
	return s->keys != NULL;
}

/* Append a token; activity may be NULL. */
static bool sign(const struct signer *s, const char *user, const char *activity,
		 bool front, struct buf *token, struct buf *why)
{
	struct token_claims claims = {
		.user_len = strlen(user),
		.activity_len = activity != NULL ? strlen(activity) : 0,
		.front = front,
		.expires_ms = clock_wall_ms() + (int64_t)s->ttl_s * 1000,
	};

	memcpy(claims.user, user, claims.user_len);
	if (activity != NULL) {
		memcpy(claims.activity, activity, claims.activity_len);
	}
	return token_sign_claims(s->keys, s->kid, &claims, token, why) == 0;
}

/* The ids are valid: command.c looks at each USER and ID. */
int run_token(struct ctl *ctl, const struct command *c,
	      const struct arguments *a)
{
	struct signer signer = { 0 };
	struct buf out;
	struct buf why;
	int rc = CTL_OK;

	buf_init(&out);
	buf_init(&why);
	if (!take_signer(ctl, c, a, &signer, &why) ||
	    !sign(&signer, a->values[0], argument_option(c, a, "activity"),
		  argument_option(c, a, "front") != NULL, &out, &why)) {
		rc = output_error(ctl, CTL_USAGE, c->words, buf_live(&why));
	} else if (ctl->json) {
		output_print(ctl,
			     json_pack("{s:o}", "token",
				       output_text(to_pb(buf_live(&out)))));
	} else {
		printf("%.*s\n", BYTES_FMT(buf_live(&out)));
	}
	token_keys_free(signer.keys);
	buf_close(&out);
	buf_close(&why);
	return rc;
}
