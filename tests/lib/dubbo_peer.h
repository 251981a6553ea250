/**
 * What the Dubbo tests stand on: a loop with a hub, a bare peer that speaks
 * in bytes, and a rain.GrabService whose answer each request chooses by its
 * activity_id: "echo", "null", "throw", "fail", "big" (over 64 KiB), or "hold"
 * (the test answers it later).
 */
#ifndef TESTS_LIB_DUBBO_PEER_H
#define TESTS_LIB_DUBBO_PEER_H

#include "lib/turns.h"
#include "net/dubbo_server.h"
#include "rain/grab_service.pb-c.h"

extern uv_loop_t loop;
extern struct stream_hub *hub;

/** For TestSuite: .init and .fini; fini fails if anything is left open. */
void dubbo_setup(void);
void dubbo_teardown(void);

/* ---- A bare peer ---- */

struct peer {
	struct stream stream;
	struct buf got;
	bool closed;
	int why;
};

/** Connect, take over fd, queue bytes. */
void peer_connect(struct peer *p, const char *address);
void peer_start(struct peer *p, int fd);
void peer_send(struct peer *p, const void *bytes, size_t n);
/** Wait for a frame and take it; body is to be given back by buf_close(). */
struct dubbo_header peer_frame(struct peer *p, struct buf *body);
/** The same, for a response with this id; returns its decoded result, whose
 * views are valid until the next call for this peer. */
struct dubbo_result peer_result(struct peer *p, uint64_t id, struct buf *body);
/** Close it if it is open, and wait for its end. */
void peer_end(struct peer *p);

/* ---- The service ---- */

enum { HELD_MAX = 64 };

struct service_state {
	struct dubbo_call *held[HELD_MAX];
	size_t held_count;
	int handled;       /* requests that reached a handler */
	uint64_t deadline; /* of the last one */
};

extern struct service_state service;
extern const struct dubbo_interface service_interfaces[1];

/** A server with generous limits, for tests to lower. */
struct dubbo_server_options server_options(const char *listen);
struct dubbo_server *server_start(const struct dubbo_server_options *o);

/** A request frame for grab with this activity_id. */
void put_grab(struct buf *out, uint64_t id, bool two_way,
	      const char *activity_id);
/** An answer with this message text. */
void answer_held(size_t i, const char *text);
/** The text in an answer of the service; fails the test if it is no value. */
void assert_answer(const struct dubbo_result *r, const char *text);

#endif
