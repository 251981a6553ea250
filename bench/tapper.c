/*
 * A crowd that rainctl quiz does not play: many connections of one user who
 * all tap at once, or few `front` connections that carry many users.
 *
 *   tapper same  GATEWAYS KEYS ACTIVITY CONNECTIONS GRABS
 *   tapper front GATEWAYS KEYS ACTIVITY CONNECTIONS USERS
 *
 * Prints one JSON object: answers per status, users with a packet, distinct
 * packets, answers per second and their latency. A packet where none should be,
 * or none where one should, ends it with an error.
 */
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/histogram.h"
#include "client/app_client.h"
#include "proto/proto_util.h"
#include "token/token.h"

enum {
	IN_FLIGHT = 32,
	SEQS = 4096, /* answers may overtake one another, but not so far */
	CONNECTIONS_MAX = 256,
	LIMIT_MS = 300000,
};

struct tapper;

struct connection {
	struct app_client client;
	struct tapper *t;
	uint64_t asked;         /* grabs sent */
	uint64_t sent_us[SEQS]; /* by seq modulo their number */
	uint64_t answered;
};

struct tapper {
	uv_loop_t loop;
	struct stream_hub *hub;
	struct connection connections[CONNECTIONS_MAX];
	uint64_t connection_count;
	bool front;
	const char *activity;
	uint64_t wanted; /* grabs: of each connection, or users in all */
	uint64_t next_user;
	uint64_t ready;
	uint64_t open;
	uint64_t statuses[16];
	uint64_t broken;
	uint64_t began_us; /* when the first grab left */
	uint64_t ended_us; /* when the last answer came */
	struct histogram latency;
	json_t *packets; /* id -> how often */
	struct buf token;
};

static void stop(const char *why)
{
	fprintf(stderr, "tapper: %s\n", why);
	exit(1);
}

static void grab_more(struct connection *c)
{
	struct tapper *t = c->t;

	while (c->asked - c->answered < IN_FLIGHT) {
		char user[32] = "";
		uint64_t seq;

		if (!t->front) {
			if (c->asked == t->wanted) {
				break;
			}
		} else {
			if (t->next_user == t->wanted) {
				break;
			}
			snprintf(user, sizeof user, "u-%06" PRIu64,
				 t->next_user++);
		}
		seq = app_client_grab(&c->client, bytes_str(t->activity),
				      bytes_str(user), 1, 0);
		c->sent_us[seq % SEQS] = clock_mono_us();
		c->asked++;
	}
	if (c->asked == c->answered) {
		app_client_close(&c->client);
	}
}

static void on_open(struct app_client *client)
{
	struct connection *c = container_of(client, struct connection, client);

	app_client_hello(client, buf_live(&c->t->token));
}

/* All connections stand before the first grab leaves. */
static void on_hello(struct app_client *client, uint64_t seq,
		     const Rain__HelloReply *m)
{
	struct connection *c = container_of(client, struct connection, client);
	struct tapper *t = c->t;

	(void)seq;
	(void)m;
	if (++t->ready < t->connection_count) {
		return;
	}
	t->began_us = clock_mono_us();
	for (uint64_t i = 0; i < t->connection_count; i++) {
		grab_more(&t->connections[i]);
	}
}

static void on_grab(struct app_client *client, uint64_t seq,
		    const Rain__GrabReply *m)
{
	struct connection *c = container_of(client, struct connection, client);
	struct tapper *t = c->t;
	unsigned status = (unsigned)m->status;
	bool won = status == RAIN__STATUS__WON ||
		   status == RAIN__STATUS__ALREADY_GRABBED;

	t->ended_us = clock_mono_us();
	histogram_add(&t->latency, t->ended_us - c->sent_us[seq % SEQS]);
	t->statuses[status < 16 ? status : 0]++;
	if (won != (m->red_packet != NULL)) {
		stop("a packet where none should be, or none where one should");
	}
	if (won) {
		char id[64];
		json_t *n;

		snprintf(id, sizeof id, "%.*s",
			 BYTES_FMT(from_pb(m->red_packet->red_packet_id)));
		n = json_object_get(t->packets, id);
		json_object_set_new(t->packets, id,
				    json_integer(json_integer_value(n) + 1));
	}
	c->answered++;
	grab_more(c);
}

static void on_close(struct app_client *client, int why)
{
	struct connection *c = container_of(client, struct connection, client);

	(void)why;
	c->t->open--;
	c->t->broken += c->asked != c->answered || c->asked == 0;
}

static void timer_cb(uv_timer_t *timer)
{
	(void)timer;
	stop("not done within two minutes");
}

static const struct app_client_ops ops = { .on_open = on_open,
					   .on_hello = on_hello,
					   .on_grab = on_grab,
					   .on_close = on_close };

static void connect_all(struct tapper *t, const char *gateways)
{
	char list[16][64];
	size_t n = 0;

	while (*gateways != '\0' && n < 16) {
		size_t len = strcspn(gateways, ",");

		snprintf(list[n++], sizeof list[0], "%.*s", (int)len, gateways);
		gateways += len + (gateways[len] == ',');
	}
	for (uint64_t i = 0; i < t->connection_count; i++) {
		t->connections[i].t = t;
		t->open++;
		app_client_connect(&t->connections[i].client, t->hub,
				   list[i % n], 5000, &ops);
	}
}

static void sign(struct tapper *t, const char *path)
{
	struct token_keys *keys;
	struct buf why;

	buf_init(&why);
	keys = token_keys_load(path, &why);
	if (keys == NULL ||
	    token_sign(keys, NULL, BYTES("tapper"), t->front,
		       clock_wall_ms() + 600000, &t->token, &why) != 0) {
		stop("no token could be signed");
	}
	token_keys_free(keys);
	buf_close(&why);
}

static void print(const struct tapper *t)
{
	static const struct {
		const char *name;
		double fraction;
	} shown[] = { { "p50_ms", 0.5 }, { "p99_ms", 0.99 }, { "max_ms", 1 } };
	json_t *out = json_object();
	uint64_t answers = 0;

	for (int i = 0; i < 16; i++) {
		const ProtobufCEnumValue *v =
			protobuf_c_enum_descriptor_get_value(
				&rain__status__descriptor, i);

		answers += t->statuses[i];
		if (t->statuses[i] > 0) {
			json_object_set_new(
				out, v != NULL ? v->name : "?",
				json_integer((json_int_t)t->statuses[i]));
		}
	}
	json_object_set_new(out, "answers", json_integer((json_int_t)answers));
	json_object_set_new(
		out, "packets",
		json_integer((json_int_t)json_object_size(t->packets)));
	json_object_set_new(
		out, "per_second",
		json_integer((json_int_t)(answers * 1000000 /
					  (t->ended_us - t->began_us + 1))));
	for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		json_object_set_new(
			out, shown[i].name,
			json_real((double)histogram_percentile(
					  &t->latency, shown[i].fraction) /
				  1e3));
	}
	json_object_set_new(out, "broken", json_integer((json_int_t)t->broken));
	json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
	printf("\n");
	json_decref(out);
}

int main(int argc, char **argv)
{
	struct tapper *t = calloc(1, sizeof *t);
	uv_timer_t timer;

	if (argc != 7 || t == NULL) {
		stop("usage: same|front GATEWAYS KEYS ACTIVITY CONNECTIONS N");
	}
	signal(SIGPIPE, SIG_IGN);
	t->front = strcmp(argv[1], "front") == 0;
	t->activity = argv[4];
	if (!bytes_to_u64(bytes_str(argv[5]), CONNECTIONS_MAX,
			  &t->connection_count) ||
	    !bytes_to_u64(bytes_str(argv[6]), 10000000, &t->wanted)) {
		stop("not a number, or too large");
	}
	t->packets = json_object();
	buf_init(&t->token);
	sign(t, argv[3]);
	uv_loop_init(&t->loop);
	t->hub = stream_hub_new(&t->loop);
	uv_timer_init(&t->loop, &timer);
	uv_timer_start(&timer, timer_cb, LIMIT_MS, 0);
	uv_unref((uv_handle_t *)&timer);
	connect_all(t, argv[2]);
	while (t->open > 0) {
		uv_run(&t->loop, UV_RUN_ONCE);
	}
	print(t);
	json_decref(t->packets);
	buf_close(&t->token);
	uv_close((uv_handle_t *)&timer, NULL);
	stream_hub_free(t->hub);
	uv_run(&t->loop, UV_RUN_DEFAULT);
	uv_loop_close(&t->loop);
	free(t);
	return 0;
}
