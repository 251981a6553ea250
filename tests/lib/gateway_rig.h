/**
 * A gateway between apps and services that do as a test tells them: a real
 * gateway with its loops, two fake grab-services and a fake ledger made of
 * real Dubbo servers, apps made of real app clients.
 */
#ifndef TESTS_LIB_GATEWAY_RIG_H
#define TESTS_LIB_GATEWAY_RIG_H

#include "client/app_client.h"
#include "gateway/gateway.h"
#include "gateway/gateway_metrics.h"
#include "lib/turns.h"
#include "net/dubbo_server.h"
#include "rain/grab_service.pb-c.h"
#include "token/token.h"

enum fake_mode {
	FAKE_ANSWER, /* as `status` says */
	FAKE_HOLD,   /* keep calls until fake_release() */
	FAKE_DIE,    /* take a call, then vanish without an answer */
	FAKE_FAIL,   /* answer with Dubbo status `dubbo_status` */
	FAKE_THROW,  /* answer with an exception */
	FAKE_ODD,    /* answer with one response too few */
};

enum { FAKE_HELD_MAX = 64, FAKE_GRABS_MAX = 4096 };

/* A provider of GrabService and LedgerService. */
struct fake {
	struct dubbo_server *server;
	enum fake_mode mode;
	Rain__Status status; /* of every answer */
	uint64_t revision;   /* likewise, and the next two */
	uint64_t packets;
	uint32_t stands_ms;
	int64_t clock_ms; /* added to the wall clock: its time */
	enum dubbo_status dubbo_status;
	unsigned calls; /* grabBatch, not counting probes */
	unsigned probes;
	unsigned results;
	unsigned balances;
	size_t grabs;           /* in all calls */
	size_t sizes[64];       /* of the first calls */
	Rain__GrabRequest last; /* the newest; ids below */
	char last_user[128];
	char last_activity[128];
	struct dubbo_call *held[FAKE_HELD_MAX];
	size_t held_sizes[FAKE_HELD_MAX];
	size_t held_count;
};

enum answer_kind {
	ANSWER_HELLO,
	ANSWER_GRAB,
	ANSWER_RESULT,
	ANSWER_BALANCE,
	ANSWER_PONG,
	ANSWER_ERROR,
};

struct answer {
	enum answer_kind kind;
	uint64_t seq;
	int code; /* status, or error code */
	int64_t cents;
	int64_t server_ms;
	uint32_t retry_after_ms;
	uint32_t max_in_flight;
	char packet[80];
	char text[600];
};

enum { ANSWERS_MAX = 128 };

struct app {
	struct app_client client;
	bool open;
	bool closed;
	size_t count; /* all; the first ANSWERS_MAX are kept */
	struct answer answers[ANSWERS_MAX];
};

struct rig {
	uv_loop_t loop;
	struct stream_hub *hub;
	struct fake grabs[2];
	struct fake ledger;
	struct config config;
	struct gateway_options options;
	struct gateway *gateway;
	struct token_keys *keys;
	char dir[64];
	char keys_path[80];
	uv_timer_t beat; /* so that conditions about time are looked at */
	bool draining;
	bool drained;
};

/** Start all. settings are "section.key=value", NULL ends the list; one grab
 * provider unless two. */
void rig_start(struct rig *r, bool two, const char *const *settings);

/** Wait until every loop of the gateway has its grab-service, and has learnt
 * the time from it. */
void rig_ready(struct rig *r);

/** Start the drain; drained tells its end. */
void rig_drain(struct rig *r);

/** Drain, unless that was done, and free all; fails if anything is left. */
void rig_stop(struct rig *r);

/** Write another key file. */
void rig_write_keys(struct rig *r, const char *text);

/** A token for user; the caller closes it. */
struct buf rig_token(struct rig *r, const char *user, bool front,
		     int64_t expires_ms);

/** Connect and wait until it is open. */
void rig_connect(struct rig *r, struct app *a);

/** Connect and say Hello as user; waits for the reply. */
void rig_hello(struct rig *r, struct app *a, const char *user, bool front);

/** Close and wait for the end. */
void rig_close(struct rig *r, struct app *a);

/** Answer the calls that are held; later ones are answered at once. */
void fake_release(struct fake *f);

/** Grab in an activity, as the user of the connection; returns the seq. */
uint64_t app_grab(struct app *a, const char *activity);

/** How often this process's gateways have refused something for that. */
int64_t rig_refused(enum refusal why);

/** The answer with this seq and its place; fails if there is none or more than
 * one. */
const struct answer *app_answer(const struct app *a, uint64_t seq);

/** Whether an answer with this seq came. */
bool app_has(const struct app *a, uint64_t seq);

/** The newest answer. */
const struct answer *app_last(const struct app *a);

/** Wait for an Error with this code and a sentence with part in it, then the
 * end. */
void rig_expect_end(struct rig *r, struct app *a, Rain__ErrorCode code,
		    const char *part);

/** Wait for the answer after the first `before`: an Error about the message
 * seq, with which the connection stays. */
void rig_expect_error(struct rig *r, struct app *a, size_t before, uint64_t seq,
		      Rain__ErrorCode code);

#endif
