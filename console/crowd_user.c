/*
 * One user of the crowd, as an app would do it.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/rand.h"
#include "console/crowd_internal.h"
#include "proto/proto_util.h"

enum {
	CONNECT_MS = 5000,
	ANSWER_MS = 12000, /* an app gives an answer so long, then reconnects */
};

static void tap(struct user *u);

static void wrong(struct user *u, const char *what)
{
	struct crowd *crowd = u->st->crowd;

	if (crowd->wrong++ == 0) {
		char id[ID_MAX + 1];

		crowd_user_id(crowd, u->number, id);
		snprintf(crowd->why, sizeof crowd->why, "%s: %.150s", id, what);
	}
}

static void leave(struct user *u)
{
	crowd_unwait(u);
	u->leaving = true;
	app_client_close(&u->client);
}

/* The tap under way has its final word. */
static void tap_done(struct user *u, bool last)
{
	struct crowd *crowd = u->st->crowd;

	u->tapping = false;
	u->taps++;
	u->attempt = 0;
	crowd->taps++;
	histogram_add(&crowd->latency, clock_mono_us() - u->sent_us);
	if (last || u->taps >= crowd->options.taps) {
		leave(u);
		return;
	}
	crowd_wait(u, rand_below(crowd->options.think_ms + 1), NEXT_TAP);
}

static void got_packet(struct user *u, const Rain__RedPacket *m)
{
	struct crowd *crowd = u->st->crowd;
	struct crowd_packet *p = &crowd->packets[u->number];
	struct bytes id = from_pb(m->red_packet_id);

	if (id.n == 0 || id.n >= sizeof p->id || m->amount_cents <= 0) {
		wrong(u, "a packet without an id or an amount");
	} else if (p->id[0] == '\0') {
		memcpy(p->id, id.p, id.n);
		p->amount_cents = m->amount_cents;
		crowd->winners++;
		crowd->won_cents += m->amount_cents;
	} else if (!bytes_eq(bytes_str(p->id), id) ||
		   p->amount_cents != m->amount_cents) {
		wrong(u, "told another packet than before");
	} else {
		crowd->repeats++;
	}
	tap_done(u, false);
}

static void take_answer(struct user *u, Rain__Status status,
			const Rain__RedPacket *packet, uint32_t retry_after_ms)
{
	struct crowd *crowd = u->st->crowd;
	bool holds = crowd->packets[u->number].id[0] != '\0';

	u->st->last_us = clock_mono_us();
	switch (status) {
	case RAIN__STATUS__WON:
	case RAIN__STATUS__ALREADY_GRABBED:
		if (packet == NULL) {
			wrong(u, "won, but no packet came along");
			leave(u);
			return;
		}
		got_packet(u, packet);
		return;
	case RAIN__STATUS__SOLD_OUT:
	case RAIN__STATUS__ENDED:
		if (holds) {
			wrong(u,
			      "has a packet, but is told that there is none");
		} else if (status == RAIN__STATUS__SOLD_OUT) {
			crowd->sold_out++;
		} else {
			crowd->ended++;
		}
		tap_done(u, true);
		return;
	case RAIN__STATUS__NOT_STARTED:
	case RAIN__STATUS__NOT_YET:
	case RAIN__STATUS__PAUSED:
	case RAIN__STATUS__RATE_LIMITED:
	case RAIN__STATUS__BUSY:
		crowd->waits++;
		crowd_wait(u, retry_after_ms, NEXT_TAP);
		return;
	case RAIN__STATUS__PENDING:
		crowd->pending++;
		u->attempt++; /* it may have been won already */
		crowd_wait(u, retry_after_ms, NEXT_ASK);
		return;
	default:
		wrong(u, "an answer that ends nothing and waits for nothing");
		leave(u);
	}
}

static struct user *user_of(struct app_client *c)
{
	return container_of(c, struct user, client);
}

static void on_open(struct app_client *c)
{
	struct user *u = user_of(c);
	struct crowd *crowd = u->st->crowd;
	char id[ID_MAX + 1];
	struct buf token;
	struct buf why;

	buf_init(&token);
	buf_init(&why);
	crowd_user_id(crowd, u->number, id);
	if (token_sign(crowd->options.keys, NULL, bytes_str(id), false,
		       clock_wall_ms() + 600000, &token, &why) == 0) {
		app_client_hello(c, buf_live(&token));
		crowd_wait(u, ANSWER_MS, NEXT_GIVE_UP);
	} else {
		wrong(u, "no token could be signed");
		leave(u);
	}
	buf_close(&token);
	buf_close(&why);
}

static void on_hello(struct app_client *c, uint64_t seq,
		     const Rain__HelloReply *m)
{
	(void)seq;
	(void)m;
	tap(user_of(c));
}

static void on_grab(struct app_client *c, uint64_t seq,
		    const Rain__GrabReply *m)
{
	(void)seq;
	take_answer(user_of(c), m->status, m->red_packet, m->retry_after_ms);
}

static void on_result(struct app_client *c, uint64_t seq,
		      const Rain__ResultReply *m)
{
	(void)seq;
	take_answer(user_of(c), m->status, m->red_packet, m->retry_after_ms);
}

static void on_error(struct app_client *c, uint64_t seq, const Rain__Error *m)
{
	struct user *u = user_of(c);

	(void)seq;
	u->away_ms = m->retry_after_ms;
	if (m->code != RAIN__ERROR_CODE__UNAVAILABLE &&
	    m->code != RAIN__ERROR_CODE__TOO_FAST) {
		char text[200];

		snprintf(text, sizeof text, "the gateway says: %.*s",
			 BYTES_FMT(from_pb(m->message)));
		wrong(u, text);
		leave(u);
	}
}

static void on_close(struct app_client *c, int why)
{
	struct user *u = user_of(c);

	(void)why;
	crowd_unwait(u);
	if (u->leaving) {
		u->st->crowd->finished++;
		crowd_seat_free(u);
		return;
	}
	u->st->crowd->reconnects++;
	u->gateway++;
	if (u->tapping) {
		u->attempt++;
	}
	crowd_wait(u, u->away_ms > 0 ? u->away_ms : 50 + rand_below(500),
		   NEXT_CONNECT);
	u->away_ms = 0;
}

static const struct app_client_ops ops = {
	.on_open = on_open,
	.on_hello = on_hello,
	.on_grab = on_grab,
	.on_result = on_result,
	.on_error = on_error,
	.on_close = on_close,
};

void crowd_user_connect(struct user *u)
{
	struct crowd_state *st = u->st;

	/* Another gateway with every try: the last one may be the broken one. */
	app_client_connect(&u->client, st->hub,
			   st->gateways[u->gateway % st->gateway_count],
			   CONNECT_MS, &ops);
}

static void tap(struct user *u)
{
	if (!u->tapping) {
		u->tapping = true;
		u->sent_us = clock_mono_us();
	}
	u->not_after_ms = app_client_server_ms(&u->client) + 1000;
	app_client_grab(&u->client, bytes_str(u->st->crowd->options.activity),
			(struct bytes){ 0 }, u->attempt, u->not_after_ms);
	crowd_wait(u, ANSWER_MS, NEXT_GIVE_UP);
}

void crowd_user_wake(struct user *u)
{
	crowd_unwait(u);
	switch (u->next) {
	case NEXT_CONNECT:
		crowd_user_connect(u);
		return;
	case NEXT_TAP:
		tap(u);
		return;
	case NEXT_ASK:
		app_client_query_result(
			&u->client, bytes_str(u->st->crowd->options.activity),
			(struct bytes){ 0 }, u->not_after_ms);
		crowd_wait(u, ANSWER_MS, NEXT_GIVE_UP);
		return;
	case NEXT_GIVE_UP:
		stream_close(&u->client.stream, ERR_TIMEOUT);
		return;
	}
	check(!"a wait for nothing");
}
