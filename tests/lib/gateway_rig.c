#include "lib/gateway_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "lib/gateway_fake.h"

#define KEYS                                                            \
	"app HS256 user MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n" \
	"edge HS256 front QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=\n"

/* ---- The rig ---- */

void rig_write_keys(struct rig *r, const char *text)
{
	struct buf why;
	FILE *f = fopen(r->keys_path, "w");

	cr_assert(f != NULL);
	cr_assert(fputs(text, f) >= 0);
	cr_assert_eq(fclose(f), 0);
	buf_init(&why);
	token_keys_free(r->keys);
	r->keys = token_keys_load(r->keys_path, &why);
	buf_close(&why);
}

static void set(struct rig *r, const char *key, const char *value)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "%s=%s", key, value);
	cr_assert_eq(config_set(&r->config, text), 0, "%s", text);
}

static void configure(struct rig *r, bool two, const char *const *settings)
{
	char both[200];

	(void)snprintf(both, sizeof(both), "%s%s%s",
		       dubbo_server_address(r->grabs[0].server), two ? "," : "",
		       two ? dubbo_server_address(r->grabs[1].server) : "");
	config_init(&r->config, gateway_option_keys, &r->options, NULL);
	set(r, "gateway.listen", "127.0.0.1:0");
	set(r, "gateway.loops", "1");
	set(r, "gateway.keys", r->keys_path);
	set(r, "grab.addresses", both);
	set(r, "ledger.addresses", dubbo_server_address(r->ledger.server));
	for (; settings != NULL && *settings != NULL; settings++) {
		cr_assert_eq(config_set(&r->config, *settings), 0, "%s",
			     *settings);
	}
	cr_assert_eq(config_finish(&r->config), 0);
}

static void beat_cb(uv_timer_t *timer)
{
	(void)timer; /* that a turn of the loop ends is all it is for */
}

void rig_start(struct rig *r, bool two, const char *const *settings)
{
	memset(r, 0, sizeof(*r));
	log_setup(LOG_ERROR, LOG_LOGFMT, "test");
	(void)snprintf(r->dir, sizeof(r->dir), "/tmp/rain-gateway-XXXXXX");
	cr_assert(mkdtemp(r->dir) != NULL);
	(void)snprintf(r->keys_path, sizeof(r->keys_path), "%s/keys", r->dir);
	rig_write_keys(r, KEYS);
	cr_assert(r->keys != NULL);
	cr_assert_eq(uv_loop_init(&r->loop), 0);
	r->hub = stream_hub_new(&r->loop);
	cr_assert_eq(uv_timer_init(&r->loop, &r->beat), 0);
	cr_assert_eq(uv_timer_start(&r->beat, beat_cb, 10, 10), 0);
	fake_start(&r->grabs[0], r->hub);
	if (two) {
		fake_start(&r->grabs[1], r->hub);
	}
	fake_start(&r->ledger, r->hub);
	configure(r, two, settings);
	cr_assert_eq(gateway_new(&r->loop, &r->options, &r->gateway), 0);
}

void rig_ready(struct rig *r)
{
	struct buf why;

	buf_init(&why);
	RUN_UNTIL(&r->loop, gateway_ready(r->gateway, &why));
	RUN_UNTIL(&r->loop, r->grabs[0].probes + r->grabs[1].probes > 0);
	buf_close(&why);
}

static void drained(void *ctx)
{
	struct rig *r = ctx;

	r->drained = true;
}

void rig_drain(struct rig *r)
{
	r->draining = true;
	gateway_drain(r->gateway, drained, r);
}

void rig_stop(struct rig *r)
{
	if (!r->draining) {
		rig_drain(r);
	}
	RUN_UNTIL(&r->loop, r->drained);
	uv_close((uv_handle_t *)&r->beat, NULL);
	gateway_free(r->gateway);
	fake_stop(&r->grabs[0]);
	fake_stop(&r->grabs[1]);
	fake_stop(&r->ledger);
	while (uv_run(&r->loop, UV_RUN_NOWAIT) != 0) {
	}
	stream_hub_free(r->hub);
	turns_end(&r->loop);
	config_close(&r->config);
	token_keys_free(r->keys);
	(void)unlink(r->keys_path);
	(void)rmdir(r->dir);
}

struct buf rig_token(struct rig *r, const char *user, bool front,
		     int64_t expires_ms)
{
	struct buf token;
	struct buf why;

	buf_init(&token);
	buf_init(&why);
	cr_assert_eq(token_sign(r->keys, front ? "edge" : NULL, bytes_str(user),
				front, expires_ms, &token, &why),
		     0, "%.*s", BYTES_FMT(buf_live(&why)));
	buf_close(&why);
	return token;
}

/* ---- Apps ---- */

static struct answer *note(struct app_client *c, enum answer_kind kind,
			   uint64_t seq)
{
	struct app *a = container_of(c, struct app, client);
	static struct answer beyond;
	struct answer *n =
		a->count < ANSWERS_MAX ? &a->answers[a->count] : &beyond;

	a->count++;
	*n = (struct answer){ .kind = kind, .seq = seq };
	return n;
}

static void copy_text(char *out, size_t size, ProtobufCBinaryData b)
{
	size_t n = b.len < size - 1 ? b.len : size - 1;

	if (n > 0) {
		memcpy(out, b.data, n);
	}
	out[n] = '\0';
}

static void note_packet(struct answer *n, const Rain__RedPacket *p)
{
	if (p != NULL) {
		copy_text(n->packet, sizeof(n->packet), p->red_packet_id);
		n->cents = p->amount_cents;
	}
}

static void on_open(struct app_client *c)
{
	container_of(c, struct app, client)->open = true;
}

static void on_hello(struct app_client *c, uint64_t seq,
		     const Rain__HelloReply *m)
{
	struct answer *n = note(c, ANSWER_HELLO, seq);

	copy_text(n->text, sizeof(n->text), m->user_id);
	n->server_ms = m->server_time_ms;
	n->max_in_flight = m->max_in_flight;
}

static void on_grab(struct app_client *c, uint64_t seq,
		    const Rain__GrabReply *m)
{
	struct answer *n = note(c, ANSWER_GRAB, seq);

	n->code = (int)m->status;
	n->retry_after_ms = m->retry_after_ms;
	note_packet(n, m->red_packet);
	copy_text(n->text, sizeof(n->text), m->message);
}

static void on_result(struct app_client *c, uint64_t seq,
		      const Rain__ResultReply *m)
{
	struct answer *n = note(c, ANSWER_RESULT, seq);

	n->code = (int)m->status;
	n->retry_after_ms = m->retry_after_ms;
	note_packet(n, m->red_packet);
	copy_text(n->text, sizeof(n->text), m->message);
}

static void on_balance(struct app_client *c, uint64_t seq,
		       const Rain__BalanceReply *m)
{
	struct answer *n = note(c, ANSWER_BALANCE, seq);

	n->code = (int)m->status;
	n->cents = m->balance_cents;
	n->retry_after_ms = m->retry_after_ms;
	copy_text(n->text, sizeof(n->text), m->currency);
}

static void on_pong(struct app_client *c, uint64_t seq, const Rain__Pong *m)
{
	note(c, ANSWER_PONG, seq)->server_ms = m->server_time_ms;
}

static void on_error(struct app_client *c, uint64_t seq, const Rain__Error *m)
{
	struct answer *n = note(c, ANSWER_ERROR, seq);

	n->code = (int)m->code;
	n->retry_after_ms = m->retry_after_ms;
	copy_text(n->text, sizeof(n->text), m->message);
}

static void on_close(struct app_client *c, int why)
{
	(void)why;
	container_of(c, struct app, client)->closed = true;
}

static const struct app_client_ops app_ops = {
	.on_open = on_open,
	.on_hello = on_hello,
	.on_grab = on_grab,
	.on_result = on_result,
	.on_balance = on_balance,
	.on_pong = on_pong,
	.on_error = on_error,
	.on_close = on_close,
};

void rig_connect(struct rig *r, struct app *a)
{
	memset(a, 0, sizeof(*a));
	app_client_connect(&a->client, r->hub, gateway_address(r->gateway),
			   5000, &app_ops);
	RUN_UNTIL(&r->loop, a->open || a->closed);
}

void rig_hello(struct rig *r, struct app *a, const char *user, bool front)
{
	struct buf token = rig_token(r, user, front, clock_wall_ms() + 600000);
	uint64_t seq;

	rig_connect(r, a);
	seq = app_client_hello(&a->client, buf_live(&token));
	RUN_UNTIL(&r->loop, a->count > 0 || a->closed);
	cr_assert_eq(app_answer(a, seq)->kind, ANSWER_HELLO);
	cr_assert_str_eq(app_answer(a, seq)->text, user);
	buf_close(&token);
}

void rig_close(struct rig *r, struct app *a)
{
	app_client_close(&a->client);
	RUN_UNTIL(&r->loop, a->closed);
}

bool app_has(const struct app *a, uint64_t seq)
{
	for (size_t i = 0; i < a->count && i < ANSWERS_MAX; i++) {
		if (a->answers[i].seq == seq) {
			return true;
		}
	}
	return false;
}

uint64_t app_grab(struct app *a, const char *activity)
{
	return app_client_grab(&a->client, bytes_str(activity), BYTES(""), 0,
			       0);
}

int64_t rig_refused(enum refusal why)
{
	return atomic_load(&gateway_metrics.refused[why].value);
}

const struct answer *app_answer(const struct app *a, uint64_t seq)
{
	const struct answer *found = NULL;

	for (size_t i = 0; i < a->count && i < ANSWERS_MAX; i++) {
		if (a->answers[i].seq == seq) {
			cr_assert(found == NULL, "two answers to seq %d",
				  (int)seq);
			found = &a->answers[i];
		}
	}
	cr_assert(found != NULL, "no answer to seq %d", (int)seq);
	return found;
}

const struct answer *app_last(const struct app *a)
{
	cr_assert(a->count > 0 && a->count <= ANSWERS_MAX);
	return &a->answers[a->count - 1];
}

void rig_expect_end(struct rig *r, struct app *a, Rain__ErrorCode code,
		    const char *part)
{
	RUN_UNTIL(&r->loop, a->closed);
	cr_assert_eq(app_last(a)->kind, ANSWER_ERROR);
	cr_assert_eq(app_last(a)->code, (int)code);
	cr_assert(strstr(app_last(a)->text, part) != NULL, "says: %s",
		  app_last(a)->text);
}

void rig_expect_error(struct rig *r, struct app *a, size_t before, uint64_t seq,
		      Rain__ErrorCode code)
{
	RUN_UNTIL(&r->loop, a->count > before || a->closed);
	cr_assert_eq(app_last(a)->kind, ANSWER_ERROR);
	cr_assert_eq(app_last(a)->code, (int)code, "says: %s",
		     app_last(a)->text);
	cr_assert_eq(app_last(a)->seq, seq);
	cr_assert(app_last(a)->text[0] != '\0');
}
