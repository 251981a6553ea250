#include <stdlib.h>

#include "base/clock.h"
#include "base/err.h"
#include "fault/tappers.h"
#include "proto/proto_util.h"

enum {
	CONNECT_MS = 3000,
	HELLO_MS = 5000,
	GIVE_UP_MS = 15000, /* longer than fault_check waits for an answer */
	TOKEN_MS = 3600 * 1000,
	BACKOFF_MIN_MS = 50,
	BACKOFF_DOUBLINGS = 5, /* up to 1.6 s */
	POLITE_IN_FLIGHT = 36, /* a few more than a gateway allows */
	FRONT_IN_FLIGHT = 2000,
	CLOCK_GOOD_MS = 200,
	PINGS = 5,
	NOT_AFTER_UNKNOWN_MS = 2000, /* what 0 comes to, and some travel */
};

static uint64_t now_of(const struct app *a)
{
	return uv_now(&a->t->loop);
}

static bool is_rude(const struct app *a)
{
	return a->role == ROLE_HALF || a->role == ROLE_DEAF ||
	       a->role == ROLE_GONE;
}

static void wait_to_connect(struct app *a)
{
	uint32_t doublings = a->failures < BACKOFF_DOUBLINGS
				     ? a->failures
				     : BACKOFF_DOUBLINGS;
	uint64_t longest = (uint64_t)BACKOFF_MIN_MS << doublings;

	a->state = APP_WAITING;
	a->due_ms =
		now_of(a) + longest / 2 + tappers_below(a->t, longest / 2 + 1);
}

static void close_for(struct app *a, int why)
{
	a->state = APP_CLOSING;
	stream_close(&a->client.stream, why);
}

static void ask_forget(struct app *a, struct ask *ask)
{
	struct person *p = ask->person;

	if (ask->query) {
		p->asking = false;
	} else {
		p->grabs_open--;
	}
	HASH_DEL(a->asks, ask);
	a->t->asks--;
	free(ask);
}

static struct ask *ask_new(struct app *a, struct person *p, bool query)
{
	struct ask *ask = calloc(1, sizeof *ask);

	check(ask != NULL);
	ask->person = p;
	ask->query = query;
	ask->sent_ms = clock_mono_ms();
	a->t->asks++;
	return ask;
}

static void ask_sent(struct app *a, struct ask *ask)
{
	HASH_ADD(hh, a->asks, seq, sizeof ask->seq, ask);
	tappers_log_ask(a, ask);
}

/* The user that each request names: nobody, but for a front. */
static struct bytes named_user(const struct app *a, const struct person *p,
			       char *out)
{
	if (a->role != ROLE_FRONT) {
		return (struct bytes){ 0 };
	}
	tappers_user_id(a->t, tappers_user_of(a->t, p), out);
	return bytes_str(out);
}

/* Mostly a second or two; now and then nearly all that is allowed, or 0. */
static int64_t choose_not_after(struct app *a)
{
	int64_t server_ms = app_client_server_ms(&a->client);
	uint64_t dice = tappers_below(a->t, 100);

	if (dice < 3) {
		return 0;
	}
	/* The time may be wrong by half of what its answer took, and 10 s are
	 * allowed. */
	if (dice < 6 && a->client.server_took_ms < 1000) {
		return server_ms + 9000;
	}
	return server_ms + 200 + (int64_t)tappers_below(a->t, 2000);
}

void app_grab(struct app *a, struct person *p)
{
	struct ask *ask = ask_new(a, p, false);
	char user[ID_MAX + 1];
	int64_t until;

	ask->attempt = p->uncertain ? 1 : 0;
	ask->not_after_ms = choose_not_after(a);
	until = ask->not_after_ms != 0 ? ask->not_after_ms
				       : app_client_server_ms(&a->client) +
						 NOT_AFTER_UNKNOWN_MS;
	if (until > p->not_after_ms) {
		p->not_after_ms = until;
	}
	if (!p->tapped) {
		p->tapped = true;
		a->t->counts.persons++;
	}
	p->grabs_open++;
	a->t->counts.taps++;
	ask->seq = app_client_grab(
		&a->client, bytes_str(tappers_activity(a->t, p)),
		named_user(a, p, user), ask->attempt, ask->not_after_ms);
	ask_sent(a, ask);
	if (a->taps_left > 0) {
		a->taps_left--;
	}
}

void app_query(struct app *a, struct person *p)
{
	struct ask *ask = ask_new(a, p, true);
	char user[ID_MAX + 1];

	ask->not_after_ms = p->not_after_ms;
	p->asking = true;
	a->t->counts.queries++;
	ask->seq = app_client_query_result(
		&a->client, bytes_str(tappers_activity(a->t, p)),
		named_user(a, p, user), ask->not_after_ms);
	ask_sent(a, ask);
}

static struct app *app_of(struct app_client *c)
{
	return container_of(c, struct app, client);
}

static void on_open(struct app_client *c)
{
	struct app *a = app_of(c);
	char user[ID_MAX + 1];
	struct buf token;
	struct buf why;
	int rv;

	buf_init(&token);
	buf_init(&why);
	tappers_user_id(a->t, a->user, user);
	rv = token_sign(a->t->keys, NULL, bytes_str(user),
			a->role == ROLE_FRONT, clock_wall_ms() + TOKEN_MS,
			&token, &why);
	check(rv == 0); /* the keys were tried at the start */
	app_client_hello(c, buf_live(&token));
	a->due_ms = now_of(a) + HELLO_MS;
	buf_close(&token);
	buf_close(&why);
}

static void on_hello(struct app_client *c, uint64_t seq,
		     const Rain__HelloReply *m)
{
	struct app *a = app_of(c);

	(void)seq;
	(void)m;
	if (a->state != APP_HELLO) {
		return;
	}
	a->state = APP_READY;
	a->due_ms = 0;
	a->failures = 0;
	tappers_log_connection(a, "ready",
			       a->role == ROLE_FRONT ? "front" : "user");
	if (is_rude(a)) {
		app_be_rude(a);
	} else if (c->server_took_ms > CLOCK_GOOD_MS) {
		a->pings = PINGS;
		(void)app_client_ping(c);
	}
}

static void take(struct app *a, uint64_t seq, bool query, Rain__Status status,
		 const Rain__RedPacket *packet, uint32_t retry_ms)
{
	const ProtobufCEnumValue *name = protobuf_c_enum_descriptor_get_value(
		&rain__status__descriptor, (int)status);
	struct ask *ask;

	HASH_FIND(hh, a->asks, &seq, sizeof seq, ask);
	if (ask != NULL && ask->query != query) {
		ask = NULL; /* the answer to something else */
	}
	tappers_log_answer(a, seq, query, ask, name != NULL ? name->name : "?",
			   packet);
	a->t->counts
		.statuses[(unsigned)status < TAPPERS_STATUSES ? status : 0]++;
	if (ask == NULL) {
		a->t->counts.strays++;
		return;
	}
	tappers_learn(a->t, ask, status, retry_ms);
	ask_forget(a, ask);
}

static void on_grab(struct app_client *c, uint64_t seq,
		    const Rain__GrabReply *m)
{
	take(app_of(c), seq, false, m->status, m->red_packet,
	     m->retry_after_ms);
}

static void on_result(struct app_client *c, uint64_t seq,
		      const Rain__ResultReply *m)
{
	take(app_of(c), seq, true, m->status, m->red_packet, m->retry_after_ms);
}

static void on_error(struct app_client *c, uint64_t seq, const Rain__Error *m)
{
	struct app *a = app_of(c);
	const ProtobufCEnumValue *name = protobuf_c_enum_descriptor_get_value(
		&rain__error_code__descriptor, (int)m->code);
	const char *code = name != NULL ? name->name : "?";
	struct ask *ask;

	a->t->counts.errors++;
	HASH_FIND(hh, a->asks, &seq, sizeof seq, ask);
	if (ask != NULL) {
		tappers_log_answer(a, seq, ask->query, ask, code, NULL);
		ask_forget(a, ask);
	} else {
		tappers_log_connection(a, "error", code);
	}
}

static void on_close(struct app_client *c, int why)
{
	struct app *a = app_of(c);
	struct ask *ask;
	struct ask *next;

	HASH_ITER(hh, a->asks, ask, next)
	{
		tappers_log_closed(a, ask);
		a->t->counts.closed++;
		ask->person->uncertain |= !ask->query;
		ask_forget(a, ask);
	}
	tappers_log_connection(a, "end", why == 0 ? "asked" : err_str(why));
	if (a->state == APP_OVER || a->t->phase == PHASE_OVER) {
		a->state = APP_OVER;
		a->t->alive--;
		return;
	}
	if (a->state != APP_CLOSING) {
		a->t->counts.reconnects++;
		a->failures++;
	}
	wait_to_connect(a);
}

/* The clock that a hanging HelloReply told may be seconds off. */
static void on_pong(struct app_client *c, uint64_t seq, const Rain__Pong *m)
{
	struct app *a = app_of(c);

	(void)seq;
	(void)m;
	if (c->server_took_ms > CLOCK_GOOD_MS && a->state == APP_READY &&
	    a->pings > 0) {
		a->pings--;
		(void)app_client_ping(c);
	}
}

static const struct app_client_ops ops = {
	.on_open = on_open,
	.on_hello = on_hello,
	.on_pong = on_pong,
	.on_grab = on_grab,
	.on_result = on_result,
	.on_error = on_error,
	.on_close = on_close,
};

/* Half of the users are few: they tap from several connections at once. */
static uint64_t choose_user(struct app *a)
{
	uint64_t users = a->t->options.users;
	uint64_t few = users / 20 + 1;

	return tappers_below(a->t, tappers_below(a->t, 2) == 0 ? few : users);
}

static void app_connect(struct app *a)
{
	struct tappers *t = a->t;

	if (a->rude && a->role != ROLE_FRONT) {
		a->role = ROLE_HALF + (enum role)tappers_below(t, 3);
	}
	a->user = choose_user(a);
	a->taps_left = 10 + tappers_below(t, 60);
	a->connection = ++t->connections;
	a->state = APP_HELLO;
	a->due_ms = now_of(a) + HELLO_MS;
	app_client_connect(
		&a->client, t->hub,
		t->options.gateways[tappers_below(t, t->options.gateway_count)],
		CONNECT_MS, &ops);
}

void app_start(struct app *a, struct tappers *t, bool rude, bool front)
{
	a->t = t;
	a->rude = rude;
	a->role = front ? ROLE_FRONT : ROLE_USER;
	a->state = APP_WAITING;
	a->due_ms = uv_now(&t->loop) + tappers_below(t, 500);
}

void app_tick(struct app *a, uint64_t now)
{
	if (a->state == APP_READY && a->asks != NULL &&
	    clock_mono_ms() - a->asks->sent_ms > GIVE_UP_MS) {
		close_for(a, ERR_TIMEOUT);
		a->failures++;
		a->t->counts.reconnects++;
		return;
	}
	if (a->state == APP_READY && a->role == ROLE_USER &&
	    a->taps_left == 0 && a->asks == NULL) {
		close_for(a, 0); /* another user sits down here */
		return;
	}
	if (a->due_ms == 0 || now < a->due_ms) {
		return;
	}
	if (a->state == APP_WAITING) {
		app_connect(a);
	} else if (a->state == APP_HELLO) {
		stream_close(&a->client.stream, ERR_TIMEOUT);
	} else if (a->state == APP_READY) {
		close_for(a, 0);
	}
}

bool app_ready(const struct app *a)
{
	return a->state == APP_READY && a->role != ROLE_HALF &&
	       a->role != ROLE_GONE &&
	       (a->role == ROLE_FRONT || a->taps_left > 0) &&
	       HASH_COUNT(a->asks) < (a->role == ROLE_FRONT ? FRONT_IN_FLIGHT
							    : POLITE_IN_FLIGHT);
}

void app_become_front(struct app *a)
{
	if (a->role == ROLE_FRONT) {
		return;
	}
	a->role = ROLE_FRONT;
	if (a->state == APP_HELLO || a->state == APP_READY) {
		close_for(a, 0);
	}
}

void app_end(struct app *a)
{
	bool connected = a->state == APP_HELLO || a->state == APP_READY ||
			 a->state == APP_CLOSING;

	a->state = APP_OVER;
	if (connected) {
		stream_close(&a->client.stream, 0);
	} else {
		a->t->alive--;
	}
}
