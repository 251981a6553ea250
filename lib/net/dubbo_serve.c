/* One connection of a Dubbo server: frames become calls, calls get answers. */
#include <stdlib.h>

#include <utlist.h>

#include "base/err.h"
#include "net/dubbo_server_internal.h"

enum {
	TIMEOUT_DEFAULT_MS = 1000,
	TIMEOUT_MAX_MS = 3600 * 1000,
	EVENT_MAX = 64,          /* Dubbo's own have at most 15 bytes */
	NAME_SHOWN_MAX = 100,    /* of a stranger's text in our answers */
	REPLIES_SLACK = 1 << 20, /* queued beside two of the largest */
	SLOW_BYTES = 1 << 20,    /* queued: nothing more is asked of us */
};

/* ---- Refusals ---- */

static void refuse(struct dubbo_conn *c, const struct dubbo_header *h,
		   enum dubbo_status status, struct buf *why)
{
	struct buf *out = stream_out(&c->stream);

	dubbo_count_refusal(status);
	if (h->two_way && out != NULL) {
		dubbo_reply_error(out, h->id, h->serialization, status,
				  buf_live(why));
		dubbo_conn_wrote(c);
	}
	buf_close(why);
}

static void refuse_text(struct dubbo_conn *c, const struct dubbo_header *h,
			enum dubbo_status status, const char *why)
{
	struct buf text;

	buf_init(&text);
	buf_put_bytes(&text, bytes_str(why));
	refuse(c, h, status, &text);
}

static struct bytes shown(struct bytes name)
{
	return bytes_make(name.p,
			  name.n < NAME_SHOWN_MAX ? name.n : NAME_SHOWN_MAX);
}

/* ---- Which method is meant ---- */

/* In a time that does not tell how much of it was right. */
static bool same_secret(struct bytes got, struct bytes want)
{
	unsigned differs = got.n != want.n;

	for (size_t i = 0; i < want.n; i++) {
		differs |= want.p[i] ^ (i < got.n ? got.p[i] : 0u);
	}
	return differs == 0;
}

static const struct dubbo_interface *find_interface(
	const struct dubbo_server *s, struct bytes path)
{
	for (size_t i = 0; i < s->interface_count; i++) {
		if (bytes_eq(path, bytes_str(s->interfaces[i].name))) {
			return &s->interfaces[i];
		}
	}
	return NULL;
}

/* NULL after a refusal. */
static const struct dubbo_method *find_method(struct dubbo_conn *c,
					      const struct dubbo_header *h,
					      const struct dubbo_request *r,
					      const struct dubbo_interface **i)
{
	struct buf why;

	buf_init(&why);
	*i = find_interface(c->server, r->path);
	if (*i == NULL) {
		buf_printf(&why, "Service not found: %.*s",
			   BYTES_FMT(shown(r->path)));
		refuse(c, h, DUBBO_STATUS_BAD_REQUEST, &why);
		return NULL;
	}
	if (!bytes_eq(r->version, bytes_str((*i)->version)) ||
	    dubbo_request_attachment(r, "group").n > 0) {
		buf_printf(&why,
			   "Not found exported service: %s:%.*s, here is "
			   "%s:%s without a group",
			   (*i)->name, BYTES_FMT(shown(r->version)), (*i)->name,
			   (*i)->version);
		refuse(c, h, DUBBO_STATUS_SERVICE_ERROR, &why);
		return NULL;
	}
	for (size_t n = 0; n < (*i)->method_count; n++) {
		const struct dubbo_method *m = &(*i)->methods[n];

		if (bytes_eq(r->method, bytes_str(m->name)) &&
		    bytes_eq(r->types, bytes_str(m->types))) {
			return m;
		}
	}
	buf_printf(&why, "Service not found: %s, no method %.*s(%.*s)",
		   (*i)->name, BYTES_FMT(shown(r->method)),
		   BYTES_FMT(shown(r->types)));
	refuse(c, h, DUBBO_STATUS_BAD_REQUEST, &why);
	return NULL;
}

/* ---- Calls ---- */

static uint64_t deadline_of(struct dubbo_conn *c, const struct dubbo_request *r)
{
	uint64_t ms;

	if (!bytes_to_u64(dubbo_request_attachment(r, "timeout"),
			  TIMEOUT_MAX_MS, &ms) ||
	    ms == 0) {
		ms = TIMEOUT_DEFAULT_MS;
	}
	return uv_now(stream_hub_loop(c->server->hub)) + ms;
}

static void request(struct dubbo_conn *c, const struct dubbo_header *h,
		    struct bytes body)
{
	struct dubbo_server *s = c->server;
	const struct dubbo_interface *i;
	const struct dubbo_method *m;
	struct dubbo_request r;
	struct dubbo_call *call;
	const char *why;

	if (s->refusing) {
		refuse_text(c, h, DUBBO_STATUS_SERVICE_NOT_FOUND,
			    "This provider is stopping, ask another");
		return;
	}
	s->last_request_ms = uv_now(stream_hub_loop(s->hub));
	if (h->serialization != DUBBO_PROTOBUF) {
		refuse_text(c, h, DUBBO_STATUS_BAD_REQUEST,
			    "Only serialization 22 (protobuf) is spoken here");
		return;
	}
	if (s->in_flight >= s->options.calls_max) {
		refuse_text(c, h, DUBBO_STATUS_THREADPOOL_EXHAUSTED,
			    "Too many calls in flight, try later");
		return;
	}
	if (dubbo_request_decode(body, &r, &why) != 0) {
		refuse_text(c, h, DUBBO_STATUS_BAD_REQUEST, why);
		return;
	}
	if (s->options.secret[0] != '\0' &&
	    !same_secret(dubbo_request_attachment(&r, "token"),
			 bytes_str(s->options.secret))) {
		refuse_text(c, h, DUBBO_STATUS_SERVICE_ERROR,
			    "Forbidden: the token attachment is not the "
			    "secret of this service");
		return;
	}
	m = find_method(c, h, &r, &i);
	if (m == NULL) {
		return;
	}
	call = dubbo_call_new(c, h, deadline_of(c, &r));
	call->with_attachments = dubbo_version_has_attachments(r.protocol);
	m->handle(i->ctx, call, r.argument);
}

/* ---- The connection ---- */

/* A consumer that sends and does not read would be closed for what it has
 * queued here, and all its calls be lost. As it is it only waits. */
void dubbo_conn_wrote(struct dubbo_conn *c)
{
	stream_wrote(&c->stream);
	if (!c->slow && !c->stream.closing && c->stream.queued > SLOW_BYTES) {
		c->slow = true;
		stream_pause(&c->stream);
		dubbo_server_watch_slow(c->server);
	}
}

bool dubbo_conn_slow(struct dubbo_conn *c)
{
	if (c->slow && !c->closed && c->stream.queued <= SLOW_BYTES / 2) {
		c->slow = false;
		stream_resume(&c->stream);
	}
	return c->slow && !c->closed;
}

void dubbo_conn_release(struct dubbo_conn *c)
{
	struct dubbo_server *s = c->server;

	if (!c->closed || c->calls > 0) {
		return;
	}
	DL_DELETE(s->conns, c);
	free(c);
	dubbo_server_release(s);
}

static void event(struct dubbo_conn *c, const struct dubbo_header *h,
		  struct bytes body)
{
	struct buf *out = stream_out(&c->stream);

	if (!h->two_way || out == NULL) {
		return;
	}
	if (body.n > EVENT_MAX) {
		refuse_text(c, h, DUBBO_STATUS_BAD_REQUEST,
			    "The event is too long");
		return;
	}
	dubbo_heartbeat_reply(out, h, body);
	stream_wrote(&c->stream);
}

static void frame(struct dubbo_conn *c, const struct dubbo_header *h,
		  struct bytes body)
{
	if (!h->request) {
		return; /* we ask nothing of consumers: alive, no more */
	}
	if (h->event) {
		event(c, h, body);
	} else {
		request(c, h, body);
	}
}

static void too_long(struct dubbo_conn *c, const struct dubbo_header *h)
{
	struct buf why;

	if (!h->request) {
		return;
	}
	buf_init(&why);
	buf_printf(&why, "Data length too large: %ld, max payload: %zu",
		   (long)(int32_t)h->length, c->cutter.payload_max);
	refuse(c, h, DUBBO_STATUS_BAD_REQUEST, &why);
}

static size_t on_data(struct stream *s, struct bytes data)
{
	struct dubbo_conn *c = container_of(s, struct dubbo_conn, stream);
	size_t done = 0;

	while (!s->closing && !c->slow) {
		struct bytes rest = { data.p + done, data.n - done };
		struct dubbo_header h;
		struct bytes body;
		size_t used;

		switch (dubbo_cut(&c->cutter, rest, &h, &body, &used)) {
		case DUBBO_CUT_FRAME:
			frame(c, &h, body);
			break;
		case DUBBO_CUT_TOO_LONG:
			too_long(c, &h);
			break;
		case DUBBO_CUT_MORE:
			return done + used;
		case DUBBO_CUT_GARBAGE:
			stream_close(s, ERR_PROTO);
			break;
		}
		done += used;
	}
	return done;
}

static void on_close(struct stream *s, int why)
{
	struct dubbo_conn *c = container_of(s, struct dubbo_conn, stream);

	(void)why; /* of a consumer, who has its own log */
	c->closed = true;
	c->server->conn_count--;
	dubbo_count_connections(-1);
	dubbo_conn_release(c);
}

static const struct stream_ops ops = {
	.on_data = on_data,
	.on_close = on_close,
};

void dubbo_conn_start(struct dubbo_server *s, int fd)
{
	struct dubbo_conn *c = xcalloc(1, sizeof(*c));
	size_t max = (size_t)s->options.payload_max;

	c->server = s;
	c->cutter.payload_max = max;
	DL_APPEND(s->conns, c);
	s->conn_count++;
	dubbo_count_connections(1);
	stream_start(&c->stream, s->hub, fd, &ops, max + DUBBO_HEADER,
		     2 * max + REPLIES_SLACK);
}

void dubbo_conn_readonly(struct dubbo_conn *c)
{
	struct buf *out = c->closed ? NULL : stream_out(&c->stream);

	if (out != NULL) {
		dubbo_readonly(out, c->server->next_event_id++);
		stream_wrote(&c->stream);
	}
}
