#include "flight.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "lua/scripts.h"
#include "rain/gateway.pb-c.h"

#include "answer.h"
#include "elsewhere.h"
#include "env.h"
#include "fence.h"
#include "halt.h"
#include "relay.h"
#include "roll.h"
#include "step.h"

/* The arguments of lua/grab.lua and lua/result.lua. */
enum { ARG_WITNESS, ARG_DRAWS, ARG_DEADLINES, ARG_USERS };

static struct metric batch_size = METRIC_COUNTS(
	"rain_grab_batch_size", "Grabs and results in one script call", "");
static struct metric script_seconds =
	METRIC_SECONDS("rain_grab_script_seconds",
		       "From sending a script call to its reply", "");
static struct metric retried =
	METRIC_COUNTER("rain_grab_asked_again_total",
		       "Grabs asked again, outcome unknown", "");

static struct metric redrawn =
	METRIC_COUNTER("rain_grab_drawn_again_total",
		       "Grabs of live activities asked again, as others took "
		       "the packets that the call had draws for",
		       "");

void flight_metrics(void)
{
	metrics_register(&batch_size);
	metrics_register(&script_seconds);
	metrics_register(&retried);
	metrics_register(&redrawn);
}

static struct lane *lane_of(struct flight *f)
{
	return &f->activity->lanes[f->kind];
}

/* ---- The reply ---- */

/* v says what is the same for all users of the reply. */
static void handle_user(struct flight *f, size_t i,
			const struct step_reply *reply, struct verdict v)
{
	struct ask *ask = f->asks[i];
	struct relay *relay = f->env->relay;
	struct answer answer;
	struct claim claim;

	v.user = bytes_make(ask->user, ask->user_len);
	v.unsure = ask->unsure;
	answer_read(reply, i, &v);
	answer = answer_make(&v, &claim);
	roll_judge(f->env, f->activity, &claim, &v, &answer);
	if (answer.status == RAIN__STATUS__WON && relay != NULL &&
	    !relay_publish(f->activity, &claim, reply->revision)) {
		relay_poke(relay, f->activity);
	}
	lane_answer(ask, &answer);
}

static void handle_users(struct flight *f, const struct step_reply *reply)
{
	struct verdict v = {
		.revision = reply->revision,
		.question = f->kind == LANE_RESULT,
		.counts = reply->code == STEP_COUNTS,
	};
	int64_t packets = 0, claims = 0;

	(void)step_number(reply, REPLY_WAIT, &v.wait_ms);
	if (step_number(reply, REPLY_PACKETS, &packets) && packets > 0) {
		v.packets = (uint64_t)packets;
	}
	activity_saw(f->activity, reply->state, reply->revision);
	if (f->kind == LANE_GRAB) {
		f->activity->witness_on = f->connection;
		f->activity->seen.served = true;
	}
	if (step_number(reply, REPLY_CLAIMS, &claims) && claims >= 0) {
		f->activity->draws.claims = (uint64_t)claims;
	}
	if (reply->code == STEP_COUNTS) {
		halt_counts(f->env, f->activity);
	}
	for (size_t i = 0; i < f->count; i++) {
		if (f->asks[i] != NULL) {
			handle_user(f, i, reply, v);
		}
	}
}

static void for_each_ask(struct flight *f,
			 void (*tell)(struct ask *ask, uint64_t revision,
				      const char *message),
			 uint64_t revision, const char *message)
{
	for (size_t i = 0; i < f->count; i++) {
		if (f->asks[i] != NULL) {
			tell(f->asks[i], revision, message);
		}
	}
}

static void refuse_all(struct flight *f, const struct step_reply *reply)
{
	const char *message = "Redis is not as it must be, nothing was done";

	if (reply->code == STEP_INCARNATION) {
		message = "Redis was restarted, checking that nothing was lost";
		fence_needed(f->env, f->activity);
	} else if (activity_may_log(f->activity, uv_now(f->env->loop))) {
		log_error("a grab was refused",
			  log_str("activity", f->activity->id),
			  log_str("code", step_code_name(reply->code)));
	}
	for_each_ask(f, lane_refuse, reply->revision, message);
}

/* The same users ask again, in front of the queue, as long as their time lasts:
 * the step is idempotent. */
static void ask_again(struct flight *f, struct metric *counted, const char *why)
{
	bool silent = lane_redis_silent(f->env);

	for (size_t i = f->count; i-- > 0;) {
		struct ask *ask = f->asks[i];

		if (ask == NULL) {
			continue;
		}
		if (silent || uv_now(f->env->loop) >= ask->deadline_ms ||
		    ask->tries >= LANE_TRIES_MAX) {
			lane_refuse(ask, 0, why);
			continue;
		}
		metric_add(counted, 1);
		lane_put_first(f->env, ask);
	}
}

/* Nobody knows whether it was executed. */
static void ask_unsure(struct flight *f)
{
	for (size_t i = 0; i < f->count; i++) {
		if (f->asks[i] != NULL) {
			f->asks[i]->unsure = f->kind == LANE_GRAB;
		}
	}
	ask_again(f, &retried, "Redis did not answer");
}

static void handle_reply(struct flight *f, const struct step_reply *reply)
{
	redis_time_sample(&f->env->time, f->sent_us, clock_mono_us(),
			  reply->time_ms);
	switch (reply->code) {
	case STEP_OK:
	case STEP_COUNTS:
		handle_users(f, reply);
		return;
	case STEP_NO_META:
		for (size_t i = 0; i < f->count; i++) {
			if (f->asks[i] != NULL) {
				elsewhere_absent(f->env, f->asks[i]);
			}
		}
		return;
	case STEP_UNLINKED:
		for (size_t i = 0; i < f->count; i++) {
			if (f->asks[i] != NULL) {
				elsewhere_unlinked(f->env, f->asks[i],
						   reply->revision);
			}
		}
		return;
	case STEP_DRAWS:
		if (draws_learn(&f->activity->draws, reply)) {
			ask_again(f, &redrawn, "others were quicker");
			return;
		}
		halt_evidence(f->env, f->activity,
			      "the seed in Redis is not that of the "
			      "commitment");
		refuse_all(f, reply);
		return;
	default:
		refuse_all(f, reply);
	}
}

static void handle_failure(struct flight *f, enum redis_outcome outcome,
			   struct bytes error)
{
	switch (outcome) {
	case REDIS_UNKNOWN:
		ask_unsure(f);
		return;
	case REDIS_PARTIAL:
		log_error("a script failed half-way",
			  log_str("activity", f->activity->id),
			  log_bytes("error", error));
		if (f->kind == LANE_GRAB) {
			halt_evidence(f->env, f->activity,
				      "a script failed half-way, see the log");
		}
		for_each_ask(f, lane_pending, 0, "a script failed");
		return;
	case REDIS_NOT_EXECUTED:
	default:
		for_each_ask(f, lane_refuse, 0,
			     "Redis can't do it now, nothing was done");
	}
}

static void flight_cb(void *ctx, enum redis_outcome outcome,
		      const struct step_reply *reply, struct bytes error)
{
	struct flight *f = ctx;
	struct activity *a = f->activity;
	struct lane *lane = lane_of(f);
	uint64_t now_us = clock_mono_us();

	check(lane->calls > 0);
	lane->calls--;
	DL_DELETE(lane->flights, f);
	pace_done(&lane->pace, f->sent_us, now_us);
	metric_observe(&script_seconds, now_us - f->sent_us);
	if (outcome == REDIS_DONE) {
		handle_reply(f, reply);
	} else {
		handle_failure(f, outcome, error);
	}
	lane_pump(f->env, a, f->kind);
	activity_unpin(a);
	free(f);
}

/* ---- Sending ---- */

/* Of a live activity: what the step draws the amounts from. */
static struct bytes draws_of(struct flight *f, char **memory)
{
	size_t users = 0;
	struct flight *other;

	DL_FOREACH(lane_of(f)->flights, other)
	{
		users += other->count;
	}
	return draws_argument(&f->activity->draws, users, f->asks[0]->tries,
			      memory);
}

/* The deadlines of the asks as lua/README.md has them; the caller's (free()). */
static char *deadlines_of(const struct flight *f)
{
	char *text = xmalloc(f->count * 2 * (U64_DIGITS + 1) + 1);
	char *p = text;
	size_t n = 0;

	for (size_t i = 0; i < f->count; i++) {
		int64_t not_after_ms = f->asks[i]->not_after_ms;

		n++;
		if (i + 1 < f->count &&
		    f->asks[i + 1]->not_after_ms == not_after_ms) {
			continue;
		}
		p += bytes_from_u64(n, p);
		*p++ = ' ';
		p += bytes_from_u64((uint64_t)not_after_ms, p);
		*p++ = ' ';
		n = 0;
	}
	*p = '\0';
	return text;
}

static void send_flight(struct flight *f)
{
	bool grab = f->kind == LANE_GRAB;
	struct grab_env *env = f->env;
	struct activity *a = f->activity;
	struct bytes *argv = xmalloc((ARG_USERS + f->count) * sizeof *argv);
	char *deadlines = deadlines_of(f), *draws = NULL;

	f->connection = redis_connection(env->redis);
	if (grab) {
		bool known =
			f->connection != 0 && a->witness_on == f->connection;

		argv[ARG_WITNESS] = known ? BYTES("") : bytes_str(env->witness);
		argv[ARG_DRAWS] = draws_of(f, &draws);
	} else {
		argv[ARG_WITNESS] = argv[ARG_DRAWS] = BYTES("");
	}
	argv[ARG_DEADLINES] = bytes_str(deadlines);
	for (size_t i = 0; i < f->count; i++) {
		struct ask *ask = f->asks[i];

		ask->tries++;
		argv[ARG_USERS + i] = bytes_make(ask->user, ask->user_len);
	}
	f->sent_us = clock_mono_us();
	metric_observe(&batch_size, f->count);
	step_run(env->redis, grab ? &lua_grab : &lua_result, activity_id(a),
		 ARG_USERS + f->count, argv,
		 (uint64_t)env->options->redis_timeout_ms, flight_cb, f);
	free(deadlines);
	free(draws);
	free(argv);
}

void flight_launch(struct grab_env *env, struct activity *a,
		   enum lane_kind kind, size_t n)
{
	struct flight *f = xmalloc(sizeof *f + n * sizeof f->asks[0]);
	struct lane *lane = &a->lanes[kind];

	*f = (struct flight){
		.env = env, .activity = a, .kind = kind, .count = n
	};
	for (size_t i = 0; i < n; i++) {
		f->asks[i] = lane_take_first(env, lane);
	}
	lane->calls++;
	DL_APPEND(lane->flights, f);
	activity_pin(a);
	send_flight(f);
}

void flight_answer_late(struct grab_env *env, struct lane *lane)
{
	struct flight *f;

	DL_FOREACH(lane->flights, f)
	{
		for (size_t i = 0; i < f->count; i++) {
			struct ask *ask = f->asks[i];

			if (ask != NULL &&
			    uv_now(env->loop) >= ask->deadline_ms) {
				f->asks[i] = NULL;
				lane_pending(ask, 0, "Redis did not answer");
			}
		}
	}
}
