/**
 * What the parts of one grab-service share. Filled by main(), or by a test
 * that wants several in one process.
 */
#ifndef GRAB_ENV_H
#define GRAB_ENV_H

#include <uv.h>

#include "client/redis.h"
#include "net/stream.h"

#include "directory.h"
#include "options.h"
#include "redis_time.h"

struct lane_watch;
struct ledger;
struct relay;

struct grab_env {
	uv_loop_t *loop;
	struct stream_hub *hub;
	const struct grab_options *options;
	struct redis *redis; /* grabs, results, operators, halts */
	struct ledger *ledger;
	struct directory *directory;
	struct relay *relay; /* NULL: claims are not published here */
	struct redis_time time;
	char witness[33];         /* random, one per process */
	struct lane_watch *watch; /* see lane.h; NULL: none */
	size_t queued;            /* asks waiting, of all activities */
	size_t elsewhere;         /* asks that wait for the ledger */
	uint64_t scanned_ms;      /* loop time of the last look at
				       * rain:activities, 0 none */
};

#endif
