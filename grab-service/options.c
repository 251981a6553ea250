#include "options.h"

#include "base/config_table.h"
#include "client/kafka_conf.h"
#include "client/kafka_topic_keys.h"
#include "client/redis_url.h"
#include "net/service.h"

#define AT(field) offsetof(struct grab_options, field)

const struct config_key grab_option_keys[] = {
	NEEDED("grab.listen", listen, "127.0.0.1:20880",
	       "address and port of GrabService and ActivityService"),
	SECRET("grab.secret", secret,
	       "shared secret demanded of callers; empty: none"),
	NUMBER("grab.calls_max", calls_max, "10000", 1, 1000000,
	       "Dubbo calls in flight; above: refused"),
	NUMBER("grab.connections_max", connections_max, "1000", 1, 100000,
	       "Dubbo connections"),
	NUMBER("grab.batch_max", batch_max, "256", 1, 1000,
	       "grabs of an activity in one script call"),
	NUMBER("grab.queue_max", queue_max, "20000", 1, 1000000,
	       "grabs waiting per activity; above: BUSY"),
	NUMBER("grab.queue_total", queue_total, "50000", 1, 10000000,
	       "grabs waiting in all; above: BUSY"),
	SPAN("grab.wait_max", wait_max_ms, "200ms", 1, 60000,
	     "how long a grab may wait in a queue; longer: BUSY at once"),
	NUMBER("grab.activities_max", activities_max, "4096", 16, 30000,
	       "activities remembered; above: BUSY for new ones"),

	{ "redis.url", CONFIG_STRING, AT(redis_url), "redis://127.0.0.1:6379",
	  .flags = CONFIG_REQUIRED | CONFIG_SECRET,
	  .help = "redis://[user:password@]host:port[/db] or unix:/path" },
	SPAN("redis.timeout", redis_timeout_ms, "1s", 10, 60000,
	     "how long one command may take"),
	SPAN("redis.stall", redis_stall_ms, "400ms", 20, 60000,
	     "silence after which grabs are BUSY at once, until it speaks"),
	NUMBER("redis.commands_max", redis_commands_max, "4096", 16, 1000000,
	       "commands in flight per connection"),

	NEEDED("ledger.addresses", ledger_addresses, "127.0.0.1:20881",
	       "settle-workers, host:port,host:port"),
	SECRET("ledger.secret", ledger_secret,
	       "shared secret that they demand; empty: none"),
	SPAN("ledger.timeout", ledger_timeout_ms, "1s", 10, 60000,
	     "how long one question to the ledger may take"),
	NUMBER("ledger.calls_max", ledger_calls_max, "1000", 1, 100000,
	       "questions to the ledger in flight"),

	SPAN("relay.poll", poll_ms, "20ms", 1, 1000,
	     "between reads of a live activity, up to five times as long "
	     "while they find nothing"),
	SPAN("relay.idle", idle_ms, "500ms", 10, 60000,
	     "between reads of an idle activity"),
	SPAN("relay.scan", scan_ms, "200ms", 10, 60000,
	     "between looks at the set of activities"),
	SPAN("relay.lease", lease_ms, "3s", 100, 60000,
	     "how long a relay may be silent before another takes over"),
	NUMBER("relay.read_max", read_max, "4000", 1, 4000,
	       "claims read at once"),
	NUMBER("relay.window_max", window_max, "16000", 64, 1000000,
	       "claims of an activity sent to Kafka and not acknowledged"),
	SPAN("relay.flush", flush_ms, "3s", 0, 60000,
	     "how long a stopping service goes on publishing"),

	SPAN("keeper.grace", grace_ms, "2s", 0, 600000,
	     "between the end of an activity and its closing"),
	SPAN("keeper.ask", ask_ms, "1s", 10, 600000,
	     "between questions to the ledger about a refund"),
	SPAN("fence.patience", patience_ms, "30s", 0, 600000,
	     "wait for a witness after a restart of Redis"),

	NUMBER("relay.plan_packets", plan_packets, "20000000", 0, 1000000000,
	       "packets whose plans are kept to compare claims (32 bytes each)"),

	KAFKA_TOPIC_NAMES,
	NUMBER("topics.partitions", topic_partitions, "12", 1, 1000,
	       "partitions of a topic that is created"),
	KAFKA_TOPIC_MAKING,
	{ 0 },
};

void grab_options_check(const struct service *svc,
			const struct config_pair *pairs, size_t pair_count,
			struct buf *problems)
{
	const struct grab_options *o = svc->options;
	struct redis_url url;
	const char *why = redis_url_parse(o->redis_url, &url);

	(void)address_check("grab.listen", o->listen, problems);
	if (o->redis_url[0] != '\0' && why != NULL) {
		buf_printf(problems,
			   "redis.url: %s; allowed: "
			   "redis://[user:password@]host:port[/db] or "
			   "unix:/path\n",
			   why);
	}
	(void)address_list_check("ledger.addresses", o->ledger_addresses,
				 problems);
	kafka_conf_check(pairs, pair_count, problems);
}
