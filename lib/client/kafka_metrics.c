#include "client/kafka_metrics.h"

#include <pthread.h>

#define DELIVERIES(outcome)                           \
	METRIC_COUNTER("rain_kafka_deliveries_total", \
		       "Delivery reports by outcome", \
		       "outcome=\"" outcome "\"")
#define REBALANCES(kind)                                       \
	METRIC_COUNTER("rain_kafka_rebalances_total",          \
		       "Changes of the consumer's assignment", \
		       "kind=\"" kind "\"")

struct metric kafka_produced =
	METRIC_COUNTER("rain_kafka_produced_total",
		       "Messages handed to the Kafka producer", "");
struct metric kafka_delivered = DELIVERIES("ok");
struct metric kafka_undelivered = DELIVERIES("error");
struct metric kafka_outstanding = METRIC_GAUGE(
	"rain_kafka_outstanding", "Messages produced and not yet reported", "");
struct metric kafka_renewals =
	METRIC_COUNTER("rain_kafka_producer_renewals_total",
		       "Producers made anew after a fatal error", "");
struct metric kafka_consumed =
	METRIC_COUNTER("rain_kafka_consumed_total",
		       "Messages taken from the Kafka consumer", "");
struct metric kafka_rebalances_in = REBALANCES("assigned");
struct metric kafka_rebalances_out = REBALANCES("revoked");
struct metric kafka_rebalances_lost = REBALANCES("lost");

static struct metric *const all[] = {
	&kafka_produced,      &kafka_delivered,      &kafka_undelivered,
	&kafka_outstanding,   &kafka_renewals,       &kafka_consumed,
	&kafka_rebalances_in, &kafka_rebalances_out, &kafka_rebalances_lost,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void register_all(void)
{
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		metrics_register(all[i]);
	}
}

void kafka_metrics_init(void)
{
	(void)pthread_once(&once, register_all);
}
