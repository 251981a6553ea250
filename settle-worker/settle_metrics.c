#include "settle_metrics.h"

#define X(id, kind, name, help, labels) \
	struct metric settle_##id = METRIC_##kind(name, help, labels);
SETTLE_METRICS_MAP(X)
#undef X

void settle_metrics_init(void)
{
#define X(id, kind, name, help, labels) metrics_register(&settle_##id);
	SETTLE_METRICS_MAP(X)
#undef X
}

void settle_metrics_add(const struct ledger_result *r)
{
	metric_add(&settle_credits, r->credits);
	metric_add(&settle_credited_cents, r->credited_cents);
	metric_add(&settle_replays, r->replays);
	metric_add(&settle_conflicts, r->conflicts);
	metric_add(&settle_parked, r->parked);
	metric_add(&settle_changes, r->changes);
	metric_add(&settle_dead_letters, r->dead_letters);
	metric_add(&settle_refunds, r->refunds);
	metric_add(&settle_refunded_cents, r->refunded_cents);
	metric_add(&settle_alarms, r->alarms);
}
