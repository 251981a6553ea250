/* What callers see: begin, hand in commands, end. */
#include "client/redis.h"

#include <stdlib.h>

#include <utlist.h>

#include "base/err.h"
#include "base/log.h"
#include "client/redis_internal.h"

void redis_defaults(struct redis_options *o)
{
	*o = (struct redis_options){
		.url = "redis://127.0.0.1:6379",
		.name = "redrain",
		.commands_max = 10000,
		.connect_timeout_ms = 2000,
		.silence_max_ms = 5000,
		.backoff_min_ms = 50,
		.backoff_max_ms = 2000,
	};
}

static const char *check_options(const struct redis_options *o,
				 struct redis_url *url)
{
	if (o->url == NULL) {
		return "no url";
	}
	if (o->commands_max < 1 || o->connect_timeout_ms < 1 ||
	    o->silence_max_ms < 1 || o->backoff_min_ms < 1 ||
	    o->backoff_max_ms < o->backoff_min_ms) {
		return "limits must be above 0, backoff_max not below the min";
	}
	/* The name of a client is one word of visible characters. */
	for (const char *p = o->name; p != NULL && *p != '\0'; p++) {
		if (*p < '!' || *p > '~') {
			return "the name has a space or a strange character";
		}
	}
	return redis_url_parse(o->url, url);
}

int redis_new(struct stream_hub *hub, const struct redis_options *options,
	      struct redis **out)
{
	struct redis *r = xcalloc(1, sizeof(*r));
	const char *wrong = check_options(options, &r->url);
	const char *name = options->name != NULL ? options->name : "";

	*out = NULL;
	if (wrong != NULL) {
		log_error("bad redis options", log_str("why", wrong));
		free(r);
		return ERR_CONFIG;
	}
	redis_metrics_init();
	r->hub = hub;
	r->options = *options;
	r->options.url = NULL; /* it is not ours and may hold a password */
	r->options.name = xstrndup(name, strlen(name));
	r->unready_ms = uv_now(stream_hub_loop(hub));
	r->step_ms = UINT64_MAX;
	r->deadline_ms = UINT64_MAX;
	check(uv_timer_init(stream_hub_loop(hub), &r->timer) == 0);
	check(uv_idle_init(stream_hub_loop(hub), &r->later) == 0);
	redis_conn_connect(r);
	*out = r;
	return 0;
}

static uint64_t now_ms(const struct redis *r)
{
	return uv_now(stream_hub_loop(r->hub));
}

/* ---- In ---- */

static void later_closed_cb(uv_handle_t *handle)
{
	redis_handle_closed(container_of((void *)handle, struct redis, later));
}

/* A freed client is gone for good only once it has nothing to call back. */
static void close_later(struct redis *r)
{
	if (r->refused == NULL && !uv_is_closing((uv_handle_t *)&r->later)) {
		uv_close((uv_handle_t *)&r->later, later_closed_cb);
	}
}

static void refused_cb(uv_idle_t *idle)
{
	struct redis *r = container_of(idle, struct redis, later);

	/* Whoever sends again from the callback is refused a turn later. */
	DL_CONCAT(r->finished, r->refused);
	r->refused = NULL;
	(void)uv_idle_stop(&r->later);
	redis_run_finished(r);
	if (r->freed) {
		close_later(r);
	}
}

static void refuse(struct redis *r, redis_cb done, void *ctx)
{
	struct redis_call *c = redis_call_new_empty(done, ctx);

	check(!uv_is_closing((uv_handle_t *)&r->later)); /* used after free */
	c->outcome = REDIS_NOT_EXECUTED;
	DL_APPEND(r->refused, c);
	(void)uv_idle_start(&r->later, refused_cb);
}

static bool full(const struct redis *r)
{
	return r->freed || r->count >= r->options.commands_max;
}

static void submit(struct redis *r, struct redis_call *c, uint64_t timeout_ms,
		   redis_cb done, void *ctx)
{
	uint64_t now = now_ms(r);

	c->done = done;
	c->ctx = ctx;
	c->deadline_ms =
		timeout_ms < UINT64_MAX - now ? now + timeout_ms : UINT64_MAX;
	DL_APPEND(r->waiting, c);
	redis_count(r, 1);
	redis_pump(r);
	if (c->deadline_ms < r->deadline_ms) {
		r->deadline_ms = c->deadline_ms;
		redis_arm(r);
	}
}

void redis_command(struct redis *r, size_t argc, const struct bytes *argv,
		   uint64_t timeout_ms, redis_cb done, void *ctx)
{
	if (full(r)) {
		refuse(r, done, ctx);
		return;
	}
	submit(r, redis_call_new(argc, argv), timeout_ms, done, ctx);
}

void redis_script(struct redis *r, const struct redis_script *script,
		  size_t key_count, size_t argc, const struct bytes *argv,
		  uint64_t timeout_ms, redis_cb done, void *ctx)
{
	if (full(r)) {
		refuse(r, done, ctx);
		return;
	}
	submit(r, redis_call_new_script(script, key_count, argc, argv, 0, NULL),
	       timeout_ms, done, ctx);
}

void redis_transaction(struct redis *r, const struct redis_script *script,
		       size_t key_count, size_t argc, const struct bytes *argv,
		       size_t then_count, const struct redis_words *then,
		       uint64_t timeout_ms, redis_cb done, void *ctx)
{
	check(then_count > 0);
	if (full(r)) {
		refuse(r, done, ctx);
		return;
	}
	submit(r,
	       redis_call_new_script(script, key_count, argc, argv, then_count,
				     then),
	       timeout_ms, done, ctx);
}

bool redis_ready(const struct redis *r)
{
	return r->state == REDIS_READY;
}

uint64_t redis_silence_ms(const struct redis *r)
{
	uint64_t since = r->stream.last_in_ms;

	if (r->state != REDIS_READY) {
		return now_ms(r) - r->unready_ms;
	}
	if (r->sent == NULL) {
		return 0;
	}
	if (r->sent->sent_ms > since) {
		since = r->sent->sent_ms;
	}
	return now_ms(r) - since;
}

uint64_t redis_connection(const struct redis *r)
{
	switch (r->state) {
	case REDIS_HELLO:
	case REDIS_LOADING:
	case REDIS_READY:
	case REDIS_LEAVING:
		return r->connections;
	case REDIS_IDLE:
	case REDIS_CONNECTING:
	case REDIS_CLOSING:
	default:
		return 0;
	}
}

void redis_watch(struct redis *r, void (*changed)(void *ctx), void *ctx)
{
	r->changed = changed;
	r->changed_ctx = ctx;
}

/* ---- Close ---- */

static void timer_closed_cb(uv_handle_t *handle)
{
	redis_handle_closed(container_of((void *)handle, struct redis, timer));
}

void redis_handle_closed(struct redis *r)
{
	check(r->freed);
	if (--r->handles > 0) {
		return;
	}
	check(r->waiting == NULL && r->sent == NULL);
	check(r->finished == NULL && r->refused == NULL);
	explicit_bzero(&r->url, sizeof(r->url));
	free((void *)(uintptr_t)r->options.name);
	free(r);
}

void redis_free(struct redis *r)
{
	if (r == NULL) {
		return;
	}
	check(!r->freed);
	r->freed = true;
	r->changed = NULL;
	r->handles = 2; /* timer and later */
	if (r->state != REDIS_IDLE) {
		r->handles++;
		stream_close(&r->stream, 0);
		r->state = REDIS_CLOSING;
	}
	uv_close((uv_handle_t *)&r->timer, timer_closed_cb);
	redis_finish_sent(r);
	while (r->waiting != NULL) {
		struct redis_call *c = r->waiting;

		DL_DELETE(r->waiting, c);
		redis_count(r, -1);
		redis_finish(r, c, REDIS_NOT_EXECUTED, NULL);
	}
	DL_CONCAT(r->finished, r->refused);
	r->refused = NULL;
	(void)uv_idle_stop(&r->later);
	redis_run_finished(r);
	close_later(r);
}
