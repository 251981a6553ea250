/* A service that does nothing but what its keys say; test_service.c runs it. */
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "net/service.h"

struct options {
	const char *mode;
	const char *secret;
	int64_t live;
	int64_t fixed_max;
	int64_t all_total;
	int64_t ready_after_ms;
};

static struct options options;

static const struct config_key keys[] = {
	{ "host.mode", CONFIG_CHOICE, offsetof(struct options, mode), "plain",
	  .choices = "plain|notes|no_start|give_up|no_drain|stuck|leak",
	  .help = "what goes wrong" },
	{ "host.secret", CONFIG_STRING, offsetof(struct options, secret), "",
	  .flags = CONFIG_SECRET | CONFIG_LIVE, .help = "a password" },
	{ "host.live", CONFIG_INT, offsetof(struct options, live), "1",
	  .min = 1, .max = 100, .flags = CONFIG_LIVE, .help = "changes" },
	{ "host.fixed_max", CONFIG_INT, offsetof(struct options, fixed_max),
	  "7", .min = 1, .max = 100, .help = "needs a restart" },
	{ "host.all_total", CONFIG_INT, offsetof(struct options, all_total),
	  "9", .min = 1, .max = 100, .help = "bounds all together" },
	{ "host.ready_after", CONFIG_TIME,
	  offsetof(struct options, ready_after_ms), "0",
	  .help = "not ready before" },
	{ 0 },
};

static void validate(const struct service *svc, const struct config_pair *pairs,
		     size_t pair_count, struct buf *problems)
{
	const struct options *o = svc->options;

	if (o->live > o->fixed_max) {
		buf_printf(problems, "host.live: is above host.fixed_max\n");
	}
	for (size_t i = 0; i < pair_count; i++) {
		if (strcmp(pairs[i].name, "never") == 0) {
			buf_printf(problems,
				   "kafka.never: is not so; allowed: ever\n");
		}
	}
}

static uv_timer_t timer;
static bool is_ready;

static bool is_mode(const char *mode)
{
	return strcmp(options.mode, mode) == 0;
}

static void timer_cb(uv_timer_t *t)
{
	struct service_rt *rt = t->data;

	is_ready = true;
	if (is_mode("give_up")) {
		service_failed(rt, "the test says so");
	}
	while (is_mode("stuck")) {
		uv_sleep(100);
	}
}

static int start(struct service_rt *rt)
{
	if (is_mode("no_start")) {
		log_error("the test does not start");
		return ERR_STORE;
	}
	(void)uv_timer_init(rt->loop, &timer);
	timer.data = rt;
	return uv_timer_start(&timer, timer_cb,
			      (uint64_t)options.ready_after_ms, 0);
}

static void timer_closed_cb(uv_handle_t *handle)
{
	service_stopped(handle->data);
}

static void drain(struct service_rt *rt)
{
	if (is_mode("leak")) {
		(void)uv_timer_start(&timer, timer_cb, 1000000, 0);
		service_stopped(rt);
	} else if (!is_mode("no_drain")) {
		uv_close((uv_handle_t *)&timer, timer_closed_cb);
	}
}

static void left(struct service_rt *rt, struct buf *what)
{
	(void)rt;
	buf_printf(what, "the first\nthe second\n");
}

static void reload(struct service_rt *rt)
{
	(void)rt;
	log_info("reload seen", log_int("live", options.live),
		 log_int("fixed_max", options.fixed_max));
}

static bool ready(struct service_rt *rt, struct buf *why)
{
	(void)rt;
	if (!is_ready) {
		buf_printf(why, "timer: \"not yet\"\n");
	}
	if (is_mode("notes")) {
		buf_printf(why, "one of many waits\n");
	}
	return is_ready;
}

int main(int argc, char **argv)
{
	struct service svc = {
		.name = "service-host",
		.summary = "does what its keys say",
		.keys = keys,
		.options = &options,
		.pass_section = "kafka",
		.validate = validate,
		.start = start,
		.drain = drain,
		.left = left,
		.reload = reload,
		.ready = ready,
	};

	return service_main(&svc, argc, argv);
}
