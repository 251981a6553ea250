/*
 * token and messages: what somebody else's program needs to speak to a gateway.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/rand.h"
#include "console/command.h"
#include "console/output.h"
#include "proto/proto_util.h"
#include "rain/gateway.pb-c.h"

enum {
	TTL_S = 3600, /* as commands.c says */
	TTL_MAX_S = 366 * 86400,
	USERS = 1000,
	USERS_MAX = 1000000,
	FIRST_USER_MAX = 100000000,
};

/* The options that both have, and what they lead to. */
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

/* A message as hex with a NUL; free it. */
static char *packed_hex(const Rain__ClientMessage *m)
{
	size_t n = rain__client_message__get_packed_size(m);
	uint8_t *packed = xcalloc(n, 1);
	char *hex = xcalloc(2 * n + 1, 1);

	check(rain__client_message__pack(m, packed) == n);
	hex_encode(packed, n, hex);
	free(packed);
	return hex;
}

static char *hello_hex(struct bytes token)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Hello hello = RAIN__HELLO__INIT;

	hello.token = to_pb(token);
	hello.protocol = 1;
	m.seq = 1;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_HELLO;
	m.hello = &hello;
	return packed_hex(&m);
}

/* A first tap, worth something for a second after it came. */
static char *grab_hex(const char *activity)
{
	Rain__ClientMessage m = RAIN__CLIENT_MESSAGE__INIT;
	Rain__Grab grab = RAIN__GRAB__INIT;

	grab.activity_id = to_pb_str(activity);
	m.seq = 2;
	m.body_case = RAIN__CLIENT_MESSAGE__BODY_GRAB;
	m.grab = &grab;
	return packed_hex(&m);
}

/* One user: a line, or an object of list. */
static void print_messages(json_t *list, const char *user, const char *hello,
			   const char *grab)
{
	if (list != NULL) {
		json_array_append_new(list,
				      json_pack("{s:s,s:s,s:s}", "user", user,
						"hello", hello, "grab", grab));
	} else {
		printf("%s,%s,%s\n", user, hello, grab);
	}
}

static bool messages(const struct signer *signer, const char *activity,
		     uint64_t first, uint64_t users, json_t *list,
		     struct buf *why)
{
	char *grab = grab_hex(activity);
	bool good = true;

	for (uint64_t i = first; i < first + users && good; i++) {
		struct buf token;
		char user[ID_MAX + 1];

		buf_init(&token);
		snprintf(user, sizeof user, "u-%08" PRIu64, i);
		good = sign(signer, user, activity, false, &token, why);
		if (good) {
			char *hello = hello_hex(buf_live(&token));

			print_messages(list, user, hello, grab);
			free(hello);
		}
		buf_close(&token);
	}
	free(grab);
	return good;
}

int run_messages(struct ctl *ctl, const struct command *c,
		 const struct arguments *a)
{
	struct signer signer = { 0 };
	uint64_t first = 0;
	uint64_t users = USERS;
	json_t *list = ctl->json ? json_array() : NULL;
	struct buf why;
	int rc = CTL_OK;

	buf_init(&why);
	if (!argument_number(c, a, "users", 1, USERS_MAX, &users, &why) ||
	    !argument_number(c, a, "first-user", 0, FIRST_USER_MAX, &first,
			     &why) ||
	    !take_signer(ctl, c, a, &signer, &why) ||
	    !messages(&signer, a->values[0], first, users, list, &why)) {
		rc = output_error(ctl, CTL_USAGE, c->words, buf_live(&why));
		json_decref(list);
	} else if (list != NULL) {
		output_print(ctl, list);
	}
	token_keys_free(signer.keys);
	buf_close(&why);
	return rc;
}
