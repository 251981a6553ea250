/*
 * grab, result and balance: one user at the gateway, as an app.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "client/app_client.h"
#include "console/command.h"
#include "console/output.h"
#include "proto/proto_util.h"

enum { TOKEN_TTL_MS = 60000 };

/* One connection, one request, one answer. */
struct tap {
	struct app_client client;
	uv_timer_t timer;
	struct ctl *ctl;
	const struct command *command;
	struct bytes activity; /* empty for balance */
	struct buf token;
	json_t *answer; /* NULL until it came */
	int rc;         /* CTL_ value of the answer or the refusal */
	struct buf why; /* what went wrong */
	bool closed;
};

static const char *status_text(Rain__Status status)
{
	const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value(
		&rain__status__descriptor, (int)status);

	return v != NULL ? v->name : "?";
}

/* A packet is yes; no packet now but perhaps later is no answer yet. */
static int status_rc(Rain__Status status)
{
	switch ((int)status) {
	case RAIN__STATUS__WON:
	case RAIN__STATUS__ALREADY_GRABBED:
		return CTL_OK;
	case RAIN__STATUS__PENDING:
	case RAIN__STATUS__BUSY:
	case RAIN__STATUS__RATE_LIMITED:
	case RAIN__STATUS__NOT_STARTED:
	case RAIN__STATUS__NOT_YET:
	case RAIN__STATUS__PAUSED:
		return CTL_UNKNOWN;
	default:
		return CTL_NO;
	}
}

static json_t *grab_json(const struct ctl *ctl, Rain__Status status,
			 const Rain__RedPacket *packet, uint32_t retry_after_ms,
			 ProtobufCBinaryData message)
{
	json_t *o = json_object();

	json_object_set_new(o, "status", json_string(status_text(status)));
	if (packet != NULL) {
		json_object_set_new(o, "red_packet_id",
				    output_text(packet->red_packet_id));
		json_object_set_new(o, "amount",
				    output_cents(packet->amount_cents));
		json_object_set_new(o, "at", output_time(ctl, packet->at_ms));
	}
	if (retry_after_ms > 0) {
		json_object_set_new(o, "retry_after_ms",
				    json_integer(retry_after_ms));
	}
	if (message.len > 0) {
		json_object_set_new(o, "message", output_text(message));
	}
	return o;
}

static struct tap *tap_of(struct app_client *c)
{
	return container_of(c, struct tap, client);
}

static void answered(struct tap *t, int rc, json_t *answer)
{
	json_decref(t->answer);
	t->answer = answer;
	t->rc = rc;
	app_client_close(&t->client);
}

static void on_open(struct app_client *c)
{
	app_client_hello(c, buf_live(&tap_of(c)->token));
}

static void on_hello(struct app_client *c, uint64_t seq,
		     const Rain__HelloReply *m)
{
	struct tap *t = tap_of(c);
	struct bytes nobody = { 0 };

	(void)seq;
	(void)m;
	if (strcmp(t->command->words, "grab") == 0) {
		app_client_grab(c, t->activity, nobody, 0, 0);
	} else if (strcmp(t->command->words, "result") == 0) {
		app_client_query_result(c, t->activity, nobody, 0);
	} else {
		app_client_query_balance(c, nobody);
	}
}

static void on_grab(struct app_client *c, uint64_t seq,
		    const Rain__GrabReply *m)
{
	(void)seq;
	answered(tap_of(c), status_rc(m->status),
		 grab_json(tap_of(c)->ctl, m->status, m->red_packet,
			   m->retry_after_ms, m->message));
}

static void on_result(struct app_client *c, uint64_t seq,
		      const Rain__ResultReply *m)
{
	(void)seq;
	answered(tap_of(c), status_rc(m->status),
		 grab_json(tap_of(c)->ctl, m->status, m->red_packet,
			   m->retry_after_ms, m->message));
}

static void on_balance(struct app_client *c, uint64_t seq,
		       const Rain__BalanceReply *m)
{
	(void)seq;
	if (m->status != RAIN__STATUS__STATUS_UNSPECIFIED) {
		answered(tap_of(c), status_rc(m->status),
			 grab_json(tap_of(c)->ctl, m->status, NULL,
				   m->retry_after_ms, m->message));
		return;
	}
	answered(tap_of(c), CTL_OK,
		 json_pack("{s:o,s:o}", "balance",
			   output_cents(m->balance_cents), "currency",
			   output_text(m->currency)));
}

static void on_error(struct app_client *c, uint64_t seq, const Rain__Error *m)
{
	(void)seq;
	buf_put_bytes(&tap_of(c)->why, from_pb(m->message));
	tap_of(c)->rc = CTL_NO;
	app_client_close(c);
}

static void on_close(struct app_client *c, int why)
{
	struct tap *t = tap_of(c);

	t->closed = true;
	if (t->answer == NULL && buf_len(&t->why) == 0) {
		buf_printf(&t->why, "no answer from the gateway at %s: %s",
			   t->ctl->options.gateway_addresses, err_str(why));
	}
}

static const struct app_client_ops ops = {
	.on_open = on_open,
	.on_hello = on_hello,
	.on_grab = on_grab,
	.on_result = on_result,
	.on_balance = on_balance,
	.on_error = on_error,
	.on_close = on_close,
};

static void timer_cb(uv_timer_t *timer)
{
	stream_close(&container_of(timer, struct tap, timer)->client.stream,
		     ERR_TIMEOUT);
}

static int sign(struct tap *t, const char *user)
{
	struct token_keys *keys = ctl_token_keys(t->ctl, &t->why);
	int rv;

	if (keys == NULL) {
		return CTL_USAGE;
	}
	rv = token_sign(keys, NULL, bytes_str(user), false,
			clock_wall_ms() + TOKEN_TTL_MS, &t->token, &t->why);
	token_keys_free(keys);
	return rv == 0 ? CTL_OK : CTL_USAGE;
}

static void timer_close_cb(uv_handle_t *timer)
{
	timer->data = NULL;
}

/* Connect to the first gateway, ask, wait for the answer or the timeout. */
static int ask(struct tap *t)
{
	char address[128];

	snprintf(address, sizeof address, "%.*s",
		 (int)strcspn(t->ctl->options.gateway_addresses, ","),
		 t->ctl->options.gateway_addresses);
	uv_timer_init(&t->ctl->loop, &t->timer);
	uv_timer_start(&t->timer, timer_cb,
		       (uint64_t)t->ctl->options.timeout_ms, 0);
	app_client_connect(&t->client, t->ctl->hub, address,
			   (uint64_t)t->ctl->options.timeout_ms, &ops);
	ctl_wait(t->ctl, &t->closed);
	t->timer.data = t;
	uv_close((uv_handle_t *)&t->timer, timer_close_cb);
	while (t->timer.data != NULL) {
		uv_run(&t->ctl->loop, UV_RUN_ONCE);
	}
	return t->rc;
}

static int tap(struct ctl *ctl, const struct command *c, const char *user,
	       const char *activity)
{
	struct tap t = { .ctl = ctl,
			 .command = c,
			 .activity = bytes_str(activity),
			 .rc = CTL_UNKNOWN };
	int rc;

	if (user == NULL) {
		return output_error(ctl, CTL_USAGE, c->words,
				    BYTES("--user USER is missing"));
	}
	buf_init(&t.token);
	buf_init(&t.why);
	rc = sign(&t, user);
	if (rc == CTL_OK) {
		rc = ask(&t);
	}
	if (t.answer != NULL) {
		output_print(ctl, t.answer);
	} else {
		output_error(ctl, rc, c->words, buf_live(&t.why));
	}
	buf_close(&t.token);
	buf_close(&t.why);
	return rc;
}

int run_grab(struct ctl *ctl, const struct command *c,
	     const struct arguments *a)
{
	return tap(ctl, c, argument_option(c, a, "user"), a->values[0]);
}

int run_result(struct ctl *ctl, const struct command *c,
	       const struct arguments *a)
{
	return tap(ctl, c, argument_option(c, a, "user"), a->values[0]);
}

int run_balance(struct ctl *ctl, const struct command *c,
		const struct arguments *a)
{
	return tap(ctl, c, argument_option(c, a, "user"), NULL);
}
