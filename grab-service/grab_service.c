#include "grab_service.h"

#include <stdlib.h>

#include "base/id.h"
#include "base/log.h"
#include "base/metrics.h"
#include "proto/grab_batch.h"
#include "proto/proto_util.h"
#include "rain/grab_service.pb-c.h"

#include "answer.h"

enum {
	STATUS_COUNT = RAIN__STATUS__PENDING + 1,
	ARENA_MAX = 1024 * 1024, /* memory of one request */
	EARLY_MAX_MS = 50,       /* an answer before its deadline */
	PACKET_ID_MAX = 64,      /* longest red packet id passed on */
};

#define GRABS(status)                                                      \
	METRIC_COUNTER("rain_grabs_total", "Grabs by what they were told", \
		       "status=\"" status "\"")
static struct metric grabs[STATUS_COUNT] = {
	[RAIN__STATUS__WON] = GRABS("won"),
	[RAIN__STATUS__ALREADY_GRABBED] = GRABS("already_grabbed"),
	[RAIN__STATUS__SOLD_OUT] = GRABS("sold_out"),
	[RAIN__STATUS__NOT_STARTED] = GRABS("not_started"),
	[RAIN__STATUS__NOT_YET] = GRABS("not_yet"),
	[RAIN__STATUS__PAUSED] = GRABS("paused"),
	[RAIN__STATUS__ENDED] = GRABS("ended"),
	[RAIN__STATUS__NO_SUCH_ACTIVITY] = GRABS("no_such_activity"),
	[RAIN__STATUS__DENIED] = GRABS("denied"),
	[RAIN__STATUS__RATE_LIMITED] = GRABS("rate_limited"),
	[RAIN__STATUS__BUSY] = GRABS("busy"),
	[RAIN__STATUS__PENDING] = GRABS("pending"),
};
static struct metric results =
	METRIC_COUNTER("rain_results_total", "Results asked for", "");

void grab_service_metrics(void)
{
	static bool done;

	if (done) {
		return;
	}
	done = true;
	for (int i = RAIN__STATUS__WON; i < STATUS_COUNT; i++) {
		metrics_register(&grabs[i]);
	}
	metrics_register(&results);
}

int64_t grab_not_after(int64_t asked_ms, int64_t now_ms)
{
	if (asked_ms <= 0) {
		return now_ms + GRAB_NOT_AFTER_MS;
	}
	if (asked_ms > now_ms + GRAB_AHEAD_MAX_MS) {
		return now_ms + GRAB_AHEAD_MAX_MS;
	}
	return asked_ms;
}

/* One grab of a call and its answer. */
struct place {
	struct ask ask;
	struct gather *gather;
	struct answer answer;
	char packet_id[PACKET_ID_MAX]; /* that of answer */
};

/* One Dubbo call: it is answered when all its places are. */
struct gather {
	struct grab_env *env;
	struct dubbo_call *call;
	struct lane_group group;
	int64_t came_ms; /* in Redis's time */
	enum lane_kind kind;
	bool batch; /* answered by a GrabBatchResponse */
	size_t count;
	size_t open; /* places without an answer, and one while it is made */
	struct place places[];
};

static struct gather *new_gather(struct grab_env *env, struct dubbo_call *call,
				 enum lane_kind kind, size_t count)
{
	struct gather *g = xmalloc(sizeof *g + count * sizeof g->places[0]);

	*g = (struct gather){
		.env = env,
		.call = call,
		.came_ms = redis_time_now(&env->time),
		.kind = kind,
		.count = count,
		.open = 1,
	};
	for (size_t i = 0; i < count; i++) {
		g->places[i].gather = g;
	}
	return g;
}

static void reply_batch(struct gather *g, int64_t now_ms)
{
	struct grab_answer one;
	struct grab_batch m;
	struct buf written;

	buf_init(&written);
	for (size_t i = 0; i < g->count; i++) {
		answer_response(&g->places[i].answer, &one);
		grab_batch_put_answer(&written, &one.response);
	}
	grab_batch_put_time(&written, now_ms);
	grab_batch_init(&m, buf_live(&written));
	dubbo_reply(g->call, &m.message);
	buf_close(&written);
}

static void reply_one(struct gather *g, int64_t now_ms)
{
	struct grab_answer one;

	check(g->count == 1);
	answer_response(&g->places[0].answer, &one);
	one.response.time_ms = now_ms;
	dubbo_reply(g->call, &one.response.base);
}

/* One place less is open, or the making of them has come to its end. */
static void settle(struct gather *g)
{
	int64_t now_ms;

	check(g->open > 0);
	g->open--;
	if (g->open > 0) {
		return;
	}
	now_ms = redis_time_now(&g->env->time);
	if (g->batch) {
		reply_batch(g, now_ms);
	} else {
		reply_one(g, now_ms);
	}
	free(g);
}

static void set_answer(struct place *p, const struct answer *answer)
{
	size_t n = answer->red_packet_id.n;

	p->answer = *answer;
	if (n > sizeof p->packet_id) {
		/* Nobody may be told "no" who has a packet. */
		log_error("red packet id too long",
			  log_bytes("user",
				    bytes_make(p->ask.user, p->ask.user_len)));
		p->answer.status = RAIN__STATUS__PENDING;
		n = 0;
	}
	if (n > 0) {
		memcpy(p->packet_id, answer->red_packet_id.p, n);
	}
	p->answer.red_packet_id = bytes_make(p->packet_id, n);
}

static void answered(struct ask *ask, const struct answer *answer)
{
	struct place *p = container_of(ask, struct place, ask);

	set_answer(p, answer);
	if (ask->kind == LANE_RESULT) {
		metric_add(&results, 1);
	} else {
		check(answer->status > 0 && answer->status < STATUS_COUNT);
		metric_add(&grabs[answer->status], 1);
	}
	settle(p->gather);
}

static void answer_here(struct place *p, int status, const char *message)
{
	struct answer answer = {
		.status = status,
		.retry_after_ms = answer_retry_ms(status, 0),
		.message = message,
	};

	answered(&p->ask, &answer);
}

/* Somewhat before the caller stops waiting: an answer that says that nobody
 * knows is worth more than none, which it would have to ask about again. */
static uint64_t answer_by(const struct grab_env *env,
			  const struct dubbo_call *call)
{
	uint64_t deadline = dubbo_call_deadline(call);
	uint64_t now = uv_now(env->loop);
	uint64_t early = deadline > now ? (deadline - now) / 8 : 0;

	return deadline - (early < EARLY_MAX_MS ? early : EARLY_MAX_MS);
}

/* Puts the ask in its queue; the activity, pinned, or NULL if it was answered
 * here. last is that of the ask before it, or NULL: mostly it is the same. */
static struct activity *place_ask(struct gather *g, struct place *p,
				  const Rain__GrabRequest *r,
				  struct activity *last)
{
	struct grab_env *env = g->env;
	bool grab = g->kind == LANE_GRAB;
	struct bytes id = from_pb(r->activity_id);
	struct bytes user = from_pb(r->user_id);
	struct activity *a;

	g->open++;
	p->ask.kind = g->kind;
	if (!id_valid(id) || !id_valid(user)) {
		answer_here(p, RAIN__STATUS__DENIED,
			    answer_message(RAIN__STATUS__DENIED));
		return NULL;
	}
	a = last != NULL && bytes_eq(activity_id(last), id)
		    ? last
		    : directory_get(env->directory, id);
	if (a == NULL) {
		answer_here(p,
			    grab ? RAIN__STATUS__BUSY : RAIN__STATUS__PENDING,
			    "too many activities at once");
		return NULL;
	}
	p->ask.activity = a;
	p->ask.done = answered;
	p->ask.group = &g->group;
	memcpy(p->ask.user, user.p, user.n);
	p->ask.user_len = user.n;
	p->ask.deadline_ms = answer_by(env, g->call);
	p->ask.not_after_ms =
		grab ? grab_not_after(r->not_after_ms, g->came_ms)
		     : (r->not_after_ms > 0 ? r->not_after_ms : 0);
	p->ask.repeat = r->attempt > 0;
	activity_pin(a);
	lane_put(env, &p->ask);
	return a;
}

/* The queues are pumped when all asks of the call are in them, so that they
 * leave together. touched are pinned, and may name one more than once. */
static void pump(struct gather *g, struct activity **touched, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		lane_pump(g->env, touched[i], g->kind);
		activity_unpin(touched[i]);
	}
	settle(g);
}

static void handle_one(struct grab_env *env, struct dubbo_call *call,
		       enum lane_kind kind, const Rain__GrabRequest *r)
{
	struct gather *g = new_gather(env, call, kind, 1);
	struct activity *a = place_ask(g, &g->places[0], r, NULL);

	pump(g, &a, a != NULL ? 1 : 0);
}

static void handle_grab(void *ctx, struct dubbo_call *call,
			struct bytes argument)
{
	Rain__GrabRequest *r = proto_unpack(&rain__grab_request__descriptor,
					    argument, ARENA_MAX);

	if (r == NULL) {
		dubbo_fail(call, DUBBO_STATUS_BAD_REQUEST,
			   "not a rain.GrabRequest");
		return;
	}
	handle_one(ctx, call, LANE_GRAB, r);
	proto_free(r);
}

static void handle_result(void *ctx, struct dubbo_call *call,
			  struct bytes argument)
{
	Rain__ResultRequest *r = proto_unpack(&rain__result_request__descriptor,
					      argument, ARENA_MAX);
	Rain__GrabRequest grab = RAIN__GRAB_REQUEST__INIT;

	if (r == NULL) {
		dubbo_fail(call, DUBBO_STATUS_BAD_REQUEST,
			   "not a rain.ResultRequest");
		return;
	}
	grab.activity_id = r->activity_id;
	grab.user_id = r->user_id;
	grab.not_after_ms = r->not_after_ms;
	handle_one(ctx, call, LANE_RESULT, &grab);
	proto_free(r);
}

static void take_batch(struct grab_env *env, struct dubbo_call *call,
		       const Rain__GrabRequest *requests, size_t count)
{
	struct gather *g = new_gather(env, call, LANE_GRAB, count);
	struct activity **touched = xmalloc((count + 1) * sizeof(*touched));
	struct activity *last = NULL;
	size_t n = 0;

	g->batch = true;
	for (size_t i = 0; i < count; i++) {
		struct activity *a =
			place_ask(g, &g->places[i], &requests[i], last);

		if (a != NULL && a == last) {
			activity_unpin(a); /* it is among them */
		} else if (a != NULL) {
			last = touched[n++] = a;
		}
	}
	pump(g, touched, n);
	free(touched);
}

/* A batch that is not written as gateways do. */
static void take_message(struct grab_env *env, struct dubbo_call *call,
			 struct bytes argument)
{
	Rain__GrabBatchRequest *r = proto_unpack(
		&rain__grab_batch_request__descriptor, argument, ARENA_MAX);
	Rain__GrabRequest *requests;

	if (r == NULL || r->n_grabs > GRAB_CALL_MAX) {
		dubbo_fail(call, DUBBO_STATUS_BAD_REQUEST,
			   r == NULL ? "not a rain.GrabBatchRequest"
				     : "more than 1,000 grabs in a batch");
		proto_free(r);
		return;
	}
	requests = xmalloc((r->n_grabs + 1) * sizeof(*requests));
	for (size_t i = 0; i < r->n_grabs; i++) {
		requests[i] = *r->grabs[i];
	}
	take_batch(env, call, requests, r->n_grabs);
	free(requests);
	proto_free(r);
}

static void handle_batch(void *ctx, struct dubbo_call *call,
			 struct bytes argument)
{
	size_t count = grab_batch_count(argument);
	Rain__GrabRequest *requests = NULL;

	if (count <= GRAB_CALL_MAX) {
		requests = xmalloc((count + 1) * sizeof(*requests));
	}
	if (requests != NULL &&
	    grab_batch_read_requests(argument, requests, count)) {
		take_batch(ctx, call, requests, count);
	} else {
		take_message(ctx, call, argument);
	}
	free(requests);
}

static const struct dubbo_method methods[] = {
	{ "grab", "Lrain/GrabRequest;", handle_grab },
	{ "grabBatch", "Lrain/GrabBatchRequest;", handle_batch },
	{ "result", "Lrain/ResultRequest;", handle_result },
};

struct dubbo_interface grab_service_interface(struct grab_env *env)
{
	return (struct dubbo_interface){
		.name = "rain.GrabService",
		.version = "1.0.0",
		.methods = methods,
		.method_count = sizeof methods / sizeof methods[0],
		.ctx = env,
	};
}
