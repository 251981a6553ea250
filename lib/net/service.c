#include "net/service.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/metrics.h"
#include "net/service_internal.h"

enum {
	TICK_MS = 200,
	/* How long closing handles may take once the service has stopped. */
	FINISH_MS_MAX = 1000,
};

/* RUNNING until a signal or service_failed(), DRAINING until
 * service_stopped() or drain.timeout, then STOPPED, where the loop ends. */
enum phase { RUNNING, DRAINING, STOPPED };

struct service_state {
	struct service_rt rt;
	struct config config;
	struct service_args args;
	struct service_options common;
	struct service_pages pages;
	uv_loop_t loop;
	uv_signal_t term;
	uv_signal_t intr;
	uv_signal_t hup;
	uv_timer_t tick;  /* heartbeat and readiness */
	uv_timer_t limit; /* runs out drain.timeout after the drain began */
	uv_async_t fail;  /* service_failed() was called */
	enum phase phase;
	uint64_t last_tick_us;
	int ready_fd; /* of RAIN_READY_FD, -1: none or told */
	int exit_code;
	bool overdue; /* stopped by the limit, not by the service */
};

static struct metric ready_gauge =
	METRIC_GAUGE("rain_ready", "1 while requests can be served", "");
static struct metric loop_lag = METRIC_SECONDS(
	"rain_loop_lag_seconds", "How late a timer of the main loop fires", "");

static char build_labels[96];
static struct metric build_info =
	METRIC_GAUGE("rain_build_info", "What runs here", build_labels);

static void register_metrics(const struct service *svc)
{
	(void)snprintf(build_labels, sizeof(build_labels),
		       "service=\"%s\",version=\"%s\"", svc->name,
		       RAIN_VERSION);
	metrics_register(&build_info);
	metrics_register(&ready_gauge);
	metrics_register(&loop_lag);
	metric_set(&build_info, 1);
}

static void refresh(struct service_state *st)
{
	struct buf why;
	bool ready;

	buf_init(&why);
	if (st->phase != RUNNING) {
		ready = false;
		buf_printf(&why, "draining\n");
	} else {
		ready = st->rt.svc->ready == NULL ||
			st->rt.svc->ready(&st->rt, &why);
	}
	service_pages_refresh(&st->pages, ready, &why);
	metric_set(&ready_gauge, ready);
	if (ready && st->ready_fd >= 0) {
		/* Whoever waits for it sees an end of file otherwise. */
		(void)!write(st->ready_fd, "ready\n", 6);
		if (st->ready_fd > STDERR_FILENO) {
			(void)close(st->ready_fd);
		}
		st->ready_fd = -1;
	}
	buf_close(&why);
}

static void tick_cb(uv_timer_t *timer)
{
	struct service_state *st = timer->data;
	uint64_t now = clock_mono_us();
	uint64_t due = st->last_tick_us + (uint64_t)TICK_MS * 1000;

	metric_observe(&loop_lag, now > due ? now - due : 0);
	st->last_tick_us = now;
	refresh(st);
}

void service_stopped(struct service_rt *rt)
{
	struct service_state *st = rt->state;

	if (st->phase != STOPPED) {
		st->phase = STOPPED;
		uv_stop(&st->loop);
	}
}

/* The drain is not waited for any longer: whoever reads the log or the exit
 * code must know that it was none. */
static void cut_short(struct service_state *st)
{
	struct buf what;

	buf_init(&what);
	if (st->rt.svc->left != NULL) {
		st->rt.svc->left(&st->rt, &what);
	}
	service_log_lines("not finished", buf_live(&what));
	buf_close(&what);
	st->exit_code = EXIT_GAVE_UP;
}

static void limit_cb(uv_timer_t *timer)
{
	struct service_state *st = timer->data;

	log_error("drain took too long",
		  log_int("timeout_ms", st->common.drain_timeout_ms));
	cut_short(st);
	st->overdue = true;
	service_stopped(&st->rt);
}

static void begin_drain(struct service_state *st)
{
	check(st->phase == RUNNING);
	st->phase = DRAINING;
	refresh(st);
	log_info("draining",
		 log_int("timeout_ms", st->common.drain_timeout_ms));
	(void)uv_timer_start(&st->limit, limit_cb,
			     (uint64_t)st->common.drain_timeout_ms, 0);
	if (st->rt.svc->drain != NULL) {
		st->rt.svc->drain(&st->rt);
	} else {
		service_stopped(&st->rt);
	}
}

static void term_cb(uv_signal_t *handle, int signum)
{
	struct service_state *st = handle->data;

	if (st->phase == RUNNING) {
		log_info("signal", log_int("number", signum));
		begin_drain(st);
		return;
	}
	log_warn("second signal, no more waiting", log_int("number", signum));
	cut_short(st);
	_exit(st->exit_code);
}

static void hup_cb(uv_signal_t *handle, int signum)
{
	struct service_state *st = handle->data;

	(void)signum;
	if (!service_config_reload(st->rt.svc, &st->config, &st->args)) {
		return;
	}
	service_log_setup(st->rt.svc, &st->common);
	if (st->rt.svc->reload != NULL && st->phase == RUNNING) {
		st->rt.svc->reload(&st->rt);
	}
}

void service_failed(struct service_rt *rt, const char *why)
{
	struct service_state *st = rt->state;

	log_error("giving up", log_str("why", why));
	st->exit_code = EXIT_GAVE_UP;
	if (st->phase != STOPPED) {
		/* Not from inside the caller, who is in the middle of
		 * something. */
		(void)uv_async_send(&st->fail);
	}
}

static void fail_cb(uv_async_t *handle)
{
	struct service_state *st = handle->data;

	if (st->phase == RUNNING) {
		begin_drain(st);
	}
}

static int ready_fd_of(const char *text)
{
	uint64_t fd;

	return text != NULL && bytes_to_u64(bytes_str(text), INT_MAX, &fd)
		       ? (int)fd
		       : -1;
}

/* SIG_BLOCK: what comes from now on waits for its handler instead of ending
 * us. SIG_UNBLOCK: there is one. */
static void hold_signals(int how)
{
	sigset_t held;

	(void)sigemptyset(&held);
	(void)sigaddset(&held, SIGTERM);
	(void)sigaddset(&held, SIGINT);
	(void)sigaddset(&held, SIGHUP);
	(void)sigprocmask(how, &held, NULL);
}

static void watch(struct service_state *st, uv_signal_t *handle,
		  uv_signal_cb cb, int signum)
{
	check(uv_signal_init(&st->loop, handle) == 0);
	handle->data = st;
	check(uv_signal_start(handle, cb, signum) == 0);
}

/* The handles every service has. None of them can fail for want of anything
 * that the world could have taken away. */
static void open_handles(struct service_state *st)
{
	check(uv_loop_init(&st->loop) == 0);
	watch(st, &st->term, term_cb, SIGTERM);
	watch(st, &st->intr, term_cb, SIGINT);
	watch(st, &st->hup, hup_cb, SIGHUP);
	hold_signals(SIG_UNBLOCK);
	check(uv_timer_init(&st->loop, &st->tick) == 0);
	check(uv_timer_init(&st->loop, &st->limit) == 0);
	check(uv_async_init(&st->loop, &st->fail, fail_cb) == 0);
	st->tick.data = st;
	st->limit.data = st;
	st->fail.data = st;
	st->rt.loop = &st->loop;
	st->rt.hub = stream_hub_new(&st->loop);
}

static void report_handle(uv_handle_t *handle, void *arg)
{
	(void)arg;
	log_error("handle left open",
		  log_str("type", uv_handle_type_name(handle->type)),
		  log_int("closing", uv_is_closing(handle)));
}

static void finish_cb(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

/* Close our handles and turn the loop until all others are gone as well. False
 * if some stay. */
static bool close_handles(struct service_state *st)
{
	uv_handle_t *ours[] = {
		(uv_handle_t *)&st->term, (uv_handle_t *)&st->intr,
		(uv_handle_t *)&st->hup,  (uv_handle_t *)&st->tick,
		(uv_handle_t *)&st->fail,
	};

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		uv_close(ours[i], NULL);
	}
	(void)uv_timer_start(&st->limit, finish_cb, FINISH_MS_MAX, 0);
	uv_unref((uv_handle_t *)&st->limit);
	(void)uv_run(&st->loop, UV_RUN_DEFAULT);
	if (uv_loop_alive(&st->loop)) {
		return false; /* the hub may still be in use */
	}
	stream_hub_free(st->rt.hub);
	uv_close((uv_handle_t *)&st->limit, NULL);
	(void)uv_run(&st->loop, UV_RUN_DEFAULT);
	return uv_loop_close(&st->loop) == 0;
}

/* All is over. Returns only if nothing is left that could still use what
 * main() is about to free. */
static void leave(struct service_state *st)
{
	bool clean = !st->overdue && close_handles(st);

	if (!clean && !st->overdue) {
		uv_walk(&st->loop, report_handle, NULL);
	}
	log_info("stopped", log_int("exit", st->exit_code));
	if (clean) {
		return;
	}
#ifndef __OPTIMIZE__
	/* A handle left open is a mistake of the service. */
	check(st->overdue || st->exit_code != EXIT_CLEAN);
#endif
	_exit(st->exit_code);
}

static int run(struct service_state *st)
{
	const struct service *svc = st->rt.svc;

	service_log_setup(svc, &st->common);
	(void)signal(SIGPIPE, SIG_IGN);
	register_metrics(svc);
	open_handles(st); /* first, so that a signal finds its handler */
	service_log_start(&st->config);
	if (service_pages_start(&st->pages, st->common.http_listen) != 0 ||
	    svc->start(&st->rt) != 0) {
		st->exit_code = EXIT_NO_START;
	} else {
		st->last_tick_us = clock_mono_us();
		uv_update_time(&st->loop);
		(void)uv_timer_start(&st->tick, tick_cb, TICK_MS, TICK_MS);
		refresh(st);
		log_info("started");
		(void)uv_run(&st->loop, UV_RUN_DEFAULT);
	}
	service_pages_stop(&st->pages);
	leave(st);
	return st->exit_code;
}

/* Whether there is a configuration to go on with; for a person, who reads all
 * that is wrong at once, else. */
static bool configured(struct service_state *st)
{
	bool ok = service_config_read(&st->config, &st->args) == 0;

	if (st->args.mode != MODE_DUMP_CONFIG) {
		ok = service_config_check(st->rt.svc, &st->config,
					  &st->common) == 0 &&
		     ok;
	}
	if (!ok) {
		(void)fprintf(stderr, "%.*s",
			      BYTES_FMT(buf_live(&st->config.errors)));
	}
	return ok;
}

int service_main(struct service *svc, int argc, char **argv)
{
	struct service_state *st = xcalloc(1, sizeof(*st));
	int rv = EXIT_CONFIG;

	check(svc->name != NULL && svc->start != NULL);
	hold_signals(SIG_BLOCK);
	service_config_init(svc, &st->config, &st->common);
	st->rt.svc = svc;
	st->rt.state = st;
	st->ready_fd = ready_fd_of(getenv("RAIN_READY_FD"));
	if (service_args_parse(svc, argc, argv, &st->args)) {
		if (st->args.mode >= MODE_EXAMPLE_CONFIG) {
			/* These help with a configuration that is broken. */
			rv = service_args_print(svc, &st->args, &st->config);
		} else if (!configured(st)) {
			rv = EXIT_CONFIG;
		} else if (st->args.mode != MODE_RUN) {
			rv = service_args_print(svc, &st->args, &st->config);
		} else {
			st->rt.pairs = st->config.pairs;
			st->rt.pair_count = st->config.pair_count;
			rv = run(st);
		}
	}
	config_close(&st->config);
	free(st);
	return rv;
}
