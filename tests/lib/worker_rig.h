/**
 * A worker on a loop, with a ledger of its own and topics of its own at the
 * broker that KAFKA_BOOTSTRAP names.
 */
#ifndef TESTS_LIB_WORKER_RIG_H
#define TESTS_LIB_WORKER_RIG_H

#include "base/config.h"
#include "lib/ledger_fixture.h"
#include "lib/turns.h"
#include "settle-worker/worker.h"

enum { WORKER_RIG_PARTITIONS = 3 };

struct worker_rig {
	uv_loop_t loop;
	struct fixture f; /* its messages are what rig_send() sends */
	size_t sent;      /* of them */
	struct settle_options options;
	struct config config;
	struct config_pair pairs[2];
	char topics[3][64];    /* activities, claims, dlq */
	struct worker *worker; /* NULL: none runs */
	bool stopped;
};

/** The ledger and the topics; no worker yet. */
void worker_rig_open(struct worker_rig *rig);
/** Stops the worker if one runs. */
void worker_rig_close(struct worker_rig *rig);

/** Start a worker and wait until it has its partitions. */
void worker_rig_start(struct worker_rig *rig);
/** Drain it. */
void worker_rig_stop(struct worker_rig *rig);

/** Produce the messages that were added to f and not sent yet. */
void worker_rig_send(struct worker_rig *rig);

/** What a user has, and what an activity has credited; asked off the worker's
 * connection. */
int64_t worker_rig_balance(struct worker_rig *rig, const char *user);
int64_t worker_rig_credited(struct worker_rig *rig, const char *activity);

#endif
