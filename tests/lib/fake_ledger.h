/**
 * A LedgerService whose answers a test sets, on a loop.
 */
#ifndef TESTS_LIB_FAKE_LEDGER_H
#define TESTS_LIB_FAKE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "net/dubbo_server.h"

struct fake_ledger {
	struct dubbo_server *server;
	char address[64];

	/* Set by the test. One activity is all that it knows. */
	bool away; /* answers nothing but errors */
	bool known;
	uint64_t revision;
	const char *state; /* "" */
	int64_t funded_cents;
	uint64_t funded_packets;
	int64_t refunded_cents;
	int64_t held_cents;
	bool refund_done;
	uint64_t max_seq;
	const char *record_user; /* the one user with a record, or NULL */
	bool passed;             /* the positions are beyond everything */
	const char *topics[2];
	int partitions;

	/* Counted. */
	int totals_asked;
	int records_asked;
	int positions_asked;
};

/** Listens on a free port; the other fields are as the caller set them. */
void fake_ledger_start(struct fake_ledger *f, struct stream_hub *hub);
void fake_ledger_stop(struct fake_ledger *f);

#endif
