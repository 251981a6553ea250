/**
 * The configuration of the grab-service: every key with its default and its
 * bounds. docs name them section.key; --help prints them. The section kafka
 * passes through to librdkafka: kafka.bootstrap.servers says where Kafka is.
 */
#ifndef GRAB_OPTIONS_H
#define GRAB_OPTIONS_H

#include "base/config.h"

struct service;

struct grab_options {
	const char *listen;           /* address of the Dubbo provider */
	const char *secret;           /* demanded of callers; "" none */
	int64_t calls_max;            /* Dubbo calls in flight */
	int64_t connections_max;      /* Dubbo connections */
	int64_t batch_max;            /* grabs in one script call */
	int64_t queue_max;            /* grabs waiting, per activity */
	int64_t queue_total;          /* grabs waiting, in all */
	int64_t wait_max_ms;          /* of a grab in a queue */
	int64_t activities_max;       /* activities remembered */
	const char *redis_url;        /* of the one Redis */
	int64_t redis_timeout_ms;     /* of one command */
	int64_t redis_stall_ms;       /* silence that counts as away */
	int64_t redis_commands_max;   /* in flight per connection */
	const char *ledger_addresses; /* providers of LedgerService */
	const char *ledger_secret;    /* sent to them; "" none */
	int64_t ledger_timeout_ms;    /* of one question */
	int64_t ledger_calls_max;     /* questions in flight */
	int64_t poll_ms;              /* between reads of a live activity */
	int64_t idle_ms;              /* between reads of an idle one */
	int64_t scan_ms;              /* between looks at rain:activities */
	int64_t lease_ms;             /* how long a relay lease lasts */
	int64_t read_max;             /* claims in one read */
	int64_t window_max;           /* claims sent and not acknowledged */
	int64_t flush_ms;             /* how long a drain publishes */
	int64_t grace_ms;             /* between end_ms and closing */
	int64_t ask_ms;               /* between questions about a refund */
	int64_t patience_ms;          /* for a witness that does not confirm */
	int64_t plan_packets;         /* in the plans that are kept */
	const char *topic_activities;
	const char *topic_claims;
	const char *topic_dlq;
	int64_t topic_partitions;
	int64_t topic_retention_ms;
	int64_t topic_min_insync;  /* lowered to what the cluster has */
	int64_t topic_replication; /* likewise */
};

/** The table for config_init() and struct service; static. */
extern const struct config_key grab_option_keys[];

/** What the table can't check; struct service's validate. */
void grab_options_check(const struct service *svc,
			const struct config_pair *pairs, size_t pair_count,
			struct buf *problems);

#endif
