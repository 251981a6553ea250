#include "lib/dubbo_caller.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/metrics.h"
#include "proto/proto_util.h"

char paths[3][64];
struct dubbo_client *client;
static char dir[32];

void caller_setup(void)
{
	dubbo_setup();
	snprintf(dir, sizeof(dir), "/tmp/dubbo-XXXXXX");
	cr_assert(mkdtemp(dir) != NULL);
	for (int i = 0; i < 3; i++) {
		snprintf(paths[i], sizeof(paths[i]), "unix:%s/%d", dir, i);
	}
}

void caller_teardown(void)
{
	dubbo_teardown();
	cr_assert(rmdir(dir) == 0);
}

struct dubbo_client_options client_options(const char *addresses)
{
	struct dubbo_client_options o;

	dubbo_client_defaults(&o);
	o.addresses = addresses;
	o.backoff_min_ms = 2;
	o.backoff_max_ms = 20;
	return o;
}

void client_start(const struct dubbo_client_options *o)
{
	cr_assert_eq(dubbo_client_new(hub, o, &client), 0);
}

struct dubbo_server *serve(int i)
{
	struct dubbo_server_options o = server_options(paths[i]);

	return server_start(&o);
}

static bool inside_call;

void done_cb(void *ctx, enum dubbo_outcome outcome,
	     const struct dubbo_result *r, int provider)
{
	struct outcome *o = ctx;
	struct bytes text = { NULL, 0 };
	ProtobufCMessage *m = NULL;

	cr_assert(!inside_call);
	cr_assert((outcome == DUBBO_DONE) == (r != NULL));
	o->times++;
	o->outcome = outcome;
	o->provider = provider;
	if (r == NULL) {
		return;
	}
	o->kind = r->kind;
	o->status = r->status;
	m = dubbo_result_message(r, &rain__grab_response__descriptor, &text);
	if (m != NULL && ((Rain__GrabResponse *)(void *)m)->reply != NULL) {
		text = from_pb(
			((Rain__GrabResponse *)(void *)m)->reply->message);
	}
	snprintf(o->text, sizeof(o->text), "%.*s", BYTES_FMT(text));
	if (m != NULL) {
		proto_free(m);
	}
}

const struct dubbo_target target = { "rain.GrabService", "1.0.0", "grab",
				     "Lrain/GrabRequest;" };

void call(struct outcome *o, const char *what, uint64_t timeout_ms, int avoid)
{
	Rain__GrabRequest m = RAIN__GRAB_REQUEST__INIT;

	memset(o, 0, sizeof(*o));
	m.activity_id = to_pb_str(what);
	inside_call = true;
	dubbo_client_call(client, &target, &m.base, timeout_ms, avoid, done_cb,
			  o);
	inside_call = false;
}

void wait_for(struct outcome *o)
{
	RUN_UNTIL(&loop, o->times > 0);
	cr_assert_eq(o->times, 1);
}

void call_and_wait(struct outcome *o, const char *what)
{
	call(o, what, 5000, -1);
	wait_for(o);
}

void expect_text(const struct outcome *o, const char *text)
{
	cr_assert_eq(o->outcome, DUBBO_DONE, "%d", o->outcome);
	cr_assert_eq(o->kind, DUBBO_VALUE, "%d %d %s", o->kind, o->status,
		     o->text);
	cr_assert_str_eq(o->text, text);
}

/* The value of a metric line, from the page that operators see. */
long metric_value(const char *line)
{
	struct buf page;
	char start[128];
	char *text;
	char *at;
	long v;

	buf_init(&page);
	metrics_render(&page);
	text = xstrndup(buf_live(&page).p, buf_len(&page));
	snprintf(start, sizeof(start), "\n%s", line); /* no comment line */
	at = strstr(text, start);
	cr_assert(at != NULL, "no %s", line);
	v = strtol(at + strlen(start), NULL, 10);
	free(text);
	buf_close(&page);
	return v;
}
