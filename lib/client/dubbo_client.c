#include "client/dubbo_client.h"

#include <stdio.h>
#include <stdlib.h>

#include <utlist.h>

#include "base/err.h"
#include "base/log.h"
#include "base/rand.h"
#include "client/dubbo_client_internal.h"
#include "net/address.h"

static uint64_t now(const struct dubbo_client *c)
{
	return uv_now(stream_hub_loop(c->hub));
}

/* ---- Life ---- */

void dubbo_client_defaults(struct dubbo_client_options *o)
{
	*o = (struct dubbo_client_options){
		.addresses = "",
		.secret = "",
		.application = "redrain",
		.calls_max = 10000,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.connect_timeout_ms = 3000,
		.heartbeat_ms = 60000,
		.silence_max_ms = 10000,
		.backoff_min_ms = 50,
		.backoff_max_ms = 2000,
	};
}

static char *copy(const char *s)
{
	return xstrndup(s, strlen(s));
}

static int bad_address(struct bytes address, const char *why)
{
	log_error("bad address of a dubbo provider",
		  log_bytes("address", address), log_str("why", why));
	return ERR_CONFIG;
}

static struct bytes trim(struct bytes b)
{
	while (b.n > 0 && b.p[0] == ' ') {
		b.p++;
		b.n--;
	}
	while (b.n > 0 && b.p[b.n - 1] == ' ') {
		b.n--;
	}
	return b;
}

static int add_address(struct dubbo_client *c, struct bytes text)
{
	struct dubbo_provider *p = &c->providers[c->provider_count];
	struct address a;

	text = trim(text);
	if (c->provider_count == CLIENT_PROVIDERS_MAX) {
		return bad_address(text, "more than 64 addresses");
	}
	p->client = c;
	p->index = (int)c->provider_count;
	p->address = xstrndup(text.p, text.n);
	c->provider_count++;
	if (address_parse(p->address, &a) != 0) {
		return bad_address(text, "host:port or unix:/path is expected");
	}
	return 0;
}

static int add_addresses(struct dubbo_client *c, const char *list)
{
	int rv;

	for (;;) {
		size_t n = strcspn(list, ",");

		rv = add_address(c, bytes_make(list, n));
		if (rv != 0 || list[n] == '\0') {
			return rv;
		}
		list += n + 1;
	}
}

/* Every handle is closed. */
static void destroy(struct dubbo_client *c)
{
	for (size_t i = 0; i < c->provider_count; i++) {
		free(c->providers[i].address);
	}
	free(c->providers);
	free(c->heap);
	free(c->secret);
	free(c->application);
	free(c);
}

int dubbo_client_new(struct stream_hub *hub,
		     const struct dubbo_client_options *options,
		     struct dubbo_client **out)
{
	struct dubbo_client *c = xcalloc(1, sizeof(*c));
	int rv;

	check(options->payload_max > 0 && options->heartbeat_ms > 0);
	check(options->backoff_min_ms >= 0 && options->backoff_max_ms >= 0);
	*out = NULL;
	c->hub = hub;
	c->options = *options;
	c->secret = copy(options->secret);
	c->application = copy(options->application);
	c->providers = xcalloc(CLIENT_PROVIDERS_MAX, sizeof(*c->providers));
	rand_bytes(&c->next_id, sizeof(c->next_id));
	rv = add_addresses(c, options->addresses);
	if (rv != 0) {
		destroy(c);
		return rv;
	}
	dubbo_client_metrics();
	check(uv_timer_init(stream_hub_loop(hub), &c->deadline) == 0);
	c->deadline.data = c;
	c->handles = 1;
	for (size_t i = 0; i < c->provider_count; i++) {
		dubbo_provider_start(&c->providers[i]);
	}
	*out = c;
	return 0;
}

static void closed_cb(uv_handle_t *handle)
{
	struct dubbo_client *c = handle->data;

	c->handles--;
	dubbo_client_release(c);
}

void dubbo_client_release(struct dubbo_client *c)
{
	uv_handle_t *deadline = (uv_handle_t *)&c->deadline;

	if (!c->freeing || c->heap_count > 0) {
		return;
	}
	if (!uv_is_closing(deadline)) {
		uv_close(deadline, closed_cb);
	} else if (c->handles == 0) {
		destroy(c);
	}
}

void dubbo_client_free(struct dubbo_client *c)
{
	size_t calls = c->heap_count;

	check(!c->freeing);
	c->freeing = true;
	for (size_t i = 0; i < c->provider_count; i++) {
		dubbo_provider_stop(&c->providers[i]);
	}
	/* What these callbacks call in turn is refused on a later turn. */
	while (calls-- > 0 && c->heap_count > 0) {
		dubbo_pending_give_up(c->heap[0]);
	}
	dubbo_count_ready(-(int64_t)c->ready);
	c->ready = 0;
	dubbo_client_release(c);
}

/* ---- Calls ---- */

/* The fewest in flight, and of two that answer before one that let deadlines
 * pass: a frozen provider has few in flight, since its calls time out. */
static bool better(const struct dubbo_provider *a,
		   const struct dubbo_provider *b)
{
	if ((a->unanswered == 0) != (b->unanswered == 0)) {
		return a->unanswered == 0;
	}
	return a->in_flight < b->in_flight;
}

static struct dubbo_provider *pick(struct dubbo_client *c, int avoid)
{
	struct dubbo_provider *best = NULL;
	struct dubbo_provider *avoided = NULL;

	/* Equals take turns: else many clients with little to ask would all
	 * ask the first address. */
	c->turn++;
	for (size_t i = 0; i < c->provider_count; i++) {
		struct dubbo_provider *p =
			&c->providers[(c->turn + i) % c->provider_count];

		if (!dubbo_provider_ready(p) ||
		    p->stream.queued > 2 * p->cutter.payload_max) {
			continue;
		}
		if (p->index == avoid) {
			avoided = p;
		} else if (best == NULL || better(p, best)) {
			best = p;
		}
	}
	return best != NULL ? best : avoided;
}

static void encode(struct dubbo_client *c, struct buf *out,
		   struct dubbo_pending *call, const struct dubbo_target *t,
		   const ProtobufCMessage *message, uint64_t timeout_ms)
{
	char digits[24];
	struct dubbo_request r = {
		.protocol = BYTES("2.0.2"),
		.path = bytes_str(t->path),
		.version = bytes_str(t->version),
		.method = bytes_str(t->method),
		.types = bytes_str(t->types),
	};
	size_t n = 0;

	call->digits = (size_t)snprintf(digits, sizeof(digits), "%llu",
					(unsigned long long)timeout_ms);
	r.attachments[n++] = (struct dubbo_attachment){ BYTES("path"), r.path };
	r.attachments[n++] =
		(struct dubbo_attachment){ BYTES("remote.application"),
					   bytes_str(c->application) };
	r.attachments[n++] =
		(struct dubbo_attachment){ BYTES("interface"), r.path };
	r.attachments[n++] =
		(struct dubbo_attachment){ BYTES("version"), r.version };
	if (c->secret[0] != '\0') {
		r.attachments[n++] = (struct dubbo_attachment){
			BYTES("token"), bytes_str(c->options.secret)
		};
	}
	/* The last, so that send_waiting() finds it at the frame's end. */
	r.attachments[n++] =
		(struct dubbo_attachment){ BYTES("timeout"),
					   bytes_make(digits, call->digits) };
	r.attachment_count = n;
	dubbo_request_encode(out, call->id, true, &r, message);
}

void dubbo_client_call(struct dubbo_client *c, const struct dubbo_target *t,
		       const ProtobufCMessage *message, uint64_t timeout_ms,
		       int avoid, dubbo_done_cb done, void *ctx)
{
	bool refused = c->freeing ||
		       c->heap_count >= (size_t)c->options.calls_max ||
		       protobuf_c_message_get_packed_size(message) >
			       (size_t)c->options.payload_max;
	struct dubbo_provider *p = refused ? NULL : pick(c, avoid);
	struct dubbo_pending *call;

	/* A refusal is a call that is overdue already. */
	call = dubbo_pending_new(c, refused ? 0 : now(c) + timeout_ms, done,
				 ctx);
	if (refused) {
		return;
	}
	call->avoid = avoid;
	if (p == NULL) {
		encode(c, &call->frame, call, t, message, timeout_ms);
		dubbo_pending_wait(call);
		return;
	}
	encode(c, stream_out(&p->stream), call, t, message, timeout_ms);
	stream_wrote(&p->stream);
	dubbo_pending_sent(call, p);
}

/* The provider is told what is left of the time, in as many digits. */
static void write_left(struct dubbo_pending *call, uint64_t left_ms)
{
	uint8_t *end = call->frame.mem + call->frame.tail;

	for (size_t i = 1; i <= call->digits; i++) {
		end[-(ptrdiff_t)i] = (uint8_t)('0' + left_ms % 10);
		left_ms /= 10;
	}
}

static void send_waiting(struct dubbo_client *c)
{
	struct dubbo_pending *call;
	struct dubbo_pending *next;

	DL_FOREACH_SAFE(c->waiting, call, next)
	{
		struct dubbo_provider *p = pick(c, call->avoid);

		if (p == NULL) {
			return;
		}
		if (call->deadline <= now(c)) {
			continue; /* its end comes with the timer */
		}
		write_left(call, call->deadline - now(c));
		stream_send(&p->stream, buf_live(&call->frame));
		dubbo_pending_sent(call, p);
	}
}

size_t dubbo_client_ready(const struct dubbo_client *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->provider_count; i++) {
		n += dubbo_provider_ready(&c->providers[i]) ? 1 : 0;
	}
	return n;
}

void dubbo_client_watch(struct dubbo_client *c, void (*changed)(void *ctx),
			void *ctx)
{
	c->changed = changed;
	c->changed_ctx = ctx;
}

void dubbo_client_turned(struct dubbo_client *c)
{
	size_t ready = dubbo_client_ready(c);

	send_waiting(c);
	if (ready == c->ready) {
		return;
	}
	dubbo_count_ready((int64_t)ready - (int64_t)c->ready);
	c->ready = ready;
	if (c->changed != NULL) {
		c->changed(c->changed_ctx);
	}
}
