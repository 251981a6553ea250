/**
 * From the outboxes in Redis to Kafka (design: ARCHITECTURE.md, the relay).
 *
 * Every activity of rain:activities has a track. The track that holds the
 * lease sends claims and events to Kafka, those that this process has just won
 * from the replies of their grabs, all others as it reads them behind the
 * cursors, and moves the cursors over what is acknowledged without a gap. Whatever goes
 * wrong, it drops what it knows and starts again at the cursors: at least
 * once.
 */
#ifndef GRAB_RELAY_H
#define GRAB_RELAY_H

#include "base/config.h"

#include "env.h"

struct claim;

/** Connects to Redis, a connection of its own, and to Kafka; sets env->relay.
 * pairs are librdkafka properties. 0, or a code after logging why. */
must_check int relay_start(struct grab_env *env,
			   const struct config_pair *pairs, size_t pair_count);

/** Publish what is claimed, for at most flush_ms, release the leases, stop;
 * done(ctx) when all is closed and env->relay is NULL. */
void relay_stop(struct grab_env *env, void (*done)(void *ctx), void *ctx);

/** As a process that is killed: whatever was sent and not reported is
 * forgotten, no lease is released. For tests. */
void relay_abandon(struct grab_env *env, void (*done)(void *ctx), void *ctx);

/** A claim that Redis has just told this process, and that roll_judge() let
 * pass: publish it now, without reading it again, if it is the next one and
 * nothing stands in the way. False if it is not on its way: poke. */
must_check bool relay_publish(struct activity *a, const struct claim *c,
			      uint64_t revision);

/** Something happened to the activity: look soon. */
void relay_poke(struct relay *relay, struct activity *a);
/** The same by id, also for one that is not known yet: look at the set. */
void relay_poke_id(struct relay *relay, struct bytes activity_id);

/** Whether Redis and Kafka are there and the topics exist; else a line per
 * reason is appended. Activities that are fenced are named in any case: others
 * can be grabbed in. */
bool relay_ready(const struct relay *relay, struct buf *why);

/** Register the metrics; once per process, again is harmless. */
void relay_metrics(void);

#endif
