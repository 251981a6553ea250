/**
 * A Dubbo consumer on a loop: one connection to each of several providers of
 * the same interfaces, kept up with backoff and jitter, heartbeats both ways,
 * replies in any order, a deadline for every call.
 *
 * Nothing is retried here: the caller knows what may be repeated.
 */
#ifndef CLIENT_DUBBO_CLIENT_H
#define CLIENT_DUBBO_CLIENT_H

#include "net/dubbo_codec.h"
#include "net/stream.h"

struct dubbo_client;

struct dubbo_client_options {
	const char *addresses;   /* "host:port,host:port" */
	const char *secret;      /* sent as the token attachment; "" none */
	const char *application; /* our name, an attachment */
	int64_t calls_max;       /* in flight in all; above: NOT_SENT */
	int64_t payload_max;
	int64_t connect_timeout_ms;
	int64_t heartbeat_ms;   /* 60,000; silent for 3 of them: reconnect */
	int64_t silence_max_ms; /* 10,000; silent for so long since a deadline
				   passed: reconnect */
	int64_t backoff_min_ms; /* 50; doubles with jitter */
	int64_t backoff_max_ms; /* 2,000 */
};

/** Reasonable values for all but addresses. */
void dubbo_client_defaults(struct dubbo_client_options *o);

enum dubbo_outcome {
	DUBBO_DONE, /* result has the provider's answer, of any kind; one that
			   can't be read is an ERROR of status CLIENT_ERROR */
	DUBBO_NOT_SENT, /* surely not executed: another provider may be asked */
	DUBBO_UNKNOWN,  /* sent, no answer: it may have been executed */
};

/** result is valid during the call and only with DUBBO_DONE; provider is the
 * index of the address that was asked, or -1. Never called from inside
 * dubbo_client_call(). */
typedef void (*dubbo_done_cb)(void *ctx, enum dubbo_outcome outcome,
			      const struct dubbo_result *result, int provider);

struct dubbo_target {
	const char *path;    /* "rain.GrabService" */
	const char *version; /* "1.0.0" */
	const char *method;  /* "grab" */
	const char *types;   /* "Lrain/GrabRequest;" */
};

/** Starts connecting at once. Option strings are copied. 0, or ERR_CONFIG
 * after logging which address is bad. */
must_check int dubbo_client_new(struct stream_hub *hub,
				const struct dubbo_client_options *options,
				struct dubbo_client **out);

/** Ends every call (UNKNOWN or NOT_SENT) before it returns, and closes; frees
 * itself on later turns of the loop. A call made from one of those callbacks
 * ends NOT_SENT on a later turn. */
void dubbo_client_free(struct dubbo_client *c);

/**
 * Call a method. The provider is the ready one with the fewest calls in
 * flight, not the one with index `avoid` (-1: none) if there is another. With
 * none ready: NOT_SENT, unless one gets ready within the deadline.
 * timeout_ms counts from now, queueing included, and travels as an attachment.
 * message is packed before this returns.
 */
void dubbo_client_call(struct dubbo_client *c, const struct dubbo_target *t,
		       const ProtobufCMessage *message, uint64_t timeout_ms,
		       int avoid, dubbo_done_cb done, void *ctx);

/** How many providers are connected and not READONLY. */
size_t dubbo_client_ready(const struct dubbo_client *c);

/** Called whenever dubbo_client_ready() changes. */
void dubbo_client_watch(struct dubbo_client *c, void (*changed)(void *ctx),
			void *ctx);

/** Unpack the value of a result into a message of type d, to be freed by
 * proto_free(). NULL and *why (static text or the provider's message, valid as
 * long as result) if it is anything else. */
void *dubbo_result_message(const struct dubbo_result *result,
			   const ProtobufCMessageDescriptor *d,
			   struct bytes *why);

#endif
