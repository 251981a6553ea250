#include "console/ctl.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config_table.h"
#include "proto/proto_util.h"

#define AT(field) offsetof(struct ctl_options, field)

const struct config_key ctl_keys[] = {
	TEXT("gateway.addresses", gateway_addresses, "127.0.0.1:7000",
	     "gateways, for grab, result, balance and quiz"),
	TEXT("gateway.keys", gateway_keys, "",
	     "file of the keys that sign test tokens"),
	TEXT("grab.addresses", grab_addresses, "127.0.0.1:20880",
	     "grab-services, host:port separated by commas"),
	SECRET("grab.secret", grab_secret, "their shared secret, if any"),
	TEXT("ledger.addresses", ledger_addresses, "127.0.0.1:20881",
	     "settle-workers, host:port separated by commas"),
	SECRET("ledger.secret", ledger_secret, "their shared secret, if any"),
	TEXT("redis.url", redis_url, "redis://127.0.0.1:6379",
	     "Redis, for doctor"),
	TEXT("topics.activities", topic_activities, "rain.activities",
	     "topic of the activities' events, for doctor"),
	TEXT("topics.claims", topic_claims, "rain.claims",
	     "topic of the claims, for books and doctor"),
	SPAN("ctl.timeout", timeout_ms, "10s", 100, 3600000,
	     "how long to wait for an answer"),
	{ 0 },
};

#define ACTIVITY_SERVICE(m, t)                                     \
	{                                                          \
		"rain.ActivityService", "1.0.0", m, "Lrain/" t ";" \
	}
#define LEDGER_SERVICE(m, t)                                     \
	{                                                        \
		"rain.LedgerService", "1.0.0", m, "Lrain/" t ";" \
	}

const struct dubbo_target ctl_get = ACTIVITY_SERVICE("get", "ActivityRequest");
const struct dubbo_target ctl_list = ACTIVITY_SERVICE("list", "ListRequest");
const struct dubbo_target ctl_counters =
	ACTIVITY_SERVICE("counters", "ActivityRequest");
const struct dubbo_target ctl_claims =
	ACTIVITY_SERVICE("claims", "PageRequest");
const struct dubbo_target ctl_packets =
	ACTIVITY_SERVICE("packets", "PageRequest");
const struct dubbo_target ctl_entropy =
	ACTIVITY_SERVICE("entropy", "EntropyRequest");
const struct dubbo_target ctl_topup = ACTIVITY_SERVICE("topUp", "TopUpRequest");
const struct dubbo_target ctl_rewind =
	ACTIVITY_SERVICE("rewind", "RewindRequest");
const struct dubbo_target ctl_balance =
	LEDGER_SERVICE("balance", "BalanceRequest");
const struct dubbo_target ctl_records =
	LEDGER_SERVICE("records", "RecordsRequest");
const struct dubbo_target ctl_totals =
	LEDGER_SERVICE("totals", "TotalsRequest");
const struct dubbo_target ctl_ledger_activities =
	LEDGER_SERVICE("activities", "ActivitiesRequest");
const struct dubbo_target ctl_positions =
	LEDGER_SERVICE("positions", "PositionsRequest");

void ctl_init(struct ctl *ctl)
{
	int rv;

	signal(SIGPIPE, SIG_IGN);
	rv = uv_loop_init(&ctl->loop);
	check(rv == 0);
	ctl->hub = stream_hub_new(&ctl->loop);
}

void ctl_close(struct ctl *ctl)
{
	if (ctl->grab != NULL) {
		dubbo_client_free(ctl->grab);
	}
	if (ctl->ledger != NULL) {
		dubbo_client_free(ctl->ledger);
	}
	uv_run(&ctl->loop, UV_RUN_DEFAULT);
	stream_hub_free(ctl->hub);
	uv_run(&ctl->loop, UV_RUN_DEFAULT);
	check(uv_loop_close(&ctl->loop) == 0); /* everything was closed */
}

static struct dubbo_client *client(struct ctl *ctl, const char *addresses,
				   const char *secret)
{
	struct dubbo_client_options o;
	struct dubbo_client *c = NULL;

	dubbo_client_defaults(&o);
	o.addresses = addresses;
	o.secret = secret;
	o.application = "rainctl";
	if (dubbo_client_new(ctl->hub, &o, &c) != 0) {
		fprintf(stderr, "rainctl: bad addresses: %s\n", addresses);
		return NULL;
	}
	return c;
}

struct dubbo_client *ctl_grab(struct ctl *ctl)
{
	if (ctl->grab == NULL) {
		ctl->grab = client(ctl, ctl->options.grab_addresses,
				   ctl->options.grab_secret);
	}
	return ctl->grab;
}

struct dubbo_client *ctl_ledger(struct ctl *ctl)
{
	if (ctl->ledger == NULL) {
		ctl->ledger = client(ctl, ctl->options.ledger_addresses,
				     ctl->options.ledger_secret);
	}
	return ctl->ledger;
}

void ctl_wait(struct ctl *ctl, const bool *flag)
{
	while (!*flag) {
		check(uv_run(&ctl->loop, UV_RUN_ONCE) != 0 || *flag);
	}
}

static void rest_cb(uv_timer_t *timer)
{
	*(bool *)timer->data = true;
}

void ctl_rest(struct ctl *ctl, uint64_t ms)
{
	bool passed = false;
	uv_timer_t timer;

	uv_timer_init(&ctl->loop, &timer);
	timer.data = &passed;
	uv_timer_start(&timer, rest_cb, ms, 0);
	ctl_wait(ctl, &passed);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&ctl->loop, UV_RUN_NOWAIT);
}

/* One call that somebody waits for. */
struct call {
	bool done;
	int rc;
	const ProtobufCMessageDescriptor *d;
	void **reply;
	struct buf *why;
	const struct dubbo_target *target;
};

static void call_cb(void *ctx, enum dubbo_outcome outcome,
		    const struct dubbo_result *result, int provider)
{
	struct call *call = ctx;
	struct bytes why = { 0 };

	(void)provider;
	call->done = true;
	switch (outcome) {
	case DUBBO_DONE:
		*call->reply = dubbo_result_message(result, call->d, &why);
		call->rc = *call->reply != NULL ? CTL_OK : CTL_NO;
		if (*call->reply == NULL) {
			buf_put_bytes(call->why,
				      why.n > 0
					      ? why
					      : BYTES("an unreadable answer"));
		}
		return;
	case DUBBO_NOT_SENT:
		call->rc = CTL_UNKNOWN;
		buf_printf(call->why, "%s cannot be reached",
			   call->target->path);
		return;
	case DUBBO_UNKNOWN:
		call->rc = CTL_UNKNOWN;
		buf_printf(call->why,
			   "%s did not answer in time; it may have been done",
			   call->target->path);
		return;
	}
	check(!"an outcome that there is not");
}

int ctl_call(struct ctl *ctl, struct dubbo_client *client,
	     const struct dubbo_target *target, const ProtobufCMessage *message,
	     const ProtobufCMessageDescriptor *d, void **reply, struct buf *why)
{
	struct call call = {
		.d = d, .reply = reply, .why = why, .target = target
	};

	*reply = NULL;
	if (client == NULL) {
		buf_printf(why, "bad addresses for %s", target->path);
		return CTL_USAGE;
	}
	dubbo_client_call(client, target, message,
			  (uint64_t)ctl->options.timeout_ms, -1, call_cb,
			  &call);
	ctl_wait(ctl, &call.done);
	return call.rc;
}

struct token_keys *ctl_token_keys(const struct ctl *ctl, struct buf *why)
{
	if (ctl->options.gateway_keys[0] == '\0') {
		buf_printf(why, "signing tokens needs --set gateway.keys=FILE");
		return NULL;
	}
	return token_keys_load(ctl->options.gateway_keys, why);
}

const char *ctl_kafka(const struct ctl *ctl, const char *name)
{
	for (size_t i = 0; i < ctl->config.pair_count; i++) {
		if (strcmp(ctl->config.pairs[i].name, name) == 0) {
			return ctl->config.pairs[i].value;
		}
	}
	return "";
}

int refusal_rc(Rain__Outcome outcome)
{
	return outcome == RAIN__OUTCOME__UNKNOWN_OUTCOME ||
			       outcome == RAIN__OUTCOME__UNAVAILABLE_NOW
		       ? CTL_UNKNOWN
		       : CTL_NO;
}
