#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"
#include "console/command.h"
#include "console/output.h"
#include "token/token.h"

static int sign(const struct token_keys *keys, const struct command *c,
		const struct arguments *a, int64_t ttl_ms, struct buf *out,
		struct buf *why)
{
	const char *activity = argument_option(c, a, "activity");
	struct token_claims claims = {
		.user_len = strlen(a->values[0]),
		.activity_len = activity != NULL ? strlen(activity) : 0,
		.front = argument_option(c, a, "front") != NULL,
		.expires_ms = clock_wall_ms() + ttl_ms,
	};

	if (claims.user_len > ID_MAX || claims.activity_len > ID_MAX ||
	    (activity != NULL && claims.activity_len == 0)) {
		buf_printf(why, "ids of a user and an activity must be %s\n",
			   ID_RULE);
		return ERR_DENIED;
	}
	memcpy(claims.user, a->values[0], claims.user_len);
	if (activity != NULL) {
		memcpy(claims.activity, activity, claims.activity_len);
	}
	return token_sign_claims(keys, argument_option(c, a, "key"), &claims,
				 out, why);
}

int run_token(struct ctl *ctl, const struct command *c,
	      const struct arguments *a)
{
	const char *ttl_text = argument_option(c, a, "ttl");
	struct token_keys *keys;
	struct buf out;
	struct buf why;
	uint64_t ttl = 3600;
	int rc = CTL_USAGE;

	buf_init(&out);
	buf_init(&why);
	if (ttl_text != NULL &&
	    !bytes_to_u64(bytes_str(ttl_text), 366 * 86400, &ttl)) {
		buf_printf(&why, "--ttl %s: allowed: seconds, 0 to %d",
			   ttl_text, 366 * 86400);
	} else if (ctl->options.gateway_keys[0] == '\0') {
		buf_printf(&why, "signing needs --set gateway.keys=FILE");
	} else if ((keys = token_keys_load(ctl->options.gateway_keys, &why)) !=
		   NULL) {
		if (sign(keys, c, a, (int64_t)ttl * 1000, &out, &why) == 0) {
			rc = CTL_OK;
		}
		token_keys_free(keys);
	}
	if (rc != CTL_OK) {
		output_error(ctl, rc, c->words, buf_live(&why));
	} else if (ctl->json) {
		output_print(ctl, json_pack("{s:s#}", "token",
					    (const char *)buf_live(&out).p,
					    (int)buf_len(&out)));
	} else {
		printf("%.*s\n", BYTES_FMT(buf_live(&out)));
	}
	buf_close(&out);
	buf_close(&why);
	return rc;
}

/* Below the range from which the system takes ports for outgoing connections:
 * one that is free now would else be gone when the server starts again. */
enum { PORT_MIN = 15000, PORT_MAX = 32000, PORTS_MAX = 64 };

/* A socket bound to port, or -1 if it is taken. */
static int bind_port(int port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons((uint16_t)port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&sa, sizeof sa) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int run_ports(struct ctl *ctl, const struct command *c,
	      const struct arguments *a)
{
	json_t *list = json_array();
	int fds[PORTS_MAX];
	uint64_t wanted;
	size_t got = 0;

	if (!bytes_to_u64(bytes_str(a->values[0]), PORTS_MAX, &wanted) ||
	    wanted == 0) {
		json_decref(list);
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("COUNT: allowed: 1 to 64"));
	}
	for (int tries = 0; got < wanted && tries < 10000; tries++) {
		int port = PORT_MIN + (int)rand_below(PORT_MAX - PORT_MIN);

		fds[got] = bind_port(port);
		if (fds[got] >= 0) {
			json_array_append_new(list, json_integer(port));
			got++;
		}
	}
	/* All were held until here, so that no two are the same. */
	for (size_t i = 0; i < got; i++) {
		close(fds[i]);
	}
	if (got < wanted) {
		json_decref(list);
		return output_error(ctl, CTL_NO, c->words,
				    BYTES("no free ports"));
	}
	if (ctl->json) {
		output_print(ctl, list);
		return CTL_OK;
	}
	for (size_t i = 0; i < got; i++) {
		printf("%lld\n",
		       (long long)json_integer_value(json_array_get(list, i)));
	}
	json_decref(list);
	return CTL_OK;
}
