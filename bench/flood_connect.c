/* The connections of the flood: up before the first tap, and again when lost. */
#include "base/clock.h"
#include "base/rand.h"
#include "bench/flood.h"

enum { AGAIN_MS = 500 /* at most, until a lost connection comes back */ };

static void begin(struct flood *f)
{
	f->began_us = clock_mono_us();
	f->count_from_us = f->began_us + f->options.warm * 1000000;
	f->ends_us = f->began_us + f->options.seconds * 1000000;
	for (uint64_t i = 0; i < f->options.connections; i++) {
		flood_go_on(&f->connections[i]);
	}
}

static void on_open(struct app_client *client)
{
	struct flood_connection *c = client->ctx;

	app_client_hello(client, buf_live(&c->flood->token));
}

/* All connections stand before the first tap leaves. */
static void on_hello(struct app_client *client, uint64_t seq,
		     const Rain__HelloReply *m)
{
	struct flood_connection *c = client->ctx;
	struct flood *f = c->flood;

	(void)seq;
	(void)m;
	c->up = true;
	f->up++;
	if (f->began_us != 0) {
		flood_go_on(c);
	} else if (f->up == f->options.connections) {
		begin(f);
	}
}

static void connect_it(struct flood_connection *c);

static void again_cb(uv_timer_t *timer)
{
	connect_it(timer->data);
}

/* Nobody knows what became of them. */
static void lose_taps(struct flood_connection *c)
{
	struct flood *f = c->flood;

	for (size_t i = 0; i < FLOOD_SEQS && c->open > 0; i++) {
		struct flood_tap *t = &c->taps[i];

		if (t->due_us != 0) {
			t->due_us = 0;
			c->open--;
			f->lost++;
			flood_doubt(f, t->user, true);
			flood_tap_later(f, t->user, 0);
		}
	}
}

static void on_close(struct app_client *client, int why)
{
	struct flood_connection *c = client->ctx;
	struct flood *f = c->flood;

	(void)why;
	f->up -= c->up;
	c->up = false;
	if (f->leaving) {
		return;
	}
	f->closed++;
	lose_taps(c);
	c->index++; /* the next gateway */
	(void)uv_timer_start(&c->again, again_cb, rand_below(AGAIN_MS), 0);
}

static const struct app_client_ops ops = { .on_open = on_open,
					   .on_hello = on_hello,
					   .on_grab = flood_on_grab,
					   .on_error = flood_on_error,
					   .on_close = on_close };

static void connect_it(struct flood_connection *c)
{
	struct flood *f = c->flood;

	c->client.ctx = c;
	app_client_connect(
		&c->client, f->hub,
		f->options.gateways[c->index % f->options.gateway_count], 5000,
		&ops);
}

void flood_connect(struct flood *f)
{
	for (uint64_t i = 0; i < f->options.connections; i++) {
		struct flood_connection *c = &f->connections[i];

		c->flood = f;
		c->index = i;
		c->taps = xcalloc(FLOOD_SEQS, sizeof c->taps[0]);
		(void)uv_timer_init(&f->loop, &c->again);
		c->again.data = c;
		connect_it(c);
	}
}
