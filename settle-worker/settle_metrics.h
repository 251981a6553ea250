/** What the settle-worker counts. */
#ifndef SETTLE_WORKER_SETTLE_METRICS_H
#define SETTLE_WORKER_SETTLE_METRICS_H

#include "base/metrics.h"
#include "ledger.h"

/* X(identifier, kind, name, help, labels) */
#define SETTLE_METRICS_MAP(X)                                                  \
	X(credits, COUNTER, "rain_settle_claims_total",                        \
	  "Claims by what became of them", "outcome=\"credited\"")             \
	X(replays, COUNTER, "rain_settle_claims_total",                        \
	  "Claims by what became of them", "outcome=\"replay\"")               \
	X(conflicts, COUNTER, "rain_settle_claims_total",                      \
	  "Claims by what became of them", "outcome=\"conflict\"")             \
	X(parked, COUNTER, "rain_settle_claims_total",                         \
	  "Claims by what became of them", "outcome=\"parked\"")               \
	X(credited_cents, COUNTER, "rain_settle_credited_cents_total",         \
	  "Cents credited to users", "")                                       \
	X(changes, COUNTER, "rain_settle_changes_total",                       \
	  "Changes of activities applied", "")                                 \
	X(dead_letters, COUNTER, "rain_settle_dead_letters_total",             \
	  "Messages that cannot be settled", "")                               \
	X(refunds, COUNTER, "rain_settle_refunds_total",                       \
	  "Activities refunded", "")                                           \
	X(refunded_cents, COUNTER, "rain_settle_refunded_cents_total",         \
	  "Cents given back to sponsors", "")                                  \
	X(alarms, COUNTER, "rain_settle_alarms_total",                         \
	  "Times an activity needed a person", "")                             \
	X(moved, COUNTER, "rain_settle_moved_total",                           \
	  "Batches refused because another worker had moved the offset", "")   \
	X(failures, COUNTER, "rain_settle_failures_total",                     \
	  "Transactions that the database refused", "")                        \
	X(rewinds, COUNTER, "rain_settle_rewinds_total",                       \
	  "Times claims were asked for again", "")                             \
	X(batch, COUNTS, "rain_settle_batch_messages",                         \
	  "Messages in one transaction", "")                                   \
	X(transaction, SECONDS, "rain_settle_transaction_seconds",             \
	  "Time of one transaction", "")                                       \
	X(lag_ms, GAUGE, "rain_settle_lag_milliseconds",                       \
	  "Age of the newest message of the last batch, 0 when caught up", "") \
	X(waiting, GAUGE, "rain_settle_parked_claims",                         \
	  "Claims that are owed and not paid yet", "")                         \
	X(waiting_ms, GAUGE, "rain_settle_unfunded_milliseconds",              \
	  "For how long the oldest claim waits for its funds, 0 for none", "") \
	X(violations, GAUGE, "rain_ledger_invariant_violations",               \
	  "What the last audit of the ledger found wrong", "")                 \
	X(books_claims, GAUGE, "rain_books_claims",                            \
	  "Claims of activities not refunded yet, by place",                   \
	  "place=\"redis\"")                                                   \
	X(books_published, GAUGE, "rain_books_claims",                         \
	  "Claims of activities not refunded yet, by place",                   \
	  "place=\"published\"")                                               \
	X(books_credited, GAUGE, "rain_books_claims",                          \
	  "Claims of activities not refunded yet, by place",                   \
	  "place=\"credited\"")                                                \
	X(reads_refused, COUNTER, "rain_ledger_reads_refused_total",           \
	  "Questions refused because too many were waiting", "")

#define X(id, kind, name, help, labels) extern struct metric settle_##id;
SETTLE_METRICS_MAP(X)
#undef X

/** Register them, once. */
void settle_metrics_init(void);

/** Count what a batch did. */
void settle_metrics_add(const struct ledger_result *r);

#endif
