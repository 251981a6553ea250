/** The configuration of the settle-worker. */
#ifndef SETTLE_WORKER_OPTIONS_H
#define SETTLE_WORKER_OPTIONS_H

#include "base/config.h"

struct service;

struct settle_options {
	const char *ledger_path;
	const char *listen;
	const char *secret;
	int64_t calls_max;
	int64_t connections_max;
	int64_t readers;
	int64_t reads_max;
	int64_t audit_ms;
	int64_t batch_max;
	int64_t nice;
	int64_t backoff_min_ms;
	int64_t backoff_max_ms;
	int64_t gap_age_ms;
	int64_t watch_ms;
	int64_t counters_ms;
	const char *grab_addresses;
	const char *grab_secret;
	int64_t grab_timeout_ms;
	const char *topic_activities;
	const char *topic_claims;
	const char *topic_dlq;
	int64_t topic_retention_ms;
	int64_t topic_min_insync;
	int64_t topic_replication;
};

extern const struct config_key settle_option_keys[];

/** What the table can't check; struct service's validate. */
void settle_options_check(const struct service *svc,
			  const struct config_pair *pairs, size_t pair_count,
			  struct buf *problems);

#endif
