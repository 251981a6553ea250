/*
 * A crowd that does not wait: taps leave at a given rate, whatever becomes of
 * those before them, so that an overload is one. What latency is counts from
 * the moment a tap was due. With in_flight= in place of rate= it taps as fast
 * as answers come, which tells the best rate.
 *
 *   flood GATEWAYS KEYS ACTIVITY [NAME=VALUE]...
 *
 *   rate=N          taps a second            in_flight=N   of a connection
 *   seconds=N       how long                 warm=N        of these, not counted
 *   connections=N   with the scope front     users=N       who take turns
 *   retry=honour|ignore|never                when a tap was refused
 *   not_after=MS    how long a tap is worth something
 *   first=N         number of the first user
 *
 * Prints one JSON object.
 */
#include "bench/flood.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "proto/proto_util.h"

enum {
	TICK_MS = 1,
	ANSWERS_MS = 15000, /* how long the last answers may take */
	AGAIN_MS = 500,     /* until who finds no connection looks again */
	AT_ONCE_MAX = 2000, /* taps of one tick, so that answers are read */
};

/* ---- Taps ---- */

void flood_tap_later(struct flood *f, struct flood_user *u, uint64_t ms)
{
	uint64_t slots = ms / FLOOD_SLOT_MS + 1;

	if (slots >= FLOOD_SLOTS) {
		slots = FLOOD_SLOTS - 1;
	}
	u->away = true;
	if (u->waits) {
		return;
	}
	u->waits = true;
	u->next = f->slots[(f->slot + slots) % FLOOD_SLOTS];
	f->slots[(f->slot + slots) % FLOOD_SLOTS] = u;
}

static bool has_room(const struct flood_connection *c)
{
	/* An answer that is long in coming keeps its place. */
	return c->up &&
	       c->taps[(c->client.last_seq + 1) % FLOOD_SEQS].due_us == 0;
}

static struct flood_connection *pick(struct flood *f)
{
	for (uint64_t i = 0; i < f->options.connections; i++) {
		struct flood_connection *c =
			&f->connections[f->next_connection++ %
					f->options.connections];

		if (has_room(c)) {
			return c;
		}
	}
	return NULL;
}

/* The next user who is not waiting for something; a crowd that is too small
 * taps all the same. */
static struct flood_user *next_user(struct flood *f)
{
	struct flood_user *u = NULL;

	for (int i = 0; i < 64; i++) {
		u = &f->users[f->next_user++ % f->options.users];
		if (!u->away) {
			break;
		}
	}
	return u;
}

static void tap(struct flood_connection *c, struct flood_user *u,
		uint64_t due_us)
{
	struct flood *f = c->flood;
	char name[32];
	int64_t not_after = 0;
	struct flood_tap *t;
	uint64_t seq;

	(void)snprintf(name, sizeof name, "u-%08" PRIu64,
		       f->options.first + (uint64_t)(u - f->users));
	if (f->options.not_after > 0) {
		not_after = app_client_server_ms(&c->client) +
			    (int64_t)f->options.not_after;
	}
	seq = app_client_grab(&c->client, bytes_str(f->options.activity),
			      bytes_str(name), u->attempt, not_after);
	t = &c->taps[seq % FLOOD_SEQS];
	*t = (struct flood_tap){ .due_us = due_us, .seq = seq, .user = u };
	u->away = true;
	c->open++;
	f->sent++;
}

static bool over(const struct flood *f)
{
	return clock_mono_us() >= f->ends_us;
}

/* Those whose time to tap again has come. */
static void tap_again(struct flood *f, uint64_t now)
{
	uint64_t slot = (now - f->began_us) / 1000 / FLOOD_SLOT_MS;

	while (f->slot < slot) {
		struct flood_user *first = f->slots[++f->slot % FLOOD_SLOTS];

		f->slots[f->slot % FLOOD_SLOTS] = NULL;
		while (first != NULL) {
			struct flood_user *u = first;
			struct flood_connection *c = pick(f);

			first = u->next;
			u->away = false;
			u->waits = false;
			if (over(f) && !u->unsure) {
				continue;
			}
			if (c != NULL) {
				f->again++;
				tap(c, u, now);
			} else if (u->unsure) {
				flood_tap_later(f, u, AGAIN_MS);
			}
		}
	}
}

static void tap_on_time(struct flood *f, uint64_t now)
{
	uint64_t due = (now - f->began_us) * f->options.rate / 1000000;
	uint64_t first = f->sent - f->again + f->unsent;

	for (uint64_t n = first; n < due && n < first + AT_ONCE_MAX; n++) {
		struct flood_connection *c = pick(f);

		if (c == NULL) {
			f->unsent++;
			continue;
		}
		tap(c, next_user(f),
		    f->began_us + n * 1000000 / f->options.rate);
	}
}

static void leave(struct flood *f)
{
	f->leaving = true;
	(void)uv_timer_stop(&f->tick);
	for (uint64_t i = 0; i < f->options.connections; i++) {
		app_client_close(&f->connections[i].client);
		uv_close((uv_handle_t *)&f->connections[i].again, NULL);
	}
	uv_close((uv_handle_t *)&f->tick, NULL);
	uv_close((uv_handle_t *)&f->term, NULL);
}

static void tick_cb(uv_timer_t *timer)
{
	struct flood *f = timer->data;
	uint64_t now = clock_mono_us();
	uint64_t open = 0;

	if (f->began_us == 0) {
		return;
	}
	tap_again(f, now);
	if (!over(f)) {
		if (f->options.rate > 0) {
			tap_on_time(f, now);
		}
		return;
	}
	for (uint64_t i = 0; i < f->options.connections; i++) {
		open += f->connections[i].open;
	}
	if ((open == 0 && f->unsure == 0) ||
	    now > f->ends_us + ANSWERS_MS * 1000) {
		leave(f);
	}
}

/* ---- Answers ---- */

/* NULL if nobody asked for it. */
static struct flood_user *take_tap(struct flood_connection *c, uint64_t seq,
				   uint64_t *due_us)
{
	struct flood_tap *t = &c->taps[seq % FLOOD_SEQS];

	if (t->due_us == 0 || t->seq != seq) {
		c->flood->strange++;
		return NULL;
	}
	*due_us = t->due_us;
	t->due_us = 0;
	t->user->away = false;
	c->open--;
	return t->user;
}

/* Whoever may have won says so when it taps again. */
void flood_doubt(struct flood *f, struct flood_user *u, bool unsure)
{
	f->unsure += unsure;
	f->unsure -= u->unsure;
	u->unsure = unsure;
	u->attempt = unsure ? 1 : 0;
}

void flood_go_on(struct flood_connection *c)
{
	struct flood *f = c->flood;

	while (f->options.rate == 0 && !over(f) && has_room(c) &&
	       c->open < f->options.in_flight) {
		tap(c, next_user(f), clock_mono_us());
	}
}

void flood_on_grab(struct app_client *client, uint64_t seq,
		   const Rain__GrabReply *m)
{
	struct flood_connection *c = client->ctx;
	struct flood *f = c->flood;
	uint64_t due_us = 0;
	struct flood_user *u = take_tap(c, seq, &due_us);

	if (u == NULL) {
		return;
	}
	flood_count(f, m, clock_mono_us() - due_us);
	if (m->status == RAIN__STATUS__PENDING) {
		flood_doubt(f, u, true);
	} else if (flood_executed((unsigned)m->status)) {
		flood_doubt(f, u, false);
	}
	if (u->unsure || (!flood_executed((unsigned)m->status) &&
			  f->options.retry != RETRY_NEVER)) {
		flood_tap_later(f, u,
				f->options.retry == RETRY_IGNORE
					? 0
					: m->retry_after_ms);
	}
	flood_go_on(c);
}

void flood_on_error(struct app_client *client, uint64_t seq,
		    const Rain__Error *m)
{
	struct flood_connection *c = client->ctx;
	uint64_t due_us;
	struct flood_user *u;

	(void)m;
	u = seq != 0 ? take_tap(c, seq, &due_us) : NULL;
	if (u == NULL) {
		return;
	}
	c->flood->errors++;
	if (u->unsure) {
		flood_tap_later(c->flood, u, AGAIN_MS);
	}
}

static void term_cb(uv_signal_t *handle, int signum)
{
	struct flood *f = handle->data;
	uint64_t now = clock_mono_us();

	(void)signum;
	if (now < f->ends_us) {
		f->ends_us = now;
	}
}

int main(int argc, char **argv)
{
	struct flood *f = xcalloc(1, sizeof *f);

	flood_take_options(&f->options, argc, argv);
	(void)signal(SIGPIPE, SIG_IGN);
	buf_init(&f->token);
	flood_sign(f);
	f->users = xcalloc(f->options.users, sizeof f->users[0]);
	f->connections =
		xcalloc(f->options.connections, sizeof f->connections[0]);
	(void)uv_loop_init(&f->loop);
	f->hub = stream_hub_new(&f->loop);
	(void)uv_timer_init(&f->loop, &f->tick);
	f->tick.data = f;
	(void)uv_timer_start(&f->tick, tick_cb, TICK_MS, TICK_MS);
	(void)uv_signal_init(&f->loop, &f->term);
	f->term.data = f;
	(void)uv_signal_start(&f->term, term_cb, SIGTERM);
	flood_connect(f);
	(void)uv_run(&f->loop, UV_RUN_DEFAULT);
	stream_hub_free(f->hub);
	(void)uv_run(&f->loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&f->loop);
	flood_report(f, stdout);
	for (uint64_t i = 0; i < f->options.connections; i++) {
		free(f->connections[i].taps);
	}
	free(f->connections);
	free(f->users);
	buf_close(&f->token);
	free(f);
	return 0;
}
