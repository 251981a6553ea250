/**
 * The answers of LedgerService as messages.
 */
#ifndef SETTLE_WORKER_LEDGER_ANSWER_H
#define SETTLE_WORKER_LEDGER_ANSWER_H

#include "ledger.h"
#include "ledger_service.h"
#include "net/dubbo_server.h"

/** Each answers the call; what it is given is borrowed. */
void ledger_answer_records(struct dubbo_call *call,
			   const struct ledger_record *records, size_t n);
/** totals NULL: not known. */
void ledger_answer_totals(struct dubbo_call *call,
			  const struct ledger_totals *totals,
			  struct bytes activity_id);
void ledger_answer_activities(struct dubbo_call *call,
			      const struct ledger_totals *totals, size_t n);
/** Also tells what the audit of s found. */
void ledger_answer_positions(struct dubbo_call *call,
			     const struct ledger_service *s,
			     const char *cluster_id,
			     const struct ledger_position *positions, size_t n);

#endif
