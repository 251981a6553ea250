/**
 * What every command of rainctl works with: the configuration, a loop, the
 * connections made on demand, and calls that wait for their answer.
 */
#ifndef CONSOLE_CTL_H
#define CONSOLE_CTL_H

#include "base/config.h"
#include "client/dubbo_client.h"
#include "net/stream.h"
#include "rain/activity_service.pb-c.h"
#include "token/token.h"

/* How rainctl ends. */
enum {
	CTL_OK = 0,
	CTL_NO = 1,    /* the answer is no: refused, no packet, books differ */
	CTL_USAGE = 2, /* the command line or the configuration is wrong */
	CTL_UNKNOWN = 3, /* no answer, or none yet: ask again later; a change
			  * may or may not have been done */
};

struct ctl_options {
	const char *gateway_addresses;
	const char *gateway_keys;
	const char *grab_addresses;
	const char *grab_secret;
	const char *ledger_addresses;
	const char *ledger_secret;
	const char *redis_url;
	const char *topic_activities;
	const char *topic_claims;
	int64_t timeout_ms;
};

extern const struct config_key ctl_keys[];

struct ctl {
	struct ctl_options options;
	struct config config;
	uv_loop_t loop;
	struct stream_hub *hub;
	struct dubbo_client *grab;   /* NULL until ctl_grab() */
	struct dubbo_client *ledger; /* NULL until ctl_ledger() */
	bool json;                   /* print JSON instead of text */
};

/** config is filled by the caller before; close frees everything. */
void ctl_init(struct ctl *ctl);
void ctl_close(struct ctl *ctl);

/** The services, connecting when first asked for; NULL after telling why on
 * stderr. Freed by ctl_close(). */
struct dubbo_client *ctl_grab(struct ctl *ctl);
struct dubbo_client *ctl_ledger(struct ctl *ctl);

/** Run the loop until *flag is true. */
void ctl_wait(struct ctl *ctl, const bool *flag);

/** Let ms pass on the loop. */
void ctl_rest(struct ctl *ctl, uint64_t ms);

/**
 * Call a method and wait. CTL_OK with *reply, a message of type d to be freed
 * by proto_free(); else CTL_UNKNOWN or CTL_NO with a sentence appended to why.
 */
int ctl_call(struct ctl *ctl, struct dubbo_client *client,
	     const struct dubbo_target *target, const ProtobufCMessage *message,
	     const ProtobufCMessageDescriptor *d, void **reply,
	     struct buf *why);

/* The methods that several commands call. */
extern const struct dubbo_target ctl_get, ctl_list, ctl_counters, ctl_claims,
	ctl_packets, ctl_entropy, ctl_topup, ctl_rewind, ctl_balance,
	ctl_records, ctl_totals, ctl_ledger_activities, ctl_positions;

/** What the Kafka section says, or the value of one of its keys ("" if it is
 * not there). */
const char *ctl_kafka(const struct ctl *ctl, const char *name);

/** The keys that sign users' tokens, those of gateway.keys. NULL with a
 * sentence appended to why. Free with token_keys_free(). */
struct token_keys *ctl_token_keys(const struct ctl *ctl, struct buf *why);

/** How rainctl ends when ActivityService answered with this refusal: CTL_UNKNOWN
 * if it may be asked again, else CTL_NO. */
int refusal_rc(Rain__Outcome outcome);

#endif
