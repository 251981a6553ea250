#include "relay.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/rand.h"
#include "lua/scripts.h"

#include "track.h"

enum {
	TOPICS_AGAIN_MS = 1000,
	TOPIC_COUNT = 3,
	FLUSH_MIN_MS = 500,
};

struct metric relay_published = METRIC_COUNTER(
	"rain_relay_published_claims_total", "Claims that Kafka has", "");
struct metric relay_unpublished = METRIC_GAUGE(
	"rain_relay_unpublished_claims",
	"Claims of the activities relayed here that are not published", "");
struct metric relay_leases = METRIC_GAUGE(
	"rain_relay_leases", "Activities that are relayed here", "");
struct metric relay_dropped = METRIC_COUNTER(
	"rain_relay_started_again_total",
	"Times the relay of an activity started again at its cursors", "");

void relay_metrics(void)
{
	static bool done;

	if (done) {
		return;
	}
	done = true;
	metrics_register(&relay_published);
	metrics_register(&relay_unpublished);
	metrics_register(&relay_leases);
	metrics_register(&relay_dropped);
}

/* ---- Tracks ---- */

static struct track *add_track(struct relay *relay, struct activity *a)
{
	const struct grab_options *o = relay->env->options;
	struct track *t;
	size_t slot = 0;

	while (slot < relay->slot_max && relay->slots[slot] != NULL) {
		slot++;
	}
	if (slot == relay->slot_max) {
		return NULL;
	}
	t = xcalloc(1, sizeof *t);
	t->relay = relay;
	t->activity = a;
	t->slot = slot;
	t->epoch = ++relay->epoch;
	window_init(&t->claims, (size_t)o->window_max);
	window_init(&t->events, TRACK_EVENTS_MAX);
	fence_init(&t->fence);
	t->fence.confirmed_on = redis_connection(relay->redis);
	activity_pin(a);
	a->track = t;
	relay->slots[slot] = t;
	DL_APPEND(relay->tracks, t);
	relay->count++;
	return t;
}

static void remove_track(struct track *t)
{
	struct relay *relay = t->relay;

	check(!track_held(t));
	if (t->ours) {
		t->ours = false;
		metric_add(&relay_leases, -1);
	}
	track_count(t);
	DL_DELETE(relay->tracks, t);
	relay->slots[t->slot] = NULL;
	relay->count--;
	t->activity->track = NULL;
	activity_unpin(t->activity);
	fence_close(&t->fence);
	window_close(&t->claims);
	window_close(&t->events);
	free(t);
}

/* ---- The set of activities ---- */

static void listed(struct relay *relay, struct bytes id)
{
	struct activity *a;

	if (!id_valid(id)) {
		return;
	}
	a = directory_get(relay->env->directory, id);
	if (a == NULL) {
		log_error("no room for an activity", log_bytes("activity", id));
		return;
	}
	a->listed = true;
	a->listed_scan = relay->scan;
	if (a->track == NULL && !relay->stopping &&
	    add_track(relay, a) == NULL) {
		log_error("no room for an activity", log_bytes("activity", id));
	}
	if (a->track != NULL) {
		a->track->gone = false;
	}
}

/* Those that the scan did not find are not there any more. */
static void unlist(struct relay *relay)
{
	struct directory *d = relay->env->directory;

	for (struct activity *a = directory_next(d, NULL); a != NULL;
	     a = directory_next(d, a)) {
		if (a->listed && a->listed_scan != relay->scan) {
			a->listed = false;
			if (a->track != NULL) {
				a->track->gone = true;
			}
		}
	}
}

static void scan_cb(void *ctx, enum redis_outcome outcome,
		    const redisReply *reply)
{
	struct relay *relay = ctx;

	relay->scanning = false;
	if (outcome == REDIS_DONE && reply->type == REDIS_REPLY_ARRAY) {
		relay->scan++;
		for (size_t i = 0; i < reply->elements; i++) {
			const redisReply *e = reply->element[i];

			if (e->type == REDIS_REPLY_STRING) {
				listed(relay, bytes_make(e->str, e->len));
			}
		}
		unlist(relay);
		relay->env->scanned_ms = uv_now(relay->env->loop);
	}
	relay_kick(relay);
}

static void scan(struct relay *relay)
{
	const struct grab_options *o = relay->env->options;
	struct bytes argv[2] = { BYTES("SMEMBERS"), BYTES("rain:activities") };

	if (relay->scanning || !redis_ready(relay->redis) ||
	    uv_now(relay->env->loop) < relay->scan_due_ms) {
		return;
	}
	relay->scanning = true;
	relay->scan_due_ms = uv_now(relay->env->loop) + (uint64_t)o->scan_ms;
	redis_command(relay->redis, 2, argv, (uint64_t)o->redis_timeout_ms,
		      scan_cb, relay);
}

void relay_poke(struct relay *relay, struct activity *a)
{
	struct track *t = a->track;
	uint64_t now = uv_now(relay->env->loop);

	if (t == NULL || (!t->ours && !t->free)) {
		return;
	}
	if (t->due_ms > now) {
		uint64_t soon = t->read_ms + TRACK_POKE_MS;

		t->due_ms = soon > now ? soon : now;
		relay_kick(relay);
	}
}

void relay_poke_id(struct relay *relay, struct bytes id)
{
	struct activity *a = directory_find(relay->env->directory, id);

	if (a != NULL && a->track != NULL) {
		a->track->due_ms = uv_now(relay->env->loop);
	} else {
		relay->scan_due_ms = 0;
	}
	relay_kick(relay);
}

/* ---- Topics ---- */

static void topics_cb(void *ctx, int error, const char *why)
{
	struct relay *relay = ctx;

	relay->topics_asking = false;
	if (error != 0) {
		log_warn("topics are not there", log_str("why", why));
		relay->topics_due_ms =
			uv_now(relay->env->loop) + TOPICS_AGAIN_MS;
		return;
	}
	log_info("topics are there");
	relay->topics_ready = true;
}

static void make_topics(struct relay *relay)
{
	const struct grab_options *o = relay->env->options;
	const char *names[TOPIC_COUNT] = { o->topic_activities, o->topic_claims,
					   o->topic_dlq };
	struct kafka_topic_spec specs[TOPIC_COUNT];

	if (relay->topics_ready || relay->topics_asking ||
	    uv_now(relay->env->loop) < relay->topics_due_ms) {
		return;
	}
	for (int i = 0; i < TOPIC_COUNT; i++) {
		specs[i] = (struct kafka_topic_spec){
			.name = names[i],
			.partitions = (int)o->topic_partitions,
			.retention_ms = o->topic_retention_ms,
			.min_insync_replicas = (int)o->topic_min_insync,
			.replication = (int)o->topic_replication,
		};
	}
	relay->topics_asking = true;
	kafka_create_topics(relay->producer, specs, TOPIC_COUNT, topics_cb,
			    relay);
}

bool relay_ready(const struct relay *relay, struct buf *why)
{
	bool ready = true;

	if (!redis_ready(relay->redis)) {
		buf_printf(why, "the relay has no Redis\n");
		ready = false;
	}
	if (!kafka_producer_ready(relay->producer)) {
		buf_printf(why, "no Kafka broker is connected\n");
		ready = false;
	} else if (!relay->topics_ready) {
		buf_printf(why, "the topics are not created yet\n");
		ready = false;
	}
	return ready;
}

/* ---- Running ---- */

static void stop_step(struct relay *relay);

static void step_all(struct relay *relay)
{
	struct track *t;
	struct track *next;

	if (relay->producer == NULL) {
		return;
	}
	if (relay->abandoned) {
		stop_step(relay);
		return;
	}
	scan(relay);
	make_topics(relay);
	DL_FOREACH_SAFE(relay->tracks, t, next)
	{
		if (t->gone && !track_held(t)) {
			remove_track(t);
			continue;
		}
		if (!redis_ready(relay->redis) || relay->releasing) {
			continue;
		}
		if (!relay->stopping) {
			fence_step(t);
			keeper_step(t);
		}
		if (relay->topics_ready) {
			track_step(t);
		}
	}
	if (relay->stopping) {
		stop_step(relay);
	}
}

static void tick_cb(uv_timer_t *timer)
{
	step_all(timer->data);
}

void relay_kick(struct relay *relay)
{
	if (!uv_is_closing((uv_handle_t *)&relay->kick)) {
		(void)uv_timer_start(&relay->kick, tick_cb, 0, 0);
	}
}

static void redis_changed(void *ctx)
{
	struct relay *relay = ctx;

	if (redis_ready(relay->redis)) {
		relay->scan_due_ms = 0;
		for (struct track *t = relay->tracks; t != NULL; t = t->next) {
			t->due_ms = 0;
		}
	}
	relay_kick(relay);
}

static void producer_renewed(void *ctx)
{
	(void)ctx;
	log_warn("the Kafka producer was made anew");
}

static int connect_all(struct relay *relay, const struct config_pair *pairs,
		       size_t pair_count)
{
	const struct grab_options *o = relay->env->options;
	struct redis_options ro;
	int rv;

	redis_defaults(&ro);
	ro.url = o->redis_url;
	ro.name = "rain-relay";
	ro.commands_max = o->redis_commands_max;
	rv = redis_new(relay->env->hub, &ro, &relay->redis);
	if (rv != 0) {
		return rv;
	}
	rv = kafka_producer_new(relay->env->loop, o->kafka_bootstrap, pairs,
				pair_count, publish_delivered, producer_renewed,
				relay, &relay->producer);
	if (rv != 0) {
		redis_free(relay->redis);
	}
	return rv;
}

int relay_start(struct grab_env *env, const struct config_pair *pairs,
		size_t pair_count)
{
	struct relay *relay = xcalloc(1, sizeof *relay);
	uint8_t id[16];
	int rv;

	check(env->relay == NULL);
	relay->env = env;
	rv = connect_all(relay, pairs, pair_count);
	if (rv != 0) {
		free(relay);
		return rv;
	}
	rand_bytes(id, sizeof id);
	hex_encode(id, sizeof id, relay->owner);
	relay->slot_max = (size_t)env->options->activities_max;
	relay->slots = xcalloc(relay->slot_max, sizeof(*relay->slots));
	check(uv_timer_init(env->loop, &relay->tick) == 0);
	check(uv_timer_init(env->loop, &relay->kick) == 0);
	relay->handles = 2;
	relay->tick.data = relay;
	relay->kick.data = relay;
	check(uv_timer_start(&relay->tick, tick_cb, 0,
			     (uint64_t)env->options->poll_ms) == 0);
	redis_watch(relay->redis, redis_changed, relay);
	env->relay = relay;
	return 0;
}

/* ---- Stopping ---- */

static void finish(struct relay *relay)
{
	void (*stopped)(void *ctx) = relay->stopped;
	void *ctx = relay->stopped_ctx;

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
		remove_track(relay->tracks);
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
		if (t->busy || t->keeper.busy || t->fence.busy) {
			return true;
		}
	}
	return relay->scanning || relay->topics_asking || relay->leaving > 0;
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

static void stop_step(struct relay *relay)
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
