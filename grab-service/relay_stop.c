/*
 * The end of a relay: publish what is claimed, let go of the leases, leave as
 * a witness, flush, close.
 */
#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "lua/scripts.h"

#include "track.h"

enum { FLUSH_MIN_MS = 500 };

static void finish(struct relay *relay)
{
	void (*stopped)(void *ctx) = relay->stopped;
	void *ctx = relay->stopped_ctx;

	evidence_close(&relay->evidence);
	free(relay->slots);
	free(relay);
	stopped(ctx);
}

static void handle_closed(uv_handle_t *handle)
{
	struct relay *relay = handle->data;

	relay->handles--;
	if (relay->handles == 0) {
		finish(relay);
	}
}

static void producer_freed(void *ctx)
{
	struct relay *relay = ctx;

	/* No report comes any more, so nothing is outstanding. */
	while (relay->tracks != NULL) {
		relay->tracks->outstanding = 0;
		track_free(relay->tracks);
	}
	redis_free(relay->redis);
	relay->env->relay = NULL;
	uv_close((uv_handle_t *)&relay->tick, handle_closed);
	uv_close((uv_handle_t *)&relay->kick, handle_closed);
}

static bool calls_open(const struct relay *relay)
{
	const struct track *t;

	DL_FOREACH(relay->tracks, t)
	{
		if (t->busy || t->keeper.busy || t->fence.busy || t->rolling) {
			return true;
		}
	}
	/* A question to Kafka ends with the producer. */
	return relay->scanning || relay->listing || relay->leaving > 0 ||
	       relay->evidence.asking_ledger;
}

static void close_all(struct relay *relay)
{
	uint64_t flush_ms = relay->abandoned ? 0 : FLUSH_MIN_MS;

	(void)uv_timer_stop(&relay->tick);
	(void)uv_timer_stop(&relay->kick);
	redis_watch(relay->redis, NULL, NULL);
	kafka_producer_free(relay->producer, flush_ms, producer_freed, relay);
	relay->producer = NULL;
}

static void left_cb(void *ctx, enum redis_outcome outcome,
		    const struct step_reply *reply, struct bytes error)
{
	struct relay *relay = ctx;

	(void)outcome;
	(void)reply;
	(void)error;
	check(relay->leaving > 0);
	relay->leaving--;
	relay_kick(relay);
}

/* Nobody shall wait for the word of a witness that stopped. */
static void leave(struct relay *relay)
{
	struct directory *d = relay->env->directory;
	struct bytes argv[2] = { BYTES("leave"),
				 bytes_str(relay->env->witness) };

	for (struct activity *a = directory_next(d, NULL); a != NULL;
	     a = directory_next(d, a)) {
		if (a->seen.served) {
			relay->leaving++;
			step_run(
				relay->redis, &lua_fence, activity_id(a), 2,
				argv,
				(uint64_t)relay->env->options->redis_timeout_ms,
				left_cb, relay);
		}
	}
}

static bool all_published(const struct relay *relay)
{
	const struct track *t;

	if (!redis_ready(relay->redis) || !relay->topics_ready) {
		return false;
	}
	DL_FOREACH(relay->tracks, t)
	{
		if (t->busy || t->read_count <= t->stop_reads ||
		    ((t->ours || t->free) && t->wanted)) {
			return false;
		}
	}
	return true;
}

void relay_stop_step(struct relay *relay)
{
	struct track *t;

	if (relay->producer == NULL) {
		return;
	}
	if (!relay->releasing &&
	    (relay->abandoned || all_published(relay) ||
	     uv_now(relay->env->loop) >= relay->stop_by_ms)) {
		relay->releasing = true;
		if (!relay->abandoned) {
			leave(relay);
		}
	}
	if (!relay->releasing) {
		return;
	}
	DL_FOREACH(relay->tracks, t)
	{
		if (t->ours && !t->busy && !relay->abandoned) {
			track_release(t);
		}
	}
	if (!calls_open(relay)) {
		close_all(relay);
	}
}

static void begin_stop(struct grab_env *env, bool abandoned,
		       void (*done)(void *ctx), void *ctx)
{
	struct relay *relay = env->relay;
	struct track *t;

	check(relay != NULL && !relay->stopping);
	relay->stopping = true;
	relay->abandoned = abandoned;
	relay->stopped = done;
	relay->stopped_ctx = ctx;
	relay->stop_by_ms =
		uv_now(env->loop) + (uint64_t)env->options->flush_ms;
	DL_FOREACH(relay->tracks, t)
	{
		/* A read in flight may have been too early. */
		t->stop_reads = t->read_count + (t->busy ? 1 : 0);
		t->due_ms = 0;
	}
	relay_kick(relay);
}

void relay_stop(struct grab_env *env, void (*done)(void *ctx), void *ctx)
{
	begin_stop(env, false, done, ctx);
}

void relay_abandon(struct grab_env *env, void (*done)(void *ctx), void *ctx)
{
	begin_stop(env, true, done, ctx);
}
