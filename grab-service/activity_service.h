/**
 * rain.ActivityService: what operators do with activities.
 *
 * Every change is one step in Redis. A request reads what there is only to say
 * it in its reply, never to decide: the step decides.
 *
 *   activity_service.c  the interface, and the life of all this
 *   activity_op.c       one request, from its bytes to its reply
 *   activity_create.c   create
 *   activity_change.c   pause, resume, close, cancel, rewind
 *   activity_job.c      preload, open and top-up: long, joined, one per activity
 *   activity_preload.c  pushing the plan
 *   activity_open.c     checking every packet, then opening
 *   activity_topup.c    announcing a tranche, and pushing it once it is funded
 *   activity_read.c     get, list, counters
 *   activity_pages.c    claims, packets
 */
#ifndef GRAB_ACTIVITY_SERVICE_H
#define GRAB_ACTIVITY_SERVICE_H

#include "client/redis.h"
#include "net/dubbo_server.h"

#include "ledger.h"

struct activity_service;

struct activity_deps {
	uv_loop_t *loop;
	struct redis *redis;   /* may be shared; best one without grabs */
	struct ledger *ledger; /* create asks it whether it knows the id */
	uint64_t timeout_ms;   /* of one step, 5,000 */
	uint64_t chunk;        /* packets in one step of a job, 1,000 */
	/** A request changed the activity; NULL if nobody cares. */
	void (*changed)(void *ctx, struct bytes activity_id);
	void *ctx;
};

/** deps are copied; what they point to must outlive the service. */
struct activity_service *activity_service_new(const struct activity_deps *deps);

/** What dubbo_server_new() takes; valid as long as the service. */
const struct dubbo_interface *activity_service_interface(
	const struct activity_service *s);

/** Jobs end after the chunks in flight, answered UNAVAILABLE_NOW; others
 * begin no more. For a drain. */
void activity_service_stop(struct activity_service *s);

/** Frees itself once the last request is answered: the loop must run until
 * then, and the Redis client and the ledger must end their calls. */
void activity_service_free(struct activity_service *s);

#endif
