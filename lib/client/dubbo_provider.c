/* One provider: connect, keep alive, read replies, connect again. */
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/rand.h"
#include "client/dubbo_client_internal.h"

static void retry_cb(uv_timer_t *timer);

static uint64_t now(const struct dubbo_provider *p)
{
	return uv_now(stream_hub_loop(p->client->hub));
}

bool dubbo_provider_ready(const struct dubbo_provider *p)
{
	return p->stream.open && !p->readonly;
}

/* ---- Up ---- */

/* A host that is gone without a word leaves a connection that looks open, and
 * heartbeats take minutes to find out. */
void dubbo_provider_missed(struct dubbo_provider *p)
{
	if (p->unanswered++ == 0) {
		p->missed_ms = now(p);
	} else if (now(p) - p->missed_ms >=
		   (uint64_t)p->client->options.silence_max_ms) {
		stream_close(&p->stream, ERR_IDLE);
	}
}

static void heartbeat_cb(uv_timer_t *timer)
{
	struct dubbo_provider *p = timer->data;
	uint64_t beat = (uint64_t)p->client->options.heartbeat_ms;
	uint64_t silent = now(p) - p->stream.last_in_ms;
	struct buf *out;

	if (silent >= CLIENT_SILENT_BEATS * beat) {
		stream_close(&p->stream, ERR_IDLE);
		return;
	}
	if (silent >= beat) {
		out = stream_out(&p->stream);
		if (out == NULL) {
			return;
		}
		dubbo_heartbeat(out, p->client->next_id++);
		stream_wrote(&p->stream);
	}
	check(uv_timer_start(timer, heartbeat_cb, beat - silent % beat, 0) ==
	      0);
}

static void on_open(struct stream *s)
{
	struct dubbo_provider *p =
		container_of(s, struct dubbo_provider, stream);
	uint64_t beat = (uint64_t)p->client->options.heartbeat_ms;

	log_info("dubbo provider connected", log_str("address", p->address));
	p->said = false;
	p->opened_ms = now(p);
	check(uv_timer_start(&p->timer, heartbeat_cb, beat, 0) == 0);
	dubbo_client_turned(p->client);
}

static void event(struct dubbo_provider *p, const struct dubbo_header *h,
		  struct bytes body)
{
	struct buf *out;

	if (!h->request) {
		return; /* the answer to a heartbeat: it came, that is all */
	}
	if (dubbo_event_readonly(body)) {
		log_info("dubbo provider takes no new calls",
			 log_str("address", p->address));
		p->readonly = true;
		dubbo_client_turned(p->client);
	} else if (dubbo_event_writeable(body)) {
		p->readonly = false;
		dubbo_client_turned(p->client);
	}
	out = stream_out(&p->stream);
	if (h->two_way && out != NULL) {
		dubbo_heartbeat_reply(out, h, body);
		stream_wrote(&p->stream);
	}
}

/* What came back can't be read, so it is the provider's answer but no value:
 * as Java does, a status that no provider sends. */
static struct dubbo_result unreadable(const char *why)
{
	return (struct dubbo_result){
		.kind = DUBBO_ERROR,
		.status = DUBBO_STATUS_CLIENT_ERROR,
		.message = bytes_str(why),
	};
}

static void response(struct dubbo_provider *p, const struct dubbo_header *h,
		     struct bytes body, const char *why)
{
	struct dubbo_pending *call = dubbo_pending_find(p, h->id);
	struct dubbo_result r;

	if (call == NULL) {
		dubbo_count_late_reply();
		return;
	}
	if (why != NULL) {
		r = unreadable(why);
	} else if (h->serialization != DUBBO_PROTOBUF &&
		   h->status == DUBBO_STATUS_OK) {
		r = unreadable("the response is in another serialization");
	} else if (dubbo_result_decode(h->status, body, &r, &why) != 0) {
		r = unreadable(why);
	}
	dubbo_pending_end(call, DUBBO_DONE, &r);
}

static void frame(struct dubbo_provider *p, const struct dubbo_header *h,
		  struct bytes body, const char *why)
{
	struct buf *out;

	if (h->event) {
		event(p, h, body);
	} else if (!h->request) {
		response(p, h, body, why);
	} else if (h->two_way) {
		out = stream_out(&p->stream);
		if (out != NULL) {
			dubbo_reply_error(out, h->id, h->serialization,
					  DUBBO_STATUS_BAD_REQUEST,
					  BYTES("No service on this end"));
			stream_wrote(&p->stream);
		}
	}
}

static size_t on_data(struct stream *s, struct bytes data)
{
	struct dubbo_provider *p =
		container_of(s, struct dubbo_provider, stream);
	size_t done = 0;

	p->attempts = 0;
	p->unanswered = 0;
	while (!s->closing) {
		struct bytes rest = { data.p + done, data.n - done };
		struct bytes body = { NULL, 0 };
		struct dubbo_header h;
		size_t used;

		switch (dubbo_cut(&p->cutter, rest, &h, &body, &used)) {
		case DUBBO_CUT_FRAME:
			frame(p, &h, body, NULL);
			break;
		case DUBBO_CUT_TOO_LONG:
			frame(p, &h, body,
			      "the response is over the payload limit");
			break;
		case DUBBO_CUT_MORE:
			if (p->client->waiting != NULL) {
				dubbo_client_turned(p->client);
			}
			return done + used;
		case DUBBO_CUT_GARBAGE:
			stream_close(s, ERR_PROTO);
			break;
		}
		done += used;
	}
	return done;
}

/* ---- Down ---- */

static void retry_later(struct dubbo_provider *p)
{
	const struct dubbo_client_options *o = &p->client->options;
	uint64_t cap = (uint64_t)o->backoff_min_ms;

	for (unsigned i = 0; i < p->attempts; i++) {
		cap *= 2;
		if (cap >= (uint64_t)o->backoff_max_ms) {
			cap = (uint64_t)o->backoff_max_ms;
			break;
		}
	}
	p->attempts++;
	/* Full jitter: consumers that lost a provider together must not come
	 * back together. */
	check(uv_timer_start(&p->timer, retry_cb, rand_below(cap + 1), 0) == 0);
}

static void on_close(struct stream *s, int why)
{
	struct dubbo_provider *p =
		container_of(s, struct dubbo_provider, stream);
	struct dubbo_client *c = p->client;

	(void)uv_timer_stop(&p->timer);
	if (!c->freeing && !p->said) {
		log_warn("dubbo provider is away",
			 log_str("address", p->address),
			 log_int("in_flight", (int64_t)p->in_flight),
			 log_err(why));
		p->said = true;
	}
	/* UNKNOWN, but for those that had not left us yet. */
	while (p->calls != NULL) {
		dubbo_pending_give_up(p->calls);
	}
	p->connecting = false;
	if (!c->freeing) {
		if (p->opened_ms != 0 &&
		    now(p) - p->opened_ms >
			    (uint64_t)c->options.backoff_max_ms) {
			p->attempts = 0;
		}
		retry_later(p);
		dubbo_client_turned(c);
	}
	c->handles--;
	dubbo_client_release(c);
}

static const struct stream_ops ops = {
	.on_data = on_data,
	.on_open = on_open,
	.on_close = on_close,
};

static void connect_to(struct dubbo_provider *p)
{
	const struct dubbo_client_options *o = &p->client->options;
	size_t max = (size_t)o->payload_max;

	p->cutter = (struct dubbo_cutter){ .payload_max = max };
	p->readonly = false;
	p->opened_ms = 0;
	p->connecting = true;
	p->client->handles++;
	stream_connect(&p->stream, p->client->hub, p->address,
		       (uint64_t)o->connect_timeout_ms, &ops,
		       max + DUBBO_HEADER, 4 * max);
}

static void retry_cb(uv_timer_t *timer)
{
	dubbo_count_reconnect();
	connect_to(timer->data);
}

void dubbo_provider_start(struct dubbo_provider *p)
{
	check(uv_timer_init(stream_hub_loop(p->client->hub), &p->timer) == 0);
	p->timer.data = p;
	p->client->handles++;
	connect_to(p);
}

static void timer_closed_cb(uv_handle_t *handle)
{
	struct dubbo_provider *p = handle->data;

	p->client->handles--;
	dubbo_client_release(p->client);
}

void dubbo_provider_stop(struct dubbo_provider *p)
{
	if (p->connecting) {
		stream_close(&p->stream, 0);
	}
	uv_close((uv_handle_t *)&p->timer, timer_closed_cb);
}
