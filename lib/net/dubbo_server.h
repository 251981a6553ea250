/**
 * A Dubbo provider on a loop: answers rain.* interfaces over many connections.
 */
#ifndef NET_DUBBO_SERVER_H
#define NET_DUBBO_SERVER_H

#include "net/dubbo_codec.h"
#include "net/stream.h"

struct dubbo_server;

/* A request to be answered: exactly one dubbo_reply(), dubbo_throw() or
 * dubbo_fail(), at any later time, also after its connection is gone (then it
 * only frees the call). */
struct dubbo_call;

/** argument is a view of the protobuf message, valid during this call. */
typedef void (*dubbo_method_cb)(void *ctx, struct dubbo_call *call,
				struct bytes argument);

struct dubbo_method {
	const char *name;  /* "grab" */
	const char *types; /* "Lrain/GrabRequest;" */
	dubbo_method_cb handle;
};

struct dubbo_interface {
	const char *name;    /* "rain.GrabService" */
	const char *version; /* "1.0.0" */
	const struct dubbo_method *methods;
	size_t method_count;
	void *ctx; /* given to every handle */
};

struct dubbo_server_options {
	const char *listen; /* "127.0.0.1:20880" */
	const char *secret; /* demanded in the token attachment; "" none */
	int64_t calls_max;  /* in flight in all; above: status 100 */
	int64_t connections_max;
	int64_t payload_max; /* bytes */
	int64_t idle_ms;     /* silent connections close; 180,000 */
};

/** Start listening. interfaces and options' strings stay borrowed. 0, or a
 * code after logging why; then *out is NULL. */
must_check int dubbo_server_new(struct stream_hub *hub,
				const struct dubbo_server_options *options,
				const struct dubbo_interface *interfaces,
				size_t interface_count,
				struct dubbo_server **out);

/** Where it listens, with the real port. */
const char *dubbo_server_address(const struct dubbo_server *s);

/** Send READONLY to all, accept no new connection, answer what is in flight
 * and what still comes; done(ctx), later, when nothing is in flight any more
 * and consumers had a moment to hear of it (50 ms without a request, or a
 * second). What comes after that, from consumers that don't listen to
 * READONLY, is refused with SERVICE_NOT_FOUND: it was not executed, and another
 * provider may be asked. */
void dubbo_server_drain(struct dubbo_server *s, void (*done)(void *ctx),
			void *ctx);

/** Calls that are not answered yet. */
int64_t dubbo_server_in_flight(const struct dubbo_server *s);

/** Close every connection. Frees itself on later turns of the loop; calls not
 * yet answered must still be answered. */
void dubbo_server_free(struct dubbo_server *s);

/** Loop time (uv_now) at which the caller stops waiting, from the timeout
 * attachment; receipt + 1,000 if there is none. */
uint64_t dubbo_call_deadline(const struct dubbo_call *call);

/** Answer. message is packed before the call returns; NULL is Java's null. */
void dubbo_reply(struct dubbo_call *call, const ProtobufCMessage *message);
/** Answer with a business exception. */
void dubbo_throw(struct dubbo_call *call, const char *class_name,
		 const char *message);
/** Answer with a status other than OK. */
void dubbo_fail(struct dubbo_call *call, enum dubbo_status status,
		const char *message);

#endif
