#include "grab_service.h"

#include <stdlib.h>

#include "base/id.h"
#include "base/log.h"
#include "base/metrics.h"
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

/* One grab of a call and room for its answer. */
struct place {
	struct ask ask;
	struct gather *gather;
	Rain__GrabResponse response;
	Rain__GrabReply reply;
	char packet_id[PACKET_ID_MAX];
	Rain__RedPacket packet;
};

/* One Dubbo call: it is answered when all its places are. */
struct gather {
	struct grab_env *env;
	struct dubbo_call *call;
	struct lane_group group;
	int64_t came_ms; /* in Redis's time */
	bool batch;      /* answered by a GrabBatchResponse */
	size_t count;
	size_t open; /* places without an answer, and one while it is made */
	struct place places[];
};

static struct gather *new_gather(struct grab_env *env, struct dubbo_call *call,
				 bool batch, size_t count)
{
	struct gather *g = xcalloc(1, sizeof *g + count * sizeof g->places[0]);

	g->env = env;
	g->call = call;
	g->came_ms = redis_time_now(&env->time);
	g->batch = batch;
	g->count = count;
	g->open = 1;
	for (size_t i = 0; i < count; i++) {
		g->places[i].gather = g;
		rain__grab_response__init(&g->places[i].response);
		rain__grab_reply__init(&g->places[i].reply);
		rain__red_packet__init(&g->places[i].packet);
		g->places[i].response.reply = &g->places[i].reply;
	}
	return g;
}

static void reply_batch(struct gather *g, int64_t now_ms)
{
	Rain__GrabBatchResponse response = RAIN__GRAB_BATCH_RESPONSE__INIT;
	Rain__GrabResponse **list = xcalloc(g->count + 1, sizeof(*list));

	for (size_t i = 0; i < g->count; i++) {
		list[i] = &g->places[i].response;
	}
	response.n_responses = g->count;
	response.responses = list;
	response.time_ms = now_ms;
	dubbo_reply(g->call, &response.base);
	free(list);
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
		check(g->count == 1);
		g->places[0].response.time_ms = now_ms;
		dubbo_reply(g->call, &g->places[0].response.base);
	}
	free(g);
}

static void set_answer(struct place *p, const struct answer *answer)
{
	p->reply.status = (Rain__Status)answer->status;
	p->reply.retry_after_ms = answer->retry_after_ms;
	p->reply.message = to_pb_str(answer->message);
	p->response.revision = answer->revision;
	p->response.packets = answer->packets;
	p->response.stands_ms = answer->stands_ms;
	if (answer->red_packet_id.n == 0) {
		return;
	}
	if (answer->red_packet_id.n > sizeof p->packet_id) {
		/* Nobody may be told "no" who has a packet. */
		log_error("red packet id too long",
			  log_bytes("user",
				    bytes_make(p->ask.user, p->ask.user_len)));
		p->reply.status = RAIN__STATUS__PENDING;
		return;
	}
	memcpy(p->packet_id, answer->red_packet_id.p, answer->red_packet_id.n);
	p->packet.red_packet_id =
		to_pb(bytes_make(p->packet_id, answer->red_packet_id.n));
	p->packet.amount_cents = answer->amount_cents;
	p->packet.at_ms = answer->at_ms;
	p->reply.red_packet = &p->packet;
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

/* What one grab or one question asks for. */
struct wanted {
	struct bytes activity_id;
	struct bytes user_id;
	int64_t not_after_ms;
	uint32_t attempt;
	enum lane_kind kind;
};

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

/* Puts the ask in its queue; the activity, or NULL if it was answered here. */
static struct activity *place_ask(struct gather *g, struct place *p,
				  const struct wanted *w)
{
	struct grab_env *env = g->env;
	bool grab = w->kind == LANE_GRAB;
	struct activity *a;

	g->open++;
	p->ask.kind = w->kind;
	if (!id_valid(w->activity_id) || !id_valid(w->user_id)) {
		answer_here(p, RAIN__STATUS__DENIED,
			    answer_message(RAIN__STATUS__DENIED));
		return NULL;
	}
	a = directory_get(env->directory, w->activity_id);
	if (a == NULL) {
		answer_here(p,
			    grab ? RAIN__STATUS__BUSY : RAIN__STATUS__PENDING,
			    "too many activities at once");
		return NULL;
	}
	p->ask.activity = a;
	p->ask.done = answered;
	p->ask.group = &g->group;
	memcpy(p->ask.user, w->user_id.p, w->user_id.n);
	p->ask.user_len = w->user_id.n;
	p->ask.deadline_ms = answer_by(env, g->call);
	p->ask.not_after_ms =
		grab ? grab_not_after(w->not_after_ms, g->came_ms)
		     : (w->not_after_ms > 0 ? w->not_after_ms : 0);
	p->ask.repeat = w->attempt > 0;
	activity_pin(a);
	lane_put(env, &p->ask);
	return a;
}

/* The queues are pumped when all asks of the call are in them, so that they
 * leave together. touched are pinned, and may name one more than once. */
static void pump(struct gather *g, struct activity **touched, size_t count,
		 enum lane_kind kind)
{
	for (size_t i = 0; i < count; i++) {
		lane_pump(g->env, touched[i], kind);
		activity_unpin(touched[i]);
	}
	settle(g);
}

static void handle_one(struct grab_env *env, struct dubbo_call *call,
		       const struct wanted *w)
{
	struct gather *g = new_gather(env, call, false, 1);
	struct activity *a = place_ask(g, &g->places[0], w);

	pump(g, &a, a != NULL ? 1 : 0, w->kind);
}

static void handle_grab(void *ctx, struct dubbo_call *call,
			struct bytes argument)
{
	Rain__GrabRequest *r = proto_unpack(&rain__grab_request__descriptor,
					    argument, ARENA_MAX);
	struct wanted w = { .kind = LANE_GRAB };

	if (r == NULL) {
		dubbo_fail(call, DUBBO_STATUS_BAD_REQUEST,
			   "not a rain.GrabRequest");
		return;
	}
	w.activity_id = from_pb(r->activity_id);
	w.user_id = from_pb(r->user_id);
	w.not_after_ms = r->not_after_ms;
	w.attempt = r->attempt;
	handle_one(ctx, call, &w);
	proto_free(r);
}

static void handle_result(void *ctx, struct dubbo_call *call,
			  struct bytes argument)
{
	Rain__ResultRequest *r = proto_unpack(&rain__result_request__descriptor,
					      argument, ARENA_MAX);
	struct wanted w = { .kind = LANE_RESULT };

	if (r == NULL) {
		dubbo_fail(call, DUBBO_STATUS_BAD_REQUEST,
			   "not a rain.ResultRequest");
		return;
	}
	w.activity_id = from_pb(r->activity_id);
	w.user_id = from_pb(r->user_id);
	w.not_after_ms = r->not_after_ms;
	handle_one(ctx, call, &w);
	proto_free(r);
}

static void handle_batch(void *ctx, struct dubbo_call *call,
			 struct bytes argument)
{
	Rain__GrabBatchRequest *r = proto_unpack(
		&rain__grab_batch_request__descriptor, argument, ARENA_MAX);
	struct activity **touched;
	struct gather *g;
	size_t n = 0;

	if (r == NULL || r->n_grabs > GRAB_CALL_MAX) {
		dubbo_fail(call, DUBBO_STATUS_BAD_REQUEST,
			   r == NULL ? "not a rain.GrabBatchRequest"
				     : "more than 1,000 grabs in a batch");
		proto_free(r);
		return;
	}
	g = new_gather(ctx, call, true, r->n_grabs);
	touched = xcalloc(r->n_grabs + 1, sizeof(*touched));
	for (size_t i = 0; i < r->n_grabs; i++) {
		const Rain__GrabRequest *one = r->grabs[i];
		struct wanted w = {
			.activity_id = from_pb(one->activity_id),
			.user_id = from_pb(one->user_id),
			.not_after_ms = one->not_after_ms,
			.attempt = one->attempt,
			.kind = LANE_GRAB,
		};
		struct activity *a = place_ask(g, &g->places[i], &w);

		if (a != NULL) {
			touched[n++] = a;
		}
	}
	pump(g, touched, n, LANE_GRAB);
	free(touched);
	proto_free(r);
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
