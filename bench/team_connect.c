/* Connections: up before the first tap, and again when they were lost. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"
#include "bench/team.h"
#include "proto/proto_util.h"

enum {
	CONNECT_MS = 5000,
	GREETING_MAX =
		128,    /* at a time, so that no queue of the system fills */
	AGAIN_MS = 500, /* at most, until a lost one comes back */
	TOKEN_MS = 24 * 3600 * 1000,
	PING_EVERY_MS = 20000, /* until the gateway has said it */
};

static void became(struct connection *c, enum connection_state state)
{
	struct team *t = c->team;

	t->greeting += state == CONNECTION_GREETING;
	t->greeting -= c->state == CONNECTION_GREETING;
	c->state = state;
}

/* Once all connections of the team stand, or will not. */
static void look_if_standing(struct team *t)
{
	if (t->standing || t->connecting < t->count ||
	    atomic_load(&t->pulse.up) + t->refused < t->count) {
		return;
	}
	t->standing = true;
	atomic_fetch_add(&t->bench->standing, 1);
	t->bench->news(t->bench);
}

static void stands(struct connection *c)
{
	struct team *t = c->team;

	became(c, CONNECTION_UP);
	t->up_ms = uv_now(&t->loop);
	atomic_fetch_add(&t->pulse.up, 1);
	look_if_standing(t);
	team_connect(t);
	connection_go_on(c);
}

static void say_hello(struct connection *c)
{
	struct bench *b = c->team->bench;
	struct buf token;
	struct buf why;
	char user[32];

	if (b->options->scope == SCOPE_FRONT) {
		(void)app_client_hello(&c->client, buf_live(&b->front_token));
		return;
	}
	buf_init(&token);
	buf_init(&why);
	(void)snprintf(user, sizeof user, "u-%08" PRIu64,
		       b->options->first_user + c->user);
	if (token_sign(b->keys, NULL, bytes_str(user), false,
		       clock_wall_ms() + TOKEN_MS, &token, &why) != 0) {
		bench_stop("no token could be signed: %.*s",
			   BYTES_FMT(buf_live(&why)));
	}
	(void)app_client_hello(&c->client, buf_live(&token));
	buf_close(&token);
	buf_close(&why);
}

static void on_open(struct app_client *client)
{
	struct connection *c = client->ctx;

	if (c->team->bench->options->scope == SCOPE_ECHO) {
		stands(c);
	} else {
		say_hello(c);
	}
}

static void on_hello(struct app_client *client, uint64_t seq,
		     const Rain__HelloReply *m)
{
	struct connection *c = client->ctx;

	(void)seq;
	c->team->ping_every_ms = m->ping_every_ms;
	c->team->front_max = m->max_in_flight;
	if (c->state == CONNECTION_GREETING) {
		stands(c);
	}
}

static bool may_come_later(const Rain__Error *m)
{
	return m->code == RAIN__ERROR_CODE__UNAVAILABLE ||
	       m->code == RAIN__ERROR_CODE__TOO_FAST;
}

/* The gateway ends a connection with an Error, which says why. */
static void on_error(struct app_client *client, uint64_t seq,
		     const Rain__Error *m)
{
	struct connection *c = client->ctx;
	struct team *t = c->team;
	char text[sizeof t->refusal];

	(void)bytes_readable(from_pb(m->message), text, sizeof text);
	if (t->refusal[0] == '\0') {
		memcpy(t->refusal, text, sizeof text);
	}
	if (c->state == CONNECTION_UP) {
		if (!team_on_tap_error(c, seq)) {
			c->later_ms = m->retry_after_ms;
		}
		return;
	}
	if (may_come_later(m)) {
		t->tally->turned_away++;
		c->later_ms = m->retry_after_ms;
	} else if (!t->bench->options->idle) {
		bench_stop("the gateway refuses: %s", text);
	}
	app_client_close(&c->client);
}

static void again_later(struct connection *c, uint64_t ms)
{
	struct later l = { .connection = c, .connect = true };

	wheel_add(&c->team->wheel, ms, &l);
}

/* Before the first tap: without --idle all have to come up. */
static void never_came_up(struct connection *c, int why)
{
	struct team *t = c->team;
	const struct options *o = t->bench->options;

	if (o->idle) {
		if (t->refusal[0] == '\0') {
			(void)snprintf(t->refusal, sizeof t->refusal, "%s",
				       err_str(why));
		}
		became(c, CONNECTION_GONE);
		t->refused++;
		look_if_standing(t);
		team_connect(t);
	} else if (c->later_ms > 0) {
		again_later(c, c->later_ms);
	} else {
		bench_stop("%s: %s", o->targets[c->target], err_str(why));
	}
}

static void on_close(struct app_client *client, int why)
{
	struct connection *c = client->ctx;
	struct team *t = c->team;
	bool was_up = c->state == CONNECTION_UP;

	if (was_up) {
		atomic_fetch_sub(&t->pulse.up, 1);
	}
	became(c, CONNECTION_DOWN);
	if (t->leaving) {
		return;
	}
	if (c->moving) {
		c->moving = false;
		connection_again(c);
		return;
	}
	if (!was_up && atomic_load(&t->bench->began_us) == 0) {
		never_came_up(c, why);
		return;
	}
	t->tally->closed += was_up;
	if (t->bench->options->idle) {
		became(c, CONNECTION_GONE);
		return;
	}
	connection_lose_taps(c);
	c->target = (c->target + 1) % t->bench->options->target_count;
	again_later(c, c->later_ms > 0 ? c->later_ms : rand_below(AGAIN_MS));
}

static const struct app_client_ops ops = { .on_open = on_open,
					   .on_hello = on_hello,
					   .on_grab = team_on_grab,
					   .on_error = on_error,
					   .on_close = on_close };

void connection_again(struct connection *c)
{
	struct team *t = c->team;

	if (t->leaving) {
		return;
	}
	c->later_ms = 0;
	became(c, CONNECTION_GREETING);
	app_client_connect(&c->client, t->hub,
			   t->bench->options->targets[c->target], CONNECT_MS,
			   &ops);
}

void team_connect(struct team *t)
{
	while (t->connecting < t->count && t->greeting < GREETING_MAX) {
		connection_again(&t->connections[t->connecting++]);
	}
}

void connection_next_user(struct connection *c)
{
	struct team *t = c->team;
	const struct options *o = t->bench->options;

	if (o->scope != SCOPE_USER || c->done || c->moving ||
	    !walk_over(&c->walk) || c->taps.open > 0 || c->waiting > 0) {
		return;
	}
	/* Who shares its user with other connections has no other. */
	if (o->users <= o->conns || c->user + o->conns >= o->users) {
		c->done = true;
		t->done++;
		team_step(t);
		return;
	}
	if (team_over(t, clock_mono_us())) {
		return;
	}
	c->user += o->conns;
	c->walk.at = 0;
	c->moving = true;
	app_client_close(&c->client);
}

/* A gateway closes who is silent for three times as long. */
void team_ping(struct team *t)
{
	uint64_t every =
		t->ping_every_ms > 0 ? t->ping_every_ms : PING_EVERY_MS;
	/* With each tick, such that all are looked at in half that time. */
	uint64_t n = t->count * 20 / every + 1;
	uint64_t now = uv_now(&t->loop);

	if (t->bench->options->scope == SCOPE_ECHO) {
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		struct connection *c = &t->connections[t->ping_at];

		t->ping_at = t->ping_at + 1 == t->count ? 0 : t->ping_at + 1;
		if (c->state == CONNECTION_UP &&
		    now - c->client.stream.last_in_ms > every / 2) {
			(void)app_client_ping(&c->client);
		}
	}
}
