#include "options.h"

#include "base/config_table.h"
#include "client/kafka_conf.h"
#include "client/kafka_topic_keys.h"
#include "net/address.h"
#include "net/service.h"

#define AT(field) offsetof(struct settle_options, field)

#define HOUR_MS (INT64_C(3600) * 1000)

const struct config_key settle_option_keys[] = {
	NEEDED("ledger.path", ledger_path, "",
	       "file of the ledger, from /; it is made if there is none"),
	NEEDED("ledger.listen", listen, "127.0.0.1:20881",
	       "address and port of LedgerService"),
	SECRET("ledger.secret", secret,
	       "shared secret demanded of callers; empty: none"),
	NUMBER("ledger.calls_max", calls_max, "10000", 1, 1000000,
	       "Dubbo calls in flight; above: refused"),
	NUMBER("ledger.connections_max", connections_max, "1000", 1, 100000,
	       "Dubbo connections"),
	NUMBER("ledger.readers", readers, "2", 1, 16,
	       "connections that read the ledger"),
	NUMBER("ledger.reads_max", reads_max, "2000", 1, 1000000,
	       "questions waiting for a reader; above: refused"),
	SPAN("ledger.audit", audit_ms, "60s", 1000, 24 * HOUR_MS,
	     "between the beginnings of two audits of the books"),

	NUMBER("settle.batch_max", batch_max, "20000", 1, 100000,
	       "messages in one transaction"),
	NUMBER("settle.nice", nice, "5", 0, 19,
	       "how far programs of the same machine go first, as nice(1) has "
	       "it: taps are answered now, credits may wait a moment"),
	SPAN("settle.backoff_min", backoff_min_ms, "100ms", 1, 60000,
	     "first wait after the database failed; doubles"),
	SPAN("settle.backoff_max", backoff_max_ms, "5s", 1, 600000,
	     "longest wait after the database failed"),
	SPAN("settle.gap_age", gap_age_ms, "10s", 100, HOUR_MS,
	     "age of a gap in the claims before they are asked for again"),
	SPAN("settle.watch", watch_ms, "1s", 10, 600000,
	     "between two looks for gaps"),
	SPAN("settle.counters", counters_ms, "5s", 100, 600000,
	     "between two looks at the counters of live activities"),

	TEXT("grab.addresses", grab_addresses, "127.0.0.1:20880",
	     "grab-services, host:port,host:port; empty: do not ask them"),
	SECRET("grab.secret", grab_secret,
	       "shared secret that they demand; empty: none"),
	SPAN("grab.timeout", grab_timeout_ms, "2s", 10, 60000,
	     "how long one call to them may take"),

	KAFKA_TOPIC_NAMES,
	KAFKA_TOPIC_MAKING,
	{ 0 },
};

void settle_options_check(const struct service *svc,
			  const struct config_pair *pairs, size_t pair_count,
			  struct buf *problems)
{
	const struct settle_options *o = svc->options;

	/* A relative path would be another file in another directory: a new,
	 * empty ledger, and nobody would have been told. */
	if (o->ledger_path[0] != '\0' && o->ledger_path[0] != '/') {
		buf_printf(problems,
			   "ledger.path: \"%s\" is relative; allowed: a path "
			   "that begins with /\n",
			   o->ledger_path);
	}
	(void)address_check("ledger.listen", o->listen, problems);
	(void)address_list_check("grab.addresses", o->grab_addresses, problems);
	kafka_conf_check(pairs, pair_count, problems);
}
