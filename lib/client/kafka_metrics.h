/**
 * What the Kafka clients of this process have done, for all of them together.
 */
#ifndef CLIENT_KAFKA_METRICS_H
#define CLIENT_KAFKA_METRICS_H

#include "base/metrics.h"

extern struct metric kafka_produced;        /* messages handed over */
extern struct metric kafka_delivered;       /* reported as delivered */
extern struct metric kafka_undelivered;     /* reported as anything else */
extern struct metric kafka_outstanding;     /* handed over, not reported */
extern struct metric kafka_renewals;        /* producers made anew */
extern struct metric kafka_consumed;        /* messages taken */
extern struct metric kafka_rebalances_in;   /* assignments */
extern struct metric kafka_rebalances_out;  /* revocations */
extern struct metric kafka_rebalances_lost; /* revocations without a word */

/** Register them. Safe to repeat, from any thread. */
void kafka_metrics_init(void);

#endif
