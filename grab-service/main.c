/*
 * The grab-service: the Dubbo provider of GrabService and ActivityService, and the
 * relay from Redis to Kafka. The path of a grab:
 *
 *   dubbo_server -> grab_service.c -> lane.c (batch.c) -> step.c -> Redis
 *   dubbo_server <- grab_service.c <- answer.c <- lane.c <- step.c <-'
 *
 * and of its claim: relay.c -> track.c -> publish.c -> Kafka -> track.c.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rand.h"
#include "net/dubbo_server.h"
#include "net/service.h"

#include "activity_service.h"
#include "grab_service.h"
#include "halt.h"
#include "ledger.h"
#include "relay.h"

enum {
	PROBE_MS = 2000, /* between two looks at Redis's clock */
	CONSUMER_IDLE_MS = 180000,
	STEP_TIMEOUT_MS = 5000, /* of an operator's step */
	JOB_CHUNK = 1000,
};

struct process {
	struct grab_options options;
	struct grab_env env;
	struct service_rt *rt;
	struct redis *operators; /* their steps are long, grabs are not */
	struct activity_service *activities;
	struct dubbo_interface interfaces[2];
	struct dubbo_server *server;
	uv_timer_t probe;
	uint64_t probed_us; /* when the question in flight left, or 0 */
	bool draining;
	bool publishing; /* the last step of the drain */
};

/* ---- Redis's clock, also while nobody grabs ---- */

static void probe_cb(void *ctx, enum redis_outcome outcome,
		     const redisReply *reply)
{
	struct process *p = ctx;
	uint64_t sent_us = p->probed_us;
	uint64_t seconds;
	uint64_t us;

	p->probed_us = 0;
	if (outcome != REDIS_DONE || reply->type != REDIS_REPLY_ARRAY ||
	    reply->elements != 2 ||
	    !bytes_to_u64(
		    bytes_make(reply->element[0]->str, reply->element[0]->len),
		    INT64_MAX / 1000, &seconds) ||
	    !bytes_to_u64(
		    bytes_make(reply->element[1]->str, reply->element[1]->len),
		    1000000, &us)) {
		return;
	}
	redis_time_sample(&p->env.time, sent_us, clock_mono_us(),
			  (int64_t)(seconds * 1000 + us / 1000));
}

static void probe(struct process *p)
{
	struct bytes argv[1] = { BYTES("TIME") };

	if (p->probed_us != 0 || !redis_ready(p->env.redis)) {
		return;
	}
	p->probed_us = clock_mono_us();
	redis_command(p->env.redis, 1, argv,
		      (uint64_t)p->options.redis_timeout_ms, probe_cb, p);
}

static void probe_timer(uv_timer_t *timer)
{
	probe(timer->data);
}

/* Another Redis may have another clock. */
static void redis_changed(void *ctx)
{
	struct process *p = ctx;

	p->env.time.known = false;
	probe(p);
}

/* ---- Start ---- */

static int connect_redis(struct process *p, const char *name,
			 struct redis **out)
{
	struct redis_options o;

	redis_defaults(&o);
	o.url = p->options.redis_url;
	o.name = name;
	o.commands_max = p->options.redis_commands_max;
	return redis_new(p->env.hub, &o, out);
}

static void activity_changed(void *ctx, struct bytes activity_id)
{
	struct process *p = ctx;

	if (p->env.relay != NULL) {
		relay_poke_id(p->env.relay, activity_id);
	}
}

static int listen_for_calls(struct process *p)
{
	struct dubbo_server_options o = {
		.listen = p->options.listen,
		.secret = p->options.secret,
		.calls_max = p->options.calls_max,
		.connections_max = p->options.connections_max,
		.payload_max = DUBBO_PAYLOAD_MAX,
		.idle_ms = CONSUMER_IDLE_MS,
	};
	struct activity_deps deps = {
		.loop = p->env.loop,
		.redis = p->operators,
		.ledger = p->env.ledger,
		.timeout_ms = STEP_TIMEOUT_MS,
		.chunk = JOB_CHUNK,
		.changed = activity_changed,
		.ctx = p,
	};
	int rv;

	p->activities = activity_service_new(&deps);
	p->interfaces[0] = grab_service_interface(&p->env);
	p->interfaces[1] = *activity_service_interface(p->activities);
	rv = dubbo_server_new(p->env.hub, &o, p->interfaces, 2, &p->server);
	if (rv == 0) {
		log_info("listening",
			 log_str("address", dubbo_server_address(p->server)));
	}
	return rv;
}

/* A start that failed leaves nothing behind. */
static void undo(struct process *p)
{
	if (p->server != NULL) {
		dubbo_server_free(p->server);
	}
	if (p->activities != NULL) {
		activity_service_free(p->activities);
	}
	if (p->env.ledger != NULL) {
		ledger_free(p->env.ledger);
	}
	redis_free(p->operators);
	redis_free(p->env.redis);
}

/* Calls come on later turns of the loop, when all of it is there. */
static int start_parts(struct process *p)
{
	int rv = connect_redis(p, "rain-grab", &p->env.redis);

	if (rv == 0) {
		rv = connect_redis(p, "rain-operator", &p->operators);
	}
	if (rv == 0) {
		rv = ledger_new(p->env.hub, &p->options, &p->env.ledger);
	}
	if (rv == 0) {
		rv = listen_for_calls(p);
	}
	if (rv == 0) {
		rv = relay_start(&p->env, p->rt->pairs, p->rt->pair_count);
	}
	return rv;
}

static int start(struct service_rt *rt)
{
	struct process *p = rt->svc->ctx;
	uint8_t id[16];
	int rv;

	p->rt = rt;
	p->env.loop = rt->loop;
	p->env.hub = rt->hub;
	p->env.options = &p->options;
	grab_service_metrics();
	lane_metrics();
	halt_metrics();
	relay_metrics();
	rand_bytes(id, sizeof id);
	hex_encode(id, sizeof id, p->env.witness);
	p->env.directory = directory_new((size_t)p->options.activities_max);
	rv = start_parts(p);
	if (rv != 0) {
		undo(p);
		return rv;
	}
	lane_watch_start(&p->env);
	redis_watch(p->env.redis, redis_changed, p);
	check(uv_timer_init(rt->loop, &p->probe) == 0);
	p->probe.data = p;
	return uv_timer_start(&p->probe, probe_timer, 0, PROBE_MS);
}

static bool ready(struct service_rt *rt, struct buf *why)
{
	struct process *p = rt->svc->ctx;
	bool ok = true;

	if (p->draining) {
		buf_printf(why, "draining\n");
		return false;
	}
	if (!redis_ready(p->env.redis)) {
		buf_printf(why, "Redis is not connected\n");
		ok = false;
	}
	return relay_ready(p->env.relay, why) && ok;
}

/* ---- Drain: answer, publish, let go, close ---- */

static void probe_closed(uv_handle_t *handle)
{
	struct process *p = handle->data;

	service_stopped(p->rt);
}

static void relay_stopped(void *ctx)
{
	struct process *p = ctx;

	activity_service_free(p->activities);
	dubbo_server_free(p->server);
	redis_watch(p->env.redis, NULL, NULL);
	redis_free(p->env.redis);
	redis_free(p->operators);
	ledger_free(p->env.ledger);
	lane_watch_stop(&p->env);
	uv_close((uv_handle_t *)&p->probe, probe_closed);
}

static void calls_answered(void *ctx)
{
	struct process *p = ctx;

	log_info("all calls are answered, publishing the rest");
	p->publishing = true;
	relay_stop(&p->env, relay_stopped, p);
}

static void drain(struct service_rt *rt)
{
	struct process *p = rt->svc->ctx;

	p->draining = true;
	activity_service_stop(p->activities);
	dubbo_server_drain(p->server, calls_answered, p);
}

static void left(struct service_rt *rt, struct buf *what)
{
	struct process *p = rt->svc->ctx;

	if (p->publishing) {
		buf_printf(what, "claims may not be in Kafka yet: they stay in "
				 "Redis, whoever relays next publishes them\n");
	} else {
		buf_printf(what, "%lld calls have no answer\n",
			   (long long)dubbo_server_in_flight(p->server));
	}
}

int main(int argc, char **argv)
{
	struct process *p = xcalloc(1, sizeof *p);
	struct service svc = {
		.name = "grab-service",
		.summary = "decides who gets a packet, publishes every claim",
		.keys = grab_option_keys,
		.options = &p->options,
		.pass_section = "kafka",
		.validate = grab_options_check,
		.start = start,
		.drain = drain,
		.left = left,
		.ready = ready,
		.ctx = p,
	};
	int rv = service_main(&svc, argc, argv);

	if (p->env.directory != NULL) {
		directory_free(p->env.directory);
	}
	free(p);
	return rv;
}
