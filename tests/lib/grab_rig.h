/**
 * One or more grab-services on one loop in the test's process, with a private
 * Redis, a ledger whose answers the test sets, and, where there is a broker
 * (KAFKA_BOOTSTRAP), a relay with topics of the test's own.
 *
 *   rig_open(&rig);
 *   lua_open(&rig.redis, "a", 5);
 *   rig_service(&rig, 0, false, NULL);
 *   rig_grab(&rig, 0, "a", "u", &got);
 *   RUN_UNTIL(&rig.loop, got.done);
 *   rig_close(&rig);
 */
#ifndef TESTS_LIB_GRAB_RIG_H
#define TESTS_LIB_GRAB_RIG_H

#include "grab-service/env.h"
#include "grab-service/relay.h"
#include "lib/fake_ledger.h"
#include "lib/lua_run.h"
#include "lib/turns.h"

enum { RIG_SERVICES = 3, RIG_PARTITIONS = 3, RIG_KAFKA_MAX = 4 };

struct rig_service {
	bool running;
	bool stopped;         /* the relay's stop has come to its end */
	struct config config; /* owns the defaults in options */
	struct grab_options options;
	struct grab_env env;
};

struct grab_rig {
	uv_loop_t loop;
	struct stream_hub *hub;
	struct redis_server redis;
	struct fake_ledger ledger;
	char topic[3][64];                       /* activities, claims, dlq */
	struct config_pair kafka[RIG_KAFKA_MAX]; /* properties, set by tests */
	size_t kafka_count;
	struct rig_service services[RIG_SERVICES];
};

/* One ask and what became of it. */
struct rig_got {
	struct ask ask;
	bool done;
	int status; /* rain.Status */
	char packet[64];
	char message[96];
	int64_t amount_cents;
	uint32_t retry_after_ms;
	uint64_t revision;
	uint64_t packets;
	uint32_t stands_ms;
};

/** Redis (with an AOF that is written at once) and the ledger. */
void rig_open(struct grab_rig *rig);
/** The same with a Redis that keeps what SAVE saved, and loses the rest when
 * it is killed. */
void rig_open_forgetful(struct grab_rig *rig);
/** Everything still running is stopped; the loop must come to its end. */
void rig_close(struct grab_rig *rig);

/** Where the broker of the tests is, or NULL. */
const char *rig_kafka(void);

/** Start service i with options made for tests; change may alter them, or is
 * NULL. relay: with a relay, which needs the broker. Waits until Redis and,
 * with a relay, Kafka are there. */
void rig_service(struct grab_rig *rig, int i, bool relay,
		 void (*change)(struct grab_options *o));
/** Stop it gracefully, or as if it was killed. */
void rig_stop(struct grab_rig *rig, int i);
void rig_kill(struct grab_rig *rig, int i);

/** Ask; *got must live until it is done. rig_pump() sends. */
void rig_put(struct grab_rig *rig, int i, enum lane_kind kind,
	     const char *activity, const char *user, struct rig_got *got);
void rig_pump(struct grab_rig *rig, int i, enum lane_kind kind,
	      const char *activity);
/** Ask and wait for the answer. */
void rig_grab(struct grab_rig *rig, int i, const char *activity,
	      const char *user, struct rig_got *got);
void rig_result(struct grab_rig *rig, int i, const char *activity,
		const char *user, struct rig_got *got);

/** How many scripts Redis was asked to run. */
long rig_script_calls(struct grab_rig *rig);

/** A field of the relay hash or of meta; until the next question. */
const char *rig_relay(struct grab_rig *rig, const char *activity,
		      const char *field);

/** Run the loop until the field has this value; fails the test after 15 s. */
void rig_until_meta(struct grab_rig *rig, const char *activity,
		    const char *field, const char *value);
void rig_until_relay(struct grab_rig *rig, const char *activity,
		     const char *field, const char *value);

#endif
