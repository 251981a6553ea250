/**
 * What the parts of the Dubbo client share: dubbo_client.c (what callers see),
 * dubbo_pending.c (calls and their deadlines), dubbo_provider.c (one
 * connection, kept up).
 */
#ifndef CLIENT_DUBBO_CLIENT_INTERNAL_H
#define CLIENT_DUBBO_CLIENT_INTERNAL_H

#include <uthash.h>

#include "client/dubbo_client.h"
#include "net/dubbo_wire.h"

enum {
	CLIENT_PROVIDERS_MAX = 64,
	CLIENT_SILENT_BEATS = 3, /* heartbeats unanswered: the peer is gone */
};

/* A call from dubbo_client_call() to its callback. */
struct dubbo_pending {
	struct dubbo_client *client;
	uint64_t id;
	uint64_t deadline;               /* loop time */
	size_t heap_at;                  /* its place among the deadlines */
	struct dubbo_provider *provider; /* NULL until it is sent */
	uint64_t end;               /* sent: where its last byte is followed */
	struct dubbo_pending *prev; /* of its provider, or of those waiting */
	struct dubbo_pending *next;
	bool waiting;     /* for a provider; frame is complete */
	struct buf frame; /* while waiting */
	size_t digits;    /* of the timeout, the last bytes of frame */
	int avoid;
	dubbo_done_cb done;
	void *ctx;
	UT_hash_handle hh; /* by id, once it is sent */
};

/* One address: a connection that is up, or on its way up. */
struct dubbo_provider {
	struct dubbo_client *client;
	int index;
	char *address;
	struct stream stream;
	bool connecting; /* stream is in use: on_close is to come */
	bool readonly;   /* it asked for no new calls */
	bool said;       /* the log knows that it is away */
	struct dubbo_cutter cutter;
	uv_timer_t timer;    /* up: heartbeat; down: the next try */
	unsigned attempts;   /* in vain, since it was last heard of */
	unsigned unanswered; /* deadlines missed since it was last heard */
	uint64_t missed_ms;  /* when the first of them was missed */
	uint64_t opened_ms;
	struct dubbo_pending *calls;
	size_t in_flight;
};

struct dubbo_client {
	struct stream_hub *hub;
	struct dubbo_client_options options; /* but for its strings */
	char *secret;
	char *application;
	struct dubbo_provider *providers;
	size_t turn; /* where the next pick begins to look */
	size_t provider_count;
	uint64_t next_id;
	struct dubbo_pending *sent;    /* hash by id */
	struct dubbo_pending *waiting; /* list, oldest first */
	struct dubbo_pending **heap;   /* all calls, next deadline first */
	size_t heap_count;
	size_t heap_size;
	uv_timer_t deadline;
	size_t ready;               /* as last told */
	void (*changed)(void *ctx); /* may be NULL */
	void *changed_ctx;
	int handles; /* not closed yet */
	bool freeing;
};

/* ---- dubbo_pending.c ---- */

/** A call in the heap of deadlines, neither sent nor waiting. */
struct dubbo_pending *dubbo_pending_new(struct dubbo_client *c,
					uint64_t deadline, dubbo_done_cb done,
					void *ctx);
/** It was given to the connection of p, as the last one. */
void dubbo_pending_sent(struct dubbo_pending *call, struct dubbo_provider *p);
/** It waits for a provider. */
void dubbo_pending_wait(struct dubbo_pending *call);
/** Forget it and call back. */
void dubbo_pending_end(struct dubbo_pending *call, enum dubbo_outcome outcome,
		       const struct dubbo_result *result);
/** End it with what is known: UNKNOWN if it was sent, else NOT_SENT; so is what
 * was still in our hands when its connection closed. */
void dubbo_pending_give_up(struct dubbo_pending *call);
/** A reply with this id came from p; NULL if nobody waits for it. */
struct dubbo_pending *dubbo_pending_find(struct dubbo_provider *p, uint64_t id);
/** The heap's timer went off: end what is due. */
void dubbo_pending_deadline_cb(uv_timer_t *timer);

/* ---- dubbo_provider.c ---- */

/** Start connecting; from now on its timer is a handle of the client. */
void dubbo_provider_start(struct dubbo_provider *p);
/** Close its handles. */
void dubbo_provider_stop(struct dubbo_provider *p);
/** A call to it was not answered in time. */
void dubbo_provider_missed(struct dubbo_provider *p);
/** Whether it takes new calls. */
bool dubbo_provider_ready(const struct dubbo_provider *p);

/* ---- dubbo_client.c ---- */

/** A provider came or went: tell the watcher, send what waits. */
void dubbo_client_turned(struct dubbo_client *c);
/** Something ended: free the client if it was the last. */
void dubbo_client_release(struct dubbo_client *c);

/* ---- dubbo_client_metrics.c ---- */

/** Register them, once in a process. */
void dubbo_client_metrics(void);
void dubbo_count_outcome(enum dubbo_outcome outcome,
			 const struct dubbo_result *result);
void dubbo_count_in_flight(int64_t n);
void dubbo_count_ready(int64_t n);
void dubbo_count_reconnect(void);
void dubbo_count_late_reply(void);

#endif
