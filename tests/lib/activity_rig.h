/**
 * ActivityService on a loop with a real Redis and a ledger that a test sets,
 * asked over Dubbo.
 *
 *   activity_rig_open(&g, NULL);
 *   activity_ask(&g, "open", "quiz");
 *   cr_assert_eq(g.outcome, RAIN__OUTCOME__DONE, "%s", g.message);
 */
#ifndef TESTS_LIB_ACTIVITY_RIG_H
#define TESTS_LIB_ACTIVITY_RIG_H

#include "client/dubbo_client.h"
#include "grab-service/activity_service.h"
#include "lib/cut_proxy.h"
#include "lib/fake_ledger.h"
#include "lib/redis_server.h"
#include "rain/activity_service.pb-c.h"

/* One call and its reply. */
struct activity_call {
	bool done;
	enum dubbo_outcome outcome;
	enum dubbo_result_kind kind;
	const ProtobufCMessageDescriptor *expects;
	ProtobufCMessage *reply; /* owned; NULL if it is no such message */
};

struct activity_rig {
	struct redis_server server;
	uv_loop_t loop;
	struct stream_hub *hub;
	struct redis *redis;
	struct fake_ledger ledger;
	struct ledger *asks;
	struct activity_service *service;
	struct dubbo_server *provider;
	struct dubbo_client *client;
	struct cut_proxy proxy; /* in use if it has a listener */
	char proxy_url[104];
	uint64_t call_ms;    /* how long a reply is waited for, 9,000 */
	int changed;         /* how often the service told of a change */
	char changed_id[80]; /* of which */

	/* The last ActivityReply. */
	struct activity_call call;
	Rain__Outcome outcome;
	const char *message;            /* "" */
	const Rain__Activity *activity; /* NULL without */
};

/** Start everything; args are further arguments for Redis, or NULL. */
void activity_rig_open(struct activity_rig *g, const char *const *args);
void activity_rig_close(struct activity_rig *g);

/** Another ActivityService instead of this one, as after a crash: what the old
 * one was doing is never finished. */
void activity_rig_replace(struct activity_rig *g, uint64_t chunk);

/** The same, and its way to Redis leads through proxy. */
void activity_rig_through_proxy(struct activity_rig *g);

/** Call a method; the reply comes later. */
void activity_send(struct activity_rig *g, struct activity_call *c,
		   const char *method, const char *types,
		   const ProtobufCMessage *message,
		   const ProtobufCMessageDescriptor *expects);
/** Turn the loop until it is there. */
void activity_wait(struct activity_rig *g, struct activity_call *c);
void activity_call_close(struct activity_call *c);

/** Send an ActivityRequest. */
void activity_send_id(struct activity_rig *g, struct activity_call *c,
		      const char *method, const char *id);
/** ... and wait for the reply, which is the last one then. */
void activity_ask(struct activity_rig *g, const char *method, const char *id);
/** Take the reply of a call that is done as the last one. */
void activity_take(struct activity_rig *g, struct activity_call *c);

/** A plan of packets packets of 1.00 on average that can be created. */
Rain__Plan activity_plan(const char *id, uint64_t packets);
/** Call create with a plan. */
void activity_create_plan(struct activity_rig *g, const Rain__Plan *plan);

/** A text field of the last activity. */
const char *activity_text(ProtobufCBinaryData b);

#endif
