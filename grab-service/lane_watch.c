/*
 * Looks after the lanes that are busy: whoever waits is answered at the
 * deadline at the latest, also while Redis says nothing; and once it has said
 * nothing for redis.stall, nobody waits for it: all are refused at once, until
 * it speaks again. What it was sent is not sent again meanwhile.
 */
#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"

#include "answer.h"
#include "env.h"
#include "flight.h"
#include "lane.h"

enum {
	LOOK_MS = 20,
	/* Timers run before what has arrived is read: a loop that was held up
	 * itself must not blame Redis. */
	LOOKS_SILENT = 2,
	ADAPT_MS = 500,
	RETRY_MIN_MS = 100,
	RETRY_MAX_MS = 3200,
};

struct lane_watch {
	struct grab_env *env;
	uv_timer_t timer; /* runs while a lane is busy */
	struct lane *busy;
	int silent_looks;
	uint64_t retry_ms; /* what those who are shed are told, before chance */
	uint64_t adapt_ms; /* loop time of the next look at: */
	uint64_t taken;    /* asks since the last one */
	uint64_t shed;
	bool told; /* the log knows that Redis is silent */
};

static struct metric silent_gauge = METRIC_GAUGE(
	"rain_grab_redis_silent",
	"1 while grabs are refused because Redis says nothing", "");

static bool silent_now(const struct grab_env *env)
{
	return redis_silence_ms(env->redis) >=
	       (uint64_t)env->options->redis_stall_ms;
}

bool lane_redis_silent(const struct grab_env *env)
{
	const struct lane_watch *w = env->watch;

	return w != NULL && w->silent_looks >= LOOKS_SILENT && silent_now(env);
}

static void look_at_redis(struct lane_watch *w)
{
	bool silent;

	w->silent_looks = silent_now(w->env) ? w->silent_looks + 1 : 0;
	silent = w->silent_looks >= LOOKS_SILENT;
	if (silent == w->told) {
		return;
	}
	w->told = silent;
	metric_set(&silent_gauge, silent);
	if (silent) {
		log_warn("Redis is silent, grabs are refused",
			 log_int("silent_ms",
				 (int64_t)redis_silence_ms(w->env->redis)));
	} else {
		log_info("Redis speaks again");
	}
}

static void let_go(struct lane_watch *w, struct lane *lane)
{
	struct activity *a = lane->busy;

	DL_DELETE(w->busy, lane);
	lane->busy = NULL;
	activity_unpin(a);
}

/* Twice as long while more are shed than get a turn, up to a bound; half as
 * long when it is over. */
static void adapt_retry(struct lane_watch *w)
{
	if (uv_now(w->env->loop) < w->adapt_ms) {
		return;
	}
	w->adapt_ms = uv_now(w->env->loop) + ADAPT_MS;
	if (w->shed > w->taken) {
		w->retry_ms *= 2;
	} else {
		w->retry_ms /= 2;
	}
	if (w->retry_ms < RETRY_MIN_MS) {
		w->retry_ms = RETRY_MIN_MS;
	} else if (w->retry_ms > RETRY_MAX_MS) {
		w->retry_ms = RETRY_MAX_MS;
	}
	w->shed = 0;
	w->taken = 0;
}

void lane_watch_taken(struct grab_env *env)
{
	if (env->watch != NULL) {
		env->watch->taken++;
	}
}

uint32_t lane_watch_shed(struct grab_env *env)
{
	if (env->watch == NULL) {
		return answer_jitter(RETRY_MIN_MS);
	}
	env->watch->shed++;
	return answer_jitter(env->watch->retry_ms);
}

static void look_cb(uv_timer_t *timer)
{
	struct lane_watch *w = timer->data;
	struct lane *lane;
	struct lane *next;

	look_at_redis(w);
	adapt_retry(w);
	DL_FOREACH_SAFE(w->busy, lane, next)
	{
		lane_drop_late(w->env, lane);
		flight_answer_late(w->env, lane);
		if (lane->waiting == 0 && lane->calls == 0) {
			let_go(w, lane);
		}
	}
	if (w->busy == NULL && !w->told && w->retry_ms == RETRY_MIN_MS) {
		(void)uv_timer_stop(timer);
	}
}

void lane_watch(struct grab_env *env, struct activity *a, struct lane *lane)
{
	struct lane_watch *w = env->watch;

	if (w == NULL || lane->busy != NULL) {
		return;
	}
	lane->busy = a;
	activity_pin(a);
	DL_APPEND(w->busy, lane);
	if (!uv_is_active((uv_handle_t *)&w->timer)) {
		(void)uv_timer_start(&w->timer, look_cb, LOOK_MS, LOOK_MS);
	}
}

void lane_watch_start(struct grab_env *env)
{
	static bool registered;
	struct lane_watch *w = xcalloc(1, sizeof *w);

	if (!registered) {
		registered = true;
		metrics_register(&silent_gauge);
	}
	w->env = env;
	w->retry_ms = RETRY_MIN_MS;
	check(uv_timer_init(env->loop, &w->timer) == 0);
	w->timer.data = w;
	env->watch = w;
}

static void closed_cb(uv_handle_t *handle)
{
	free(handle->data);
}

void lane_watch_stop(struct grab_env *env)
{
	struct lane_watch *w = env->watch;
	struct lane *lane;
	struct lane *next;

	if (w == NULL) {
		return;
	}
	DL_FOREACH_SAFE(w->busy, lane, next)
	{
		check(lane->waiting == 0 && lane->calls == 0);
		let_go(w, lane);
	}
	env->watch = NULL;
	uv_close((uv_handle_t *)&w->timer, closed_cb);
}
