/**
 * Questions to the ledger: LedgerService of the settle-workers.
 */
#ifndef GRAB_LEDGER_H
#define GRAB_LEDGER_H

#include "net/stream.h"
#include "rain/ledger_service.pb-c.h"

#include "base/bytes.h"
#include "base/check.h"

#include "options.h"

struct ledger;

/** Connects to ledger_addresses. 0, or a code after logging why. */
must_check int ledger_new(struct stream_hub *hub,
			  const struct grab_options *options,
			  struct ledger **out);
/** Every question still open is answered NULL, on later turns of the loop. */
void ledger_free(struct ledger *l);

/** Whether any provider is connected. */
bool ledger_ready(const struct ledger *l);

/* reply is NULL when the ledger did not answer; valid during the call. Never
 * called from inside the question. */
typedef void (*ledger_totals_cb)(void *ctx, const Rain__TotalsReply *reply);
typedef void (*ledger_record_cb)(void *ctx, const Rain__RecordsReply *reply);
typedef void (*ledger_positions_cb)(void *ctx,
				    const Rain__PositionsReply *reply);

/** The totals of one activity; `known` is false for a stranger's id. */
void ledger_totals(struct ledger *l, struct bytes activity_id,
		   ledger_totals_cb done, void *ctx);
/** At most one record in the reply. */
void ledger_record(struct ledger *l, struct bytes activity_id,
		   struct bytes user_id, ledger_record_cb done, void *ctx);
/** How far every partition is applied. */
void ledger_positions(struct ledger *l, ledger_positions_cb done, void *ctx);

#endif
