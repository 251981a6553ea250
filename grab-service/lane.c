#include "lane.h"

#include <utlist.h>

#include "base/check.h"
#include "base/metrics.h"
#include "rain/gateway.pb-c.h"

#include "answer.h"
#include "batch.h"
#include "env.h"
#include "flight.h"

static struct metric waiting = METRIC_GAUGE(
	"rain_grab_waiting", "Grabs and results in the queues", "");

/* Why an ask got no turn. */
enum shed { SHED_QUEUE, SHED_WAIT, SHED_LATE, SHED_REDIS, SHED_KINDS };

#define SHED(reason)                                                 \
	METRIC_COUNTER("rain_grab_shed_total",                       \
		       "Grabs and results refused without a script " \
		       "call, by reason",                            \
		       "reason=\"" reason "\"")
static struct metric sheds[SHED_KINDS] = {
	[SHED_QUEUE] = SHED("queue"),
	[SHED_WAIT] = SHED("wait"),
	[SHED_LATE] = SHED("late"),
	[SHED_REDIS] = SHED("redis"),
};

void lane_metrics(void)
{
	static bool done;

	if (done) {
		return;
	}
	done = true;
	flight_metrics();
	metrics_register(&waiting);
	for (int i = 0; i < SHED_KINDS; i++) {
		metrics_register(&sheds[i]);
	}
}

/* ---- Answers ---- */

void lane_answer(struct ask *ask, const struct answer *answer)
{
	struct activity *a = ask->activity;

	ask->activity = NULL;
	ask->done(ask, answer);
	activity_unpin(a);
}

static void answer_plain(struct ask *ask, int status, uint64_t revision,
			 uint32_t retry_after_ms, const char *message)
{
	struct answer answer = {
		.status = status,
		.retry_after_ms = retry_after_ms,
		.revision = revision,
		.message = message,
	};

	lane_answer(ask, &answer);
}

static int refusal(const struct ask *ask)
{
	return ask->unsure || ask->kind == LANE_RESULT ? RAIN__STATUS__PENDING
						       : RAIN__STATUS__BUSY;
}

void lane_refuse(struct ask *ask, uint64_t revision, const char *message)
{
	int status = refusal(ask);

	answer_plain(ask, status, revision, answer_retry_ms(status, 0),
		     message);
}

void lane_pending(struct ask *ask, uint64_t revision, const char *message)
{
	answer_plain(ask, RAIN__STATUS__PENDING, revision,
		     answer_retry_ms(RAIN__STATUS__PENDING, 0), message);
}

static void shed(struct grab_env *env, struct ask *ask, enum shed why)
{
	static const char *const messages[SHED_KINDS] = {
		[SHED_QUEUE] = "the queue is full",
		[SHED_WAIT] = "it would take too long",
		[SHED_LATE] = "it came too late",
		[SHED_REDIS] = "Redis does not answer",
	};

	metric_add(&sheds[why], 1);
	answer_plain(ask, refusal(ask), 0, lane_watch_shed(env), messages[why]);
}

/* ---- The queue ---- */

static struct lane *lane_of(struct activity *a, enum lane_kind kind)
{
	return &a->lanes[kind];
}

static void count_queued(struct grab_env *env, struct lane *lane, int n)
{
	lane->waiting += (size_t)n;
	env->queued += (size_t)n;
	metric_add(&waiting, n);
}

/* How long its answer is worth something. */
static uint64_t left_ms(const struct grab_env *env, const struct ask *ask)
{
	uint64_t now = uv_now(env->loop);
	uint64_t left = ask->deadline_ms > now ? ask->deadline_ms - now : 0;
	int64_t executable = ask->not_after_ms - redis_time_now(&env->time);

	if (ask->kind == LANE_GRAB && !ask->repeat &&
	    executable < (int64_t)left) {
		return executable > 0 ? (uint64_t)executable : 0;
	}
	return left;
}

static bool in_time(const struct grab_env *env, const struct lane *lane,
		    const struct ask *ask)
{
	struct pace_view v = {
		/* Of this turn of the loop: what it takes itself to read many
		 * grabs says nothing of Redis. */
		.now_us = uv_now(env->loop) * 1000,
		.oldest_us = lane->calls > 0 ? lane->flights->sent_us : 0,
		.calls = lane->calls,
		.waiting = lane->waiting,
		.batch_max = (size_t)env->options->batch_max,
	};
	struct lane_group *g = ask->group;
	bool room;

	if (g != NULL && g->activity == ask->activity) {
		return g->room;
	}
	room = pace_room(&lane->pace, &v, left_ms(env, ask) * 1000,
			 (uint64_t)env->options->wait_max_ms * 1000);
	if (g != NULL) {
		*g = (struct lane_group){ ask->activity, room };
	}
	return room;
}

void lane_put(struct grab_env *env, struct ask *ask)
{
	struct lane *lane = lane_of(ask->activity, ask->kind);

	activity_pin(ask->activity);
	ask->tries = 0;
	ask->unsure = false;
	if (lane->waiting >= (size_t)env->options->queue_max ||
	    env->queued >= (size_t)env->options->queue_total) {
		shed(env, ask, SHED_QUEUE);
		return;
	}
	/* A few may wait to see whether Redis is back at once. */
	if (lane_redis_silent(env) ||
	    (!redis_ready(env->redis) &&
	     lane->waiting >= (size_t)env->options->batch_max)) {
		shed(env, ask, SHED_REDIS);
		return;
	}
	if (!in_time(env, lane, ask)) {
		shed(env, ask, SHED_WAIT);
		return;
	}
	DL_APPEND(lane->queue, ask);
	count_queued(env, lane, 1);
	lane_watch_taken(env);
	lane_watch(env, ask->activity, lane);
}

void lane_put_first(struct grab_env *env, struct ask *ask)
{
	struct lane *lane = lane_of(ask->activity, ask->kind);

	DL_PREPEND(lane->queue, ask);
	count_queued(env, lane, 1);
	lane_watch(env, ask->activity, lane);
}

struct ask *lane_take_first(struct grab_env *env, struct lane *lane)
{
	struct ask *ask = lane->queue;

	check(ask != NULL);
	DL_DELETE(lane->queue, ask);
	count_queued(env, lane, -1);
	return ask;
}

/* A grab that Redis would refuse anyway does not get there. A result may ask
 * about a grab of any age, and who may have won is told so however late. */
static bool too_late(const struct grab_env *env, int64_t redis_ms,
		     const struct ask *ask)
{
	if (uv_now(env->loop) >= ask->deadline_ms) {
		return true;
	}
	return ask->kind == LANE_GRAB && !ask->repeat &&
	       redis_ms > ask->not_after_ms;
}

/* Of the first few of the queue; true if there were any. */
static bool drop_late(struct grab_env *env, struct lane *lane, size_t look)
{
	int64_t redis_ms = redis_time_now(&env->time);
	bool silent = lane_redis_silent(env);
	struct ask *ask = lane->queue;
	bool dropped = false;

	while (ask != NULL && look-- > 0) {
		struct ask *next = ask->next;

		if (silent || too_late(env, redis_ms, ask)) {
			DL_DELETE(lane->queue, ask);
			count_queued(env, lane, -1);
			shed(env, ask, silent ? SHED_REDIS : SHED_LATE);
			look++;
			dropped = true;
		}
		ask = next;
	}
	return dropped;
}

void lane_drop_late(struct grab_env *env, struct lane *lane)
{
	(void)drop_late(env, lane, lane->waiting);
}

void lane_pump(struct grab_env *env, struct activity *a, enum lane_kind kind)
{
	struct lane *lane = lane_of(a, kind);
	size_t max = (size_t)env->options->batch_max;
	size_t n;

	while ((n = batch_next(lane->waiting, lane->calls, max)) > 0) {
		/* Without those of what would be sent it may be too few. */
		if (!drop_late(env, lane, n)) {
			flight_launch(env, a, kind, n);
		}
	}
}
