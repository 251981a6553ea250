/**
 * rain.GrabService: grab, grabBatch and result over Dubbo. Splits a call into
 * asks, gathers the answers again in the order of the request.
 */
#ifndef GRAB_GRAB_SERVICE_H
#define GRAB_GRAB_SERVICE_H

#include "net/dubbo_server.h"

#include "env.h"

enum {
	GRAB_CALL_MAX = 1000,      /* grabs in one call */
	GRAB_NOT_AFTER_MS = 1000,  /* what a not_after of 0 means */
	GRAB_AHEAD_MAX_MS = 10000, /* a later not_after is cut */
};

/** The interface to give to dubbo_server_new(); env stays borrowed until the
 * server has answered its last call. */
struct dubbo_interface grab_service_interface(struct grab_env *env);

/** The moment after which a grab must not be executed, from what was asked
 * for, in Redis's time. Pure. */
int64_t grab_not_after(int64_t asked_ms, int64_t now_ms);

/** Register the metrics; once per process, again is harmless. */
void grab_service_metrics(void);

#endif
