#include "lib/grab_rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/rand.h"
#include "grab-service/ledger.h"

enum { TIMEOUT_MS = 15000 };

const char *rig_kafka(void)
{
	return getenv("KAFKA_BOOTSTRAP");
}

static void open_with(struct grab_rig *rig, const char *const *args)
{
	static const char *const names[3] = { "activities", "claims", "dlq" };
	uint8_t id[8];
	char hex[17];

	/* As service_main() does. */
	(void)signal(SIGPIPE, SIG_IGN);
	memset(rig, 0, sizeof *rig);
	rand_bytes(id, sizeof id);
	hex_encode(id, sizeof id, hex);
	for (int i = 0; i < 3; i++) {
		(void)snprintf(rig->topic[i], sizeof rig->topic[i],
			       "test.%s.%s", names[i], hex);
	}
	cr_assert_eq(uv_loop_init(&rig->loop), 0);
	rig->hub = stream_hub_new(&rig->loop);
	redis_server_start(&rig->redis, args);
	rig->ledger.topics[0] = rig->topic[0];
	rig->ledger.topics[1] = rig->topic[1];
	rig->ledger.partitions = RIG_PARTITIONS;
	fake_ledger_start(&rig->ledger, rig->hub);
}

void rig_open(struct grab_rig *rig)
{
	static const char *const args[] = { "--appendonly", "yes",
					    "--appendfsync", "always", NULL };

	open_with(rig, args);
}

void rig_open_forgetful(struct grab_rig *rig)
{
	open_with(rig, NULL);
}

/* ---- A service ---- */

static void set_options(struct grab_rig *rig, struct rig_service *s)
{
	struct grab_options *o = &s->options;

	config_init(&s->config, grab_option_keys, o, "kafka");
	o->redis_url = rig->redis.url;
	o->ledger_addresses = rig->ledger.address;
	o->topic_activities = rig->topic[0];
	o->topic_claims = rig->topic[1];
	o->topic_dlq = rig->topic[2];
	o->topic_partitions = RIG_PARTITIONS;
	o->lease_ms = 600;
	o->grace_ms = 50;
	o->ask_ms = 50;
	o->idle_ms = 100;
	o->activities_max = 64;
	o->wait_max_ms = 60000; /* for the caller's patience, but no shorter */
}

static bool all_ready(struct rig_service *s, bool relay)
{
	struct buf why;
	bool ready;

	buf_init(&why);
	ready = redis_ready(s->env.redis) && ledger_ready(s->env.ledger) &&
		(!relay ||
		 (relay_ready(s->env.relay, &why) && s->env.scanned_ms > 0));
	buf_close(&why);
	return ready;
}

void rig_service(struct grab_rig *rig, int i, bool relay,
		 void (*change)(struct grab_options *o))
{
	struct rig_service *s = &rig->services[i];
	struct redis_options ro;
	uint8_t id[16];

	memset(s, 0, sizeof *s);
	set_options(rig, s);
	if (change != NULL) {
		change(&s->options);
	}
	s->running = true;
	s->env.loop = &rig->loop;
	s->env.hub = rig->hub;
	s->env.options = &s->options;
	s->env.directory = directory_new((size_t)s->options.activities_max);
	rand_bytes(id, sizeof id);
	hex_encode(id, sizeof id, s->env.witness);
	redis_defaults(&ro);
	ro.url = s->options.redis_url;
	ro.name = "rain-grab";
	cr_assert_eq(redis_new(rig->hub, &ro, &s->env.redis), 0);
	cr_assert_eq(ledger_new(rig->hub, &s->options, &s->env.ledger), 0);
	if (relay) {
		struct config_pair pairs[RIG_KAFKA_MAX + 1] = {
			{ "bootstrap.servers", rig_kafka() }
		};

		cr_assert_not_null(rig_kafka(), "KAFKA_BOOTSTRAP is not set");
		memcpy(&pairs[1], rig->kafka, sizeof rig->kafka);
		cr_assert_eq(relay_start(&s->env, pairs, rig->kafka_count + 1),
			     0);
	}
	RUN_UNTIL(&rig->loop, all_ready(s, relay));
}

static void relay_stopped(void *ctx)
{
	struct rig_service *s = ctx;

	s->stopped = true;
}

static void end(struct grab_rig *rig, int i, bool gracefully)
{
	struct rig_service *s = &rig->services[i];

	cr_assert(s->running);
	s->running = false;
	if (s->env.relay != NULL) {
		if (gracefully) {
			relay_stop(&s->env, relay_stopped, s);
		} else {
			relay_abandon(&s->env, relay_stopped, s);
		}
		RUN_UNTIL(&rig->loop, s->stopped);
	}
	redis_free(s->env.redis);
	ledger_free(s->env.ledger);
	uv_run(&rig->loop, UV_RUN_NOWAIT);
	directory_free(s->env.directory);
	config_close(&s->config);
}

void rig_stop(struct grab_rig *rig, int i)
{
	end(rig, i, true);
}

void rig_kill(struct grab_rig *rig, int i)
{
	end(rig, i, false);
}

void rig_close(struct grab_rig *rig)
{
	for (int i = 0; i < RIG_SERVICES; i++) {
		if (rig->services[i].running) {
			rig_stop(rig, i);
		}
	}
	fake_ledger_stop(&rig->ledger);
	/* The hub goes after the last of its streams. */
	for (int i = 0; i < 100; i++) {
		uv_run(&rig->loop, UV_RUN_NOWAIT);
	}
	stream_hub_free(rig->hub);
	turns_end(&rig->loop);
	redis_server_close(&rig->redis);
}

/* ---- Asking ---- */

static void got_it(struct ask *ask, const struct answer *answer)
{
	struct rig_got *got = container_of(ask, struct rig_got, ask);

	cr_assert(!got->done, "answered twice");
	got->done = true;
	got->status = answer->status;
	got->amount_cents = answer->amount_cents;
	got->retry_after_ms = answer->retry_after_ms;
	got->revision = answer->revision;
	got->packets = answer->packets;
	got->stands_ms = answer->stands_ms;
	(void)snprintf(got->message, sizeof got->message, "%s",
		       answer->message);
	(void)snprintf(got->packet, sizeof got->packet, "%.*s",
		       BYTES_FMT(answer->red_packet_id));
}

void rig_put(struct grab_rig *rig, int i, enum lane_kind kind,
	     const char *activity, const char *user, struct rig_got *got)
{
	struct grab_env *env = &rig->services[i].env;
	struct activity *a = directory_get(env->directory, bytes_str(activity));

	cr_assert_not_null(a);
	memset(got, 0, sizeof *got);
	got->ask.activity = a;
	got->ask.done = got_it;
	got->ask.kind = kind;
	got->ask.user_len = strlen(user);
	memcpy(got->ask.user, user, got->ask.user_len);
	got->ask.not_after_ms =
		kind == LANE_GRAB ? redis_time_now(&env->time) + 8000 : 0;
	uv_update_time(&rig->loop);
	got->ask.deadline_ms = uv_now(&rig->loop) + 8000;
	lane_put(env, &got->ask);
}

void rig_pump(struct grab_rig *rig, int i, enum lane_kind kind,
	      const char *activity)
{
	struct grab_env *env = &rig->services[i].env;
	struct activity *a =
		directory_find(env->directory, bytes_str(activity));

	if (a != NULL) {
		lane_pump(env, a, kind);
	}
}

static void ask(struct grab_rig *rig, int i, enum lane_kind kind,
		const char *activity, const char *user, struct rig_got *got)
{
	rig_put(rig, i, kind, activity, user, got);
	rig_pump(rig, i, kind, activity);
	RUN_UNTIL(&rig->loop, got->done);
}

void rig_grab(struct grab_rig *rig, int i, const char *activity,
	      const char *user, struct rig_got *got)
{
	ask(rig, i, LANE_GRAB, activity, user, got);
}

void rig_result(struct grab_rig *rig, int i, const char *activity,
		const char *user, struct rig_got *got)
{
	ask(rig, i, LANE_RESULT, activity, user, got);
}

/* ---- Looking ---- */

long rig_script_calls(struct grab_rig *rig)
{
	const char *info = redis_server_ask(&rig->redis, "INFO commandstats");
	const char *sha = strstr(info, "cmdstat_evalsha:calls=");

	return sha == NULL ? 0 : strtol(sha + 22, NULL, 10);
}

const char *rig_relay(struct grab_rig *rig, const char *activity,
		      const char *field)
{
	return redis_server_ask(&rig->redis, "HGET rain:{%s}:relay %s",
				activity, field);
}

static void until(struct grab_rig *rig, const char *key, const char *activity,
		  const char *field, const char *value)
{
	char name[128];
	struct turns *turns = turns_start(&rig->loop, TIMEOUT_MS);
	const char *now;

	(void)snprintf(name, sizeof name, "rain:{%s}:%s", activity, key);
	do {
		uv_run(&rig->loop, UV_RUN_ONCE);
		now = redis_server_ask(&rig->redis, "HGET %s %s", name, field);
	} while (strcmp(now, value) != 0 && !turns->late);
	turns_stop(turns);
	cr_assert_str_eq(now, value, "%s of %s is %s, not %s", field, name, now,
			 value);
}

void rig_until_meta(struct grab_rig *rig, const char *activity,
		    const char *field, const char *value)
{
	until(rig, "meta", activity, field, value);
}

void rig_until_relay(struct grab_rig *rig, const char *activity,
		     const char *field, const char *value)
{
	until(rig, "relay", activity, field, value);
}
