/**
 * One of a gateway's event loops, a thread of its own: its connections, its
 * clients to the services, its share of the bounds. Loops share nothing but
 * counters, the tables of the limits, and the key set, which is swapped by
 * message.
 */
#ifndef GATEWAY_LOOP_H
#define GATEWAY_LOOP_H

#include <stdatomic.h>
#include <uv.h>

#include "client/dubbo_client.h"
#include "gateway/batcher.h"
#include "gateway/edge.h"
#include "gateway/key_set.h"
#include "gateway/mailbox.h"
#include "gateway/options.h"
#include "gateway/request.h"
#include "gateway/retry_budget.h"
#include "gateway/server_clock.h"
#include "gateway/session.h"
#include "gateway/window.h"

/* The clocks, read once a turn: a system call on some machines, and of every
 * grab three. */
struct loop_time {
	bool known;
	uint64_t of_ms; /* the loop's time when they were read */
	uint64_t mono_us;
	int64_t wall_ms;
};

struct gateway_loop {
	uv_loop_t uv;
	uv_thread_t thread;
	const struct gateway_options *options; /* borrowed */
	struct stream_hub *hub;
	struct dubbo_client *grabs;  /* to the grab-services */
	struct dubbo_client *ledger; /* to the settle-workers */
	uv_async_t wake;             /* there is mail */
	uv_check_t turn;             /* sends the grabs of this turn */
	uv_timer_t tick;             /* deadlines, while there are requests */
	uv_timer_t sweep;            /* silent connections */
	struct mailbox mail;
	struct key_set *keys;  /* NULL: none */
	uint32_t keys_version; /* counts the changes of keys */
	struct limits *limits; /* of all loops, borrowed */
	struct limit_rates rates;
	int64_t greeting_count; /* length of greeting */
	int64_t write_total;    /* what the metric has of this loop */
	size_t write_total_max; /* its share of the bound */
	struct session *greeting;
	struct session *serving;
	struct request *requests; /* open ones, by session and seq */
	struct request *spare;    /* freed ones, a few */
	size_t spare_count;
	size_t alive;         /* requests that are open, or asked for */
	size_t ledger_alive;  /* of these, for the ledger */
	size_t in_flight_max; /* its share of the total, bounds alive */
	struct wheel wheel;
	struct batcher batcher;
	struct edge *edge;
	struct server_clock clock;
	struct retry_budget budget;
	struct window window;
	struct loop_time time;
	uint64_t warned_ms; /* last warning about a service */
	uint32_t chance;    /* spreads what apps wait */
	bool draining;
	bool stopping;               /* no call is made any more */
	_Atomic int64_t connections; /* handed over and not gone yet */
	_Atomic bool ready;          /* a grab-service is connected */
	/** Called in its thread as the last thing it does. */
	void (*ended)(void *ctx);
	void *ended_ctx;
};

/** Make a loop that does not run yet. keys (or NULL) is taken over. 0, or a
 * code after logging why. */
must_check int loop_new(const struct gateway_options *options,
			struct limits *limits, struct key_set *keys,
			struct gateway_loop **out);

/** Run it in a thread of its own; ended(ctx) is called there at its end. */
must_check int loop_start(struct gateway_loop *l, void (*ended)(void *ctx),
			  void *ctx);

/** Free a loop that was never started. */
void loop_free_idle(struct gateway_loop *l);

/** Wait for the thread, which is at its end, and free. */
void loop_join(struct gateway_loop *l);

/* From any thread: */

/** Hand over a connected socket, counted in connections already, and the pin
 * of its address. */
void loop_hand_over(struct gateway_loop *l, int fd, struct limited *address);
/** Go by other rates from now on; copied. */
void loop_set_rates(struct gateway_loop *l, const struct limit_rates *rates);
/** Use other keys from now on; taken over. */
void loop_set_keys(struct gateway_loop *l, struct key_set *keys);
/** Answer what is in flight, end every connection, end. */
void loop_drain(struct gateway_loop *l);

/* From its own thread: */

/** The server's time now. */
int64_t loop_server_ms(const struct gateway_loop *l);

/** The clocks in this turn of the loop. */
const struct loop_time *loop_now(struct gateway_loop *l);

/** Its clock, as the limits have it. */
int64_t loop_ns(const struct gateway_loop *l);

/** Anything from 0 to most, by chance. */
uint32_t loop_chance(struct gateway_loop *l, uint32_t most);
/** base_ms and up to half of it by chance, so that not all come at once. */
uint32_t loop_wait(struct gateway_loop *l, uint32_t base_ms);
/** How long to tell an app to wait before it asks again. */
uint32_t loop_retry_after(struct gateway_loop *l);
/** And before it connects again: anything up to limit.reconnect_spread. */
uint32_t loop_spread(struct gateway_loop *l);

/** A request was accepted: have its deadline watched. */
void loop_watch_deadlines(struct gateway_loop *l);

/** Whether a warning about a service may be logged now: one a second. */
bool loop_may_warn(struct gateway_loop *l);

/** A session has freed itself. */
void loop_session_gone(struct gateway_loop *l);

#endif
