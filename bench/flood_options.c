/* What is asked of the flood; flood.c says what there is. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "bench/flood.h"
#include "token/token.h"

void flood_stop(const char *why)
{
	(void)fprintf(stderr, "flood: %s\n", why);
	exit(1);
}

static void take_gateways(struct flood_options *o, const char *list)
{
	while (*list != '\0' && o->gateway_count < FLOOD_GATEWAYS_MAX) {
		size_t len = strcspn(list, ",");

		(void)snprintf(o->gateways[o->gateway_count++],
			       sizeof o->gateways[0], "%.*s", (int)len, list);
		list += len + (list[len] == ',');
	}
}

static void take_option(struct flood_options *o, const char *arg)
{
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "rate=", &o->rate },
		{ "in_flight=", &o->in_flight },
		{ "seconds=", &o->seconds },
		{ "warm=", &o->warm },
		{ "users=", &o->users },
		{ "first=", &o->first },
		{ "connections=", &o->connections },
		{ "not_after=", &o->not_after },
	};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		size_t len = strlen(numbers[i].name);

		if (strncmp(arg, numbers[i].name, len) == 0 &&
		    bytes_to_u64(bytes_str(arg + len), 100000000,
				 numbers[i].value)) {
			return;
		}
	}
	if (strcmp(arg, "retry=honour") == 0) {
		o->retry = RETRY_HONOUR;
	} else if (strcmp(arg, "retry=ignore") == 0) {
		o->retry = RETRY_IGNORE;
	} else if (strcmp(arg, "retry=never") != 0) {
		flood_stop("what is that? The file says what can be asked for");
	}
}

void flood_take_options(struct flood_options *o, int argc, char **argv)
{
	if (argc < 4) {
		flood_stop(
			"usage: flood GATEWAYS KEYS ACTIVITY [NAME=VALUE]...");
	}
	*o = (struct flood_options){ .keys = argv[2],
				     .activity = argv[3],
				     .in_flight = 100,
				     .seconds = 5,
				     .warm = 1,
				     .connections = 8,
				     .users = 1000000 };
	take_gateways(o, argv[1]);
	for (int i = 4; i < argc; i++) {
		take_option(o, argv[i]);
	}
	if (o->gateway_count == 0 || o->connections == 0 ||
	    o->connections > FLOOD_CONNECTIONS_MAX || o->users == 0 ||
	    o->seconds <= o->warm || o->in_flight == 0 ||
	    o->in_flight > FLOOD_SEQS / 2) {
		flood_stop("a number is too small or too large");
	}
}

void flood_sign(struct flood *f)
{
	struct token_keys *keys;
	struct buf why;

	buf_init(&why);
	keys = token_keys_load(f->options.keys, &why);
	if (keys == NULL ||
	    token_sign(keys, NULL, BYTES("flood"), true,
		       clock_wall_ms() + 3600000, &f->token, &why) != 0) {
		flood_stop("no token could be signed");
	}
	token_keys_free(keys);
	buf_close(&why);
}
