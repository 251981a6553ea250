#include "net/dubbo_server.h"

#include <stdlib.h>
#include <unistd.h>

#include <utlist.h>

#include "base/err.h"
#include "base/log.h"
#include "net/dubbo_server_internal.h"

enum {
	DRAIN_LOOK_MS = 10,
	/* READONLY is on its way to consumers who may be sending: nothing in
	 * flight means something only after no request came for this long, or
	 * when they had ample time to hear of it. */
	DRAIN_QUIET_MS = 50,
	DRAIN_HEARD_MS = 1000,
	SLOW_LOOK_MS = 10,
	IDLE_LOOKS = 4, /* in the time that a connection may be silent */
};

static uint64_t now(const struct dubbo_server *s)
{
	return uv_now(stream_hub_loop(s->hub));
}

static void on_accept(void *ctx, int fd)
{
	struct dubbo_server *s = ctx;

	if (s->conn_count >= s->options.connections_max) {
		dubbo_count_turned_away();
		(void)close(fd);
		return;
	}
	dubbo_conn_start(s, fd);
}

static void idle_cb(uv_timer_t *timer)
{
	struct dubbo_server *s = timer->data;
	uint64_t silence_max = (uint64_t)s->options.idle_ms;
	struct dubbo_conn *c;

	DL_FOREACH(s->conns, c)
	{
		if (!c->closed && c->calls == 0 &&
		    now(s) - c->stream.last_in_ms > silence_max) {
			stream_close(&c->stream, ERR_IDLE);
		}
	}
}

static void slow_cb(uv_timer_t *timer)
{
	struct dubbo_server *s = timer->data;
	struct dubbo_conn *c;
	bool slow = false;

	DL_FOREACH(s->conns, c)
	{
		slow = dubbo_conn_slow(c) || slow;
	}
	if (!slow) {
		(void)uv_timer_stop(timer);
	}
}

void dubbo_server_watch_slow(struct dubbo_server *s)
{
	if (!s->freeing && !uv_is_active((uv_handle_t *)&s->slow)) {
		(void)uv_timer_start(&s->slow, slow_cb, SLOW_LOOK_MS,
				     SLOW_LOOK_MS);
	}
}

int dubbo_server_new(struct stream_hub *hub,
		     const struct dubbo_server_options *options,
		     const struct dubbo_interface *interfaces,
		     size_t interface_count, struct dubbo_server **out)
{
	struct dubbo_server *s = xcalloc(1, sizeof(*s));
	uv_loop_t *loop = stream_hub_loop(hub);
	uint64_t look_ms = (uint64_t)options->idle_ms / IDLE_LOOKS + 1;
	const char *address;
	int rv;

	check(options->payload_max > 0 && options->idle_ms > 0);
	*out = NULL;
	s->hub = hub;
	s->options = *options;
	s->interfaces = interfaces;
	s->interface_count = interface_count;
	rv = listener_new(loop, options->listen, on_accept, s, &s->listener);
	if (rv != 0) {
		log_error("cannot listen for Dubbo",
			  log_str("address", options->listen), log_err(rv));
		free(s);
		return rv;
	}
	dubbo_server_metrics();
	address = listener_address(s->listener);
	s->address = xstrndup(address, strlen(address));
	check(uv_timer_init(loop, &s->idle) == 0);
	check(uv_timer_init(loop, &s->drain) == 0);
	check(uv_timer_init(loop, &s->slow) == 0);
	s->idle.data = s;
	s->drain.data = s;
	s->slow.data = s;
	s->handles = 3;
	check(uv_timer_start(&s->idle, idle_cb, look_ms, look_ms) == 0);
	uv_unref((uv_handle_t *)&s->idle);
	*out = s;
	return 0;
}

const char *dubbo_server_address(const struct dubbo_server *s)
{
	return s->address;
}

static void stop_accepting(struct dubbo_server *s)
{
	if (s->listener != NULL) {
		listener_free(s->listener);
		s->listener = NULL;
	}
}

static bool all_written(const struct dubbo_server *s)
{
	const struct dubbo_conn *c;

	DL_FOREACH(s->conns, c)
	{
		if (!c->closed && c->stream.queued > 0) {
			return false;
		}
	}
	return true;
}

static void drain_cb(uv_timer_t *timer)
{
	struct dubbo_server *s = timer->data;
	bool heard = now(s) - s->drain_start_ms >= DRAIN_HEARD_MS;
	bool quiet = now(s) - s->last_request_ms >= DRAIN_QUIET_MS &&
		     now(s) - s->drain_start_ms >= DRAIN_QUIET_MS;

	if (heard) {
		s->refusing = true;
	}
	if (s->in_flight == 0 && (heard || (quiet && all_written(s)))) {
		s->refusing = true;
		(void)uv_timer_stop(timer);
		s->drained(s->drained_ctx);
	}
}

void dubbo_server_drain(struct dubbo_server *s, void (*done)(void *ctx),
			void *ctx)
{
	struct dubbo_conn *c;

	check(s->drained == NULL && !s->freeing);
	s->drained = done;
	s->drained_ctx = ctx;
	s->drain_start_ms = now(s);
	stop_accepting(s);
	DL_FOREACH(s->conns, c)
	{
		dubbo_conn_readonly(c);
	}
	check(uv_timer_start(&s->drain, drain_cb, DRAIN_LOOK_MS,
			     DRAIN_LOOK_MS) == 0);
}

int64_t dubbo_server_in_flight(const struct dubbo_server *s)
{
	return s->in_flight;
}

void dubbo_server_release(struct dubbo_server *s)
{
	if (s->freeing && s->conns == NULL && s->handles == 0) {
		check(s->in_flight == 0);
		free(s->address);
		free(s);
	}
}

static void closed_cb(uv_handle_t *handle)
{
	struct dubbo_server *s = handle->data;

	s->handles--;
	dubbo_server_release(s);
}

void dubbo_server_free(struct dubbo_server *s)
{
	struct dubbo_conn *c;

	check(!s->freeing);
	s->freeing = true;
	stop_accepting(s);
	DL_FOREACH(s->conns, c)
	{
		if (!c->closed) {
			stream_close(&c->stream, 0);
		}
	}
	uv_close((uv_handle_t *)&s->idle, closed_cb);
	uv_close((uv_handle_t *)&s->drain, closed_cb);
	uv_close((uv_handle_t *)&s->slow, closed_cb);
}
