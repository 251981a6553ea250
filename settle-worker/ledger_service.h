/**
 * rain.LedgerService: what the ledger says, over Dubbo.
 */
#ifndef SETTLE_WORKER_LEDGER_SERVICE_H
#define SETTLE_WORKER_LEDGER_SERVICE_H

#include "auditor.h"
#include "net/dubbo_server.h"
#include "reads.h"

struct ledger_service {
	struct reads *reads;
	const struct auditor *auditor; /* NULL: nobody audits */
	const char *ledger_id;
	/** Kafka's cluster id, "" while it is not known. */
	const char *(*cluster_id)(void *ctx);
	void *ctx;
	const char *const *topics; /* whose positions are told */
	size_t topic_count;
};

/** The interface; s must outlive the server. */
struct dubbo_interface ledger_service_interface(struct ledger_service *s);

#endif
