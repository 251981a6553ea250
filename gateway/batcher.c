#include "gateway/batcher.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "gateway/loop.h"
#include "gateway/reply.h"
#include "gateway/verdict.h"
#include "proto/grab_batch.h"
#include "proto/proto_util.h"
#include "rain/grab_service.pb-c.h"

enum {
	/* Of an answer in memory, for each grab of the batch: the structs, the
	 * ids, a sentence. */
	ARENA_BASE = 64 * 1024,
	ARENA_GRAB = 2048,
	AHEAD = 2, /* requests */
	LINE = 64, /* bytes of the cache at a time */
};

static const struct dubbo_target target = {
	.path = "rain.GrabService",
	.version = "1.0.0",
	.method = "grabBatch",
	.types = "Lrain/GrabBatchRequest;",
};

/* One call in flight; owns its requests. */
struct batch {
	struct gateway_loop *loop;
	uint64_t sent_ms;
	uint64_t moves; /* edge_moves() then */
	size_t count;
	struct request *requests[];
};

static void batch_done(void *ctx, enum dubbo_outcome outcome,
		       const struct dubbo_result *result, int provider);

static struct batch *batch_new(struct gateway_loop *l, size_t room)
{
	struct batch *b = xmalloc(sizeof(*b) + room * sizeof(b->requests[0]));

	*b = (struct batch){ .loop = l };
	return b;
}

static uint64_t timeout_of(const struct batch *b, uint64_t now)
{
	uint64_t most = (uint64_t)b->loop->options->try_ms;
	uint64_t left = b->count > 0 ? 1 : most;

	for (size_t i = 0; i < b->count; i++) {
		uint64_t due = b->requests[i]->due_ms;

		if (due > now && due - now > left) {
			left = due - now;
		}
	}
	return left < most ? left : most;
}

static void put_request(struct buf *out, const struct request *r)
{
	Rain__GrabRequest grab = RAIN__GRAB_REQUEST__INIT;

	grab.activity_id = to_pb(request_activity(r));
	grab.user_id = to_pb(request_user(r));
	grab.not_after_ms = r->not_after_ms;
	/* A grab that was sent before may have won by now. */
	grab.attempt = r->attempt == 0 && r->earlier ? 1 : r->attempt;
	grab_batch_put(out, &grab);
}

/* b goes with the call. */
static void batch_send(struct batch *b, int avoid)
{
	struct gateway_loop *l = b->loop;
	struct grab_batch m;
	struct buf grabs;

	buf_init(&grabs);
	for (size_t i = 0; i < b->count; i++) {
		put_request(&grabs, b->requests[i]);
		b->requests[i]->tries++;
	}
	grab_batch_init(&m, buf_live(&grabs));
	b->sent_ms = uv_now(&l->uv);
	b->moves = edge_moves();
	if (b->count > 0) {
		metric_observe(&gateway_metrics.batch, b->count);
	}
	dubbo_client_call(l->grabs, &target, &m.message,
			  timeout_of(b, b->sent_ms), avoid, batch_done, b);
	buf_close(&grabs);
}

/* ---- The answer ---- */

/* Also of a request that nobody waits for any more. */
static void learn(struct batch *b, const struct request *r,
		  const Rain__GrabResponse *response,
		  const Rain__GrabReply *told)
{
	struct gateway_loop *l = b->loop;
	struct edge_news news = {
		.activity = request_activity(r),
		.user = request_user(r),
		.response = response,
		.told = told,
		.asked_ms = b->sent_ms,
		.now_ms = uv_now(&l->uv),
		.moves = &b->moves,
	};

	edge_learn(l->edge, &news);
}

static void take_reply(struct batch *b, struct request *r,
		       const Rain__GrabResponse *response)
{
	struct session *s = r->key.session;
	Rain__GrabReply reply;

	if (response->reply == NULL) {
		reply_request_status(r, RAIN__STATUS__PENDING,
				     "the grab-service gave no answer");
		return;
	}
	verdict_reply(response->reply, r->earlier, loop_retry_after(r->loop),
		      &reply);
	learn(b, r, response, &reply);
	if (reply.red_packet != NULL && !s->front) {
		memory_note(&s->memory,
			    (size_t)r->loop->options->remembered_max,
			    request_activity(r), reply.red_packet);
	}
	reply_request(r, &reply);
}

/* A request was last touched when it was sent: have it fetched, and then its
 * connection, while those before it are answered. */
static void fetch_ahead(const struct batch *b, size_t i)
{
	const char *r;

	if (i + 2 * AHEAD < b->count) {
		r = (const char *)b->requests[i + 2 * AHEAD];
		for (size_t at = 0; at < sizeof(struct request); at += LINE) {
			__builtin_prefetch(r + at);
		}
	}
	if (i + AHEAD < b->count) {
		__builtin_prefetch(b->requests[i + AHEAD]->key.session);
	}
}

static void take_answer(struct batch *b, size_t i,
			const Rain__GrabResponse *response)
{
	fetch_ahead(b, i);
	if (request_open(b->requests[i])) {
		take_reply(b, b->requests[i], response);
	} else {
		learn(b, b->requests[i], response, NULL);
	}
}

static void take_time(struct batch *b, int64_t time_ms)
{
	struct gateway_loop *l = b->loop;

	server_clock_sample(&l->clock, b->sent_ms, uv_now(&l->uv), time_ms);
}

static bool take_message(struct batch *b, struct bytes value)
{
	Rain__GrabBatchResponse *m =
		proto_unpack(&rain__grab_batch_response__descriptor, value,
			     ARENA_BASE + b->count * ARENA_GRAB);
	bool good = m != NULL && m->n_responses == b->count;

	if (m != NULL) {
		take_time(b, m->time_ms);
	}
	for (size_t i = 0; good && i < b->count; i++) {
		take_answer(b, i, m->responses[i]);
	}
	proto_free(m);
	return good;
}

/* False if it is no answer to this batch. */
static bool take_value(struct batch *b, struct bytes value)
{
	struct grab_answer *answers =
		xmalloc((b->count + 1) * sizeof(*answers));
	int64_t time_ms;
	bool good = grab_batch_read(value, answers, b->count, &time_ms);

	if (good) {
		take_time(b, time_ms);
		for (size_t i = 0; i < b->count; i++) {
			take_answer(b, i, &answers[i].response);
		}
	} else {
		good = take_message(b, value);
	}
	free(answers);
	return good;
}

/* Whether r is sent again after a call that ended with verdict. */
static bool again(struct request *r, enum verdict verdict)
{
	struct gateway_loop *l = r->loop;

	if (!request_open(r) || l->stopping || r->tries >= REQUEST_TRIES_MAX ||
	    uv_now(&l->uv) >= r->until_ms) {
		return false;
	}
	if (verdict == VERDICT_NOT_SENT) {
		return true;
	}
	if (verdict != VERDICT_LOST) {
		return false;
	}
	if (!retry_budget_take(&l->budget)) {
		metric_add(&gateway_metrics.no_budget, 1);
		return false;
	}
	return true;
}

/* No answer came, or none that can be passed on. */
static void end_without_value(struct batch *b, enum verdict verdict,
			      int provider)
{
	struct batch *next = batch_new(b->loop, b->count);
	bool executed =
		verdict != VERDICT_NOT_SENT && verdict != VERDICT_REFUSED;

	for (size_t i = 0; i < b->count; i++) {
		struct request *r = b->requests[i];

		r->earlier = r->earlier || executed;
		if (again(r, verdict)) {
			next->requests[next->count++] = r;
			b->requests[i] = NULL;
		} else if (request_open(r) && r->earlier) {
			reply_request_status(r, RAIN__STATUS__PENDING,
					     "the outcome is not known yet");
		} else if (request_open(r)) {
			reply_request_status(r, RAIN__STATUS__BUSY,
					     "no grab-service took it");
		}
	}
	if (next->count > 0) {
		metric_add(&gateway_metrics.retried, (int64_t)next->count);
		batch_send(next, provider);
	} else {
		free(next);
	}
}

static void warn(struct gateway_loop *l, enum dubbo_outcome outcome,
		 const struct dubbo_result *result, int provider)
{
	if (!loop_may_warn(l)) {
		return;
	}
	if (outcome == DUBBO_DONE) {
		log_warn("a grab-service gave no answer to grabBatch",
			 log_int("provider", provider),
			 log_int("kind", (int64_t)result->kind),
			 log_int("status", result->status),
			 log_bytes("message", result->message));
	} else {
		log_warn("grabBatch has no answer",
			 log_int("provider", provider),
			 log_str("sent",
				 outcome == DUBBO_UNKNOWN ? "yes" : "no"));
	}
}

static void batch_done(void *ctx, enum dubbo_outcome outcome,
		       const struct dubbo_result *result, int provider)
{
	struct batch *b = ctx;
	enum verdict verdict = verdict_of(outcome, result);
	struct gateway_loop *l = b->loop;

	window_done(&l->window, uv_now(&l->uv), uv_now(&l->uv) - b->sent_ms,
		    (uint64_t)l->options->try_ms * 3 / 4,
		    l->alive - l->ledger_alive, b->count);
	if (verdict != VERDICT_VALUE || !take_value(b, result->value)) {
		if (verdict == VERDICT_VALUE) {
			verdict = VERDICT_UNKNOWN;
		}
		warn(b->loop, outcome, result, provider);
		end_without_value(b, verdict, provider);
	}
	for (size_t i = 0; i < b->count; i++) {
		if (b->requests[i] != NULL) {
			request_free(b->requests[i]);
		}
	}
	free(b);
}

/* ---- Gathering ---- */

void batcher_init(struct batcher *b, struct gateway_loop *l)
{
	*b = (struct batcher){ .loop = l, .last = &b->first };
}

void batcher_add(struct batcher *b, struct request *r)
{
	r->batch_next = NULL;
	*b->last = r;
	b->last = &r->batch_next;
	b->count++;
}

static struct request *take_first(struct batcher *b)
{
	struct request *r = b->first;

	b->first = r->batch_next;
	b->count--;
	if (b->first == NULL) {
		b->last = &b->first;
	}
	return r;
}

void batcher_flush(struct batcher *b)
{
	size_t max = (size_t)b->loop->options->batch_max;

	while (b->count > 0) {
		struct batch *batch =
			batch_new(b->loop, b->count < max ? b->count : max);

		while (b->count > 0 && batch->count < max) {
			struct request *r = take_first(b);

			if (!request_open(r)) {
				request_free(r); /* its app has gone */
				continue;
			}
			retry_budget_earn(&b->loop->budget);
			batch->requests[batch->count++] = r;
		}
		if (batch->count > 0) {
			batch_send(batch, -1);
		} else {
			free(batch);
		}
	}
}

void batcher_probe(struct batcher *b)
{
	batch_send(batch_new(b->loop, 0), -1);
}
