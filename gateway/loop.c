#include "gateway/loop.h"

#include <stdlib.h>

#include <utlist.h>

#include "base/clock.h"
#include "base/log.h"
#include "gateway/requests.h"

enum { SWEEP_MOST_MS = 1000, WARN_EVERY_MS = 1000 };

static void stop(struct gateway_loop *l);

/* ---- What happens on the loop ---- */

static void turn_cb(uv_check_t *handle)
{
	struct gateway_loop *l = handle->data;

	/* After all that was read, before the streams are flushed: the calls
	 * of this turn leave in this turn. */
	batcher_flush(&l->batcher);
	l->time.known = false;
}

static void tick_cb(uv_timer_t *handle)
{
	struct gateway_loop *l = handle->data;

	wheel_turn(&l->wheel, uv_now(&l->uv), requests_late);
	if (l->wheel.count == 0) {
		(void)uv_timer_stop(&l->tick);
	}
}

static void count_write_queues(struct gateway_loop *l)
{
	int64_t now = (int64_t)stream_hub_queued(l->hub);

	metric_add(&gateway_metrics.write_queue, now - l->write_total);
	l->write_total = now;
}

static void sweep_cb(uv_timer_t *handle)
{
	struct gateway_loop *l = handle->data;

	session_sweep(l);
	count_write_queues(l);
	if (dubbo_client_ready(l->grabs) > 0 &&
	    server_clock_stale(&l->clock, uv_now(&l->uv))) {
		batcher_probe(&l->batcher);
	}
}

static void providers_changed(void *ctx)
{
	struct gateway_loop *l = ctx;
	bool ready = dubbo_client_ready(l->grabs) > 0;

	atomic_store(&l->ready, ready);
	if (ready && !l->stopping &&
	    server_clock_stale(&l->clock, uv_now(&l->uv))) {
		batcher_probe(&l->batcher);
	}
}

static void drain(struct gateway_loop *l)
{
	struct session *s;
	struct session *next;

	if (l->draining) {
		return;
	}
	l->draining = true;
	DL_FOREACH_SAFE(l->greeting, s, next)
	{
		session_drain(s);
	}
	DL_FOREACH_SAFE(l->serving, s, next)
	{
		session_drain(s);
	}
	if (atomic_load(&l->connections) == 0) {
		stop(l);
	}
}

static void take_mail(struct gateway_loop *l, const struct mail *mail)
{
	switch (mail->kind) {
	case MAIL_SOCKET:
		session_new(l, mail->fd, mail->address);
		break;
	case MAIL_KEYS:
		key_set_drop(l->keys);
		l->keys = mail->keys;
		l->keys_version++;
		break;
	case MAIL_RATES:
		l->rates = *mail->rates;
		free(mail->rates);
		break;
	case MAIL_DRAIN:
		drain(l);
		break;
	}
}

static void wake_cb(uv_async_t *handle)
{
	struct gateway_loop *l = handle->data;
	struct mail mail;

	while (!l->stopping && mailbox_take(&l->mail, &mail)) {
		take_mail(l, &mail);
	}
}

void loop_session_gone(struct gateway_loop *l)
{
	metric_add(&gateway_metrics.connections, -1);
	if (atomic_fetch_sub(&l->connections, 1) == 1 && l->draining) {
		stop(l);
	}
}

int64_t loop_server_ms(const struct gateway_loop *l)
{
	return server_clock_now(&l->clock, uv_now(&l->uv));
}

const struct loop_time *loop_now(struct gateway_loop *l)
{
	uint64_t now = uv_now(&l->uv);

	/* The loop may have slept since a timer asked. */
	if (!l->time.known || l->time.of_ms != now) {
		l->time = (struct loop_time){ .known = true,
					      .of_ms = now,
					      .mono_us = clock_mono_us(),
					      .wall_ms = clock_wall_ms() };
	}
	return &l->time;
}

int64_t loop_ns(const struct gateway_loop *l)
{
	return (int64_t)uv_now(&l->uv) * 1000000;
}

uint32_t loop_chance(struct gateway_loop *l, uint32_t most)
{
	l->chance = l->chance * 1664525U + 1013904223U;
	return (uint32_t)(((uint64_t)l->chance * ((uint64_t)most + 1)) >> 32);
}

uint32_t loop_wait(struct gateway_loop *l, uint32_t base_ms)
{
	return base_ms + loop_chance(l, base_ms / 2);
}

uint32_t loop_retry_after(struct gateway_loop *l)
{
	return loop_wait(l, (uint32_t)l->options->retry_after_ms);
}

uint32_t loop_spread(struct gateway_loop *l)
{
	return 1 + loop_chance(l, (uint32_t)l->rates.spread_ms);
}

void loop_watch_deadlines(struct gateway_loop *l)
{
	if (!uv_is_active((uv_handle_t *)&l->tick)) {
		(void)uv_timer_start(&l->tick, tick_cb, WHEEL_TICK_MS,
				     WHEEL_TICK_MS);
	}
}

bool loop_may_warn(struct gateway_loop *l)
{
	uint64_t now = uv_now(&l->uv);

	if (l->warned_ms != 0 && now - l->warned_ms < WARN_EVERY_MS) {
		return false;
	}
	l->warned_ms = now;
	return true;
}

/* ---- From other threads ---- */

static void post(struct gateway_loop *l, const struct mail *mail)
{
	mailbox_put(&l->mail, mail);
	(void)uv_async_send(&l->wake);
}

void loop_hand_over(struct gateway_loop *l, int fd, struct limited *address)
{
	post(l, &(struct mail){
			.kind = MAIL_SOCKET, .fd = fd, .address = address });
}

void loop_set_rates(struct gateway_loop *l, const struct limit_rates *rates)
{
	struct limit_rates *copy = xmalloc(sizeof(*copy));

	*copy = *rates;
	post(l, &(struct mail){ .kind = MAIL_RATES, .rates = copy });
}

void loop_set_keys(struct gateway_loop *l, struct key_set *keys)
{
	post(l, &(struct mail){ .kind = MAIL_KEYS, .keys = keys });
}

void loop_drain(struct gateway_loop *l)
{
	post(l, &(struct mail){ .kind = MAIL_DRAIN });
}

/* ---- Beginning and end ---- */

static int connect_services(struct gateway_loop *l)
{
	const struct gateway_options *o = l->options;
	struct dubbo_client_options c;
	int rv;

	dubbo_client_defaults(&c);
	c.addresses = o->grab_addresses;
	c.secret = o->grab_secret;
	c.application = "rain-gateway";
	/* Batches, probes and QueryResults: never more than requests. */
	c.calls_max = (int64_t)l->in_flight_max + 16;
	rv = dubbo_client_new(l->hub, &c, &l->grabs);
	if (rv != 0) {
		return rv;
	}
	dubbo_client_watch(l->grabs, providers_changed, l);
	c.addresses = o->ledger_addresses;
	c.secret = o->ledger_secret;
	return dubbo_client_new(l->hub, &c, &l->ledger);
}

static void start_timers(struct gateway_loop *l)
{
	const struct gateway_options *o = l->options;
	int64_t every = o->hello_ms < o->idle_ms ? o->hello_ms : o->idle_ms;

	every = every / 4 + 1;
	if (every > SWEEP_MOST_MS) {
		every = SWEEP_MOST_MS;
	}
	check(uv_timer_init(&l->uv, &l->tick) == 0);
	check(uv_timer_init(&l->uv, &l->sweep) == 0);
	check(uv_timer_start(&l->sweep, sweep_cb, (uint64_t)every,
			     (uint64_t)every) == 0);
	check(uv_check_init(&l->uv, &l->turn) == 0);
	check(uv_check_start(&l->turn, turn_cb) == 0);
	l->tick.data = l;
	l->sweep.data = l;
	l->turn.data = l;
}

int loop_new(const struct gateway_options *options, struct limits *limits,
	     struct key_set *keys, struct gateway_loop **out)
{
	struct gateway_loop *l = xcalloc(1, sizeof(*l));
	int rv;

	*out = NULL;
	l->options = options;
	l->keys = keys;
	l->in_flight_max =
		(size_t)(options->in_flight_total_max / options->loops);
	if (l->in_flight_max == 0) {
		l->in_flight_max = 1;
	}
	window_init(&l->window, l->in_flight_max);
	l->chance = (uint32_t)uv_hrtime();
	l->limits = limits;
	limit_rates_read(options, &l->rates);
	l->write_total_max =
		(size_t)(options->write_queue_total_max / options->loops);
	mailbox_init(&l->mail);
	batcher_init(&l->batcher, l);
	l->edge = edge_new(options);
	retry_budget_init(&l->budget, options->retry_percent,
			  options->retry_burst);
	check(uv_loop_init(&l->uv) == 0);
	l->hub = stream_hub_new(&l->uv);
	stream_hub_gather(l->hub, (uint64_t)options->gather_ms);
	check(uv_async_init(&l->uv, &l->wake, wake_cb) == 0);
	l->wake.data = l;
	start_timers(l);
	rv = connect_services(l);
	if (rv != 0) {
		loop_free_idle(l);
		return rv;
	}
	*out = l;
	return 0;
}

/* Close everything; the loop runs out of handles, then. */
static void stop(struct gateway_loop *l)
{
	if (l->stopping) {
		return;
	}
	l->stopping = true;
	check(l->greeting == NULL && l->serving == NULL);
	metric_add(&gateway_metrics.write_queue, -l->write_total);
	batcher_flush(&l->batcher); /* nobody waits for what is in it */
	if (l->grabs != NULL) {
		dubbo_client_free(l->grabs);
	}
	if (l->ledger != NULL) {
		dubbo_client_free(l->ledger);
	}
	uv_close((uv_handle_t *)&l->wake, NULL);
	uv_close((uv_handle_t *)&l->tick, NULL);
	uv_close((uv_handle_t *)&l->sweep, NULL);
	uv_close((uv_handle_t *)&l->turn, NULL);
}

static void run_out(struct gateway_loop *l)
{
	(void)uv_run(&l->uv, UV_RUN_DEFAULT);
	check(l->stopping);
	stream_hub_free(l->hub);
	(void)uv_run(&l->uv, UV_RUN_DEFAULT);
	check(uv_loop_close(&l->uv) == 0);
}

static void thread_main(void *arg)
{
	struct gateway_loop *l = arg;

	run_out(l);
	l->ended(l->ended_ctx);
}

static void free_loop(struct gateway_loop *l)
{
	check(l->alive == 0);
	mailbox_close(&l->mail);
	key_set_drop(l->keys);
	edge_free(l->edge);
	request_free_spares(l);
	free(l);
}

int loop_start(struct gateway_loop *l, void (*ended)(void *ctx), void *ctx)
{
	l->ended = ended;
	l->ended_ctx = ctx;
	return uv_thread_create(&l->thread, thread_main, l);
}

void loop_free_idle(struct gateway_loop *l)
{
	stop(l);
	run_out(l);
	free_loop(l);
}

void loop_join(struct gateway_loop *l)
{
	check(uv_thread_join(&l->thread) == 0);
	free_loop(l);
}
