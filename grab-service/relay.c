#include "relay.h"

#include <stdlib.h>
#include <utlist.h>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/rand.h"

#include "track.h"

enum {
	TOPICS_AGAIN_MS = 1000,
	TOPIC_COUNT = 3,
};

/* Where Kafka is if kafka.bootstrap.servers does not say it. */
static const char fallback_bootstrap[] = "127.0.0.1:9092";

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

struct metric relay_lost = METRIC_GAUGE(
	"rain_lost_activities", "Activities that are gone from Redis", "");

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
	metrics_register(&relay_lost);
	fence_metrics();
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
	relay->topics_gone = false;
}

/* What was in the topic may be gone with it, also what was published long ago:
 * all that Redis still has goes there again, once. */
static void publish_again(struct relay *relay, enum track_kind kind)
{
	struct track *t;

	if (relay->lost[kind]) {
		return;
	}
	relay->lost[kind] = true;
	DL_FOREACH(relay->tracks, t)
	{
		t->rewind = true;
	}
}

void relay_topics_gone(struct relay *relay, enum track_kind kind)
{
	publish_again(relay, kind);
	if (!relay->topics_gone) {
		log_warn("Kafka takes nothing: are the topics still there?");
		relay->topics_gone = true;
		relay->topics_due_ms =
			uv_now(relay->env->loop) + TOPICS_AGAIN_MS;
	}
}

static void make_topics(struct relay *relay)
{
	const struct grab_options *o = relay->env->options;
	const char *names[TOPIC_COUNT] = { o->topic_activities, o->topic_claims,
					   o->topic_dlq };
	struct kafka_topic_spec specs[TOPIC_COUNT];

	if ((relay->topics_ready && !relay->topics_gone) ||
	    relay->topics_asking ||
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
	} else if (!relay->topics_ready || relay->topics_gone) {
		buf_printf(why, "the topics are not there\n");
		ready = false;
	}
	fence_notes(relay, why);
	return ready;
}

/* ---- Running ---- */

static void step_all(struct relay *relay)
{
	struct track *t;
	struct track *next;
	bool evidence = false;

	if (relay->producer == NULL) {
		return;
	}
	if (relay->abandoned) {
		relay_stop_step(relay);
		return;
	}
	relay_scan(relay);
	make_topics(relay);
	DL_FOREACH_SAFE(relay->tracks, t, next)
	{
		if (t->gone && !track_held(t)) {
			track_free(t);
			continue;
		}
		if (!redis_ready(relay->redis) || relay->releasing) {
			continue;
		}
		roll_step(t);
		if (!relay->stopping) {
			fence_step(t);
			evidence = evidence || t->fence.phase == FENCE_EVIDENCE;
			keeper_step(t);
		}
		if (relay->topics_ready) {
			track_step(t);
		}
	}
	evidence_step(&relay->evidence, evidence && !relay->stopping);
	if (relay->stopping) {
		relay_stop_step(relay);
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
	rv = kafka_producer_new(relay->env->loop, fallback_bootstrap, pairs,
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
	log_info("the relay starts", log_str("owner", relay->owner));
	evidence_init(&relay->evidence, relay);
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
