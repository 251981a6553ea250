/**
 * A TCP proxy of the tests between a client and a server of 127.0.0.1, with
 * the faults of networks: bytes that come late, or not at all in one
 * direction, connections that break, also in the middle of a message, and a
 * server that cannot be reached.
 *
 * One fault at a time: a new one ends the last. Everything happens on the
 * loop's thread.
 */
#ifndef TESTS_FAULT_PROXY_H
#define TESTS_FAULT_PROXY_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/check.h"

enum proxy_direction {
	PROXY_UP,   /* from the client to the server */
	PROXY_DOWN, /* from the server to the client */
};

struct pair;

struct proxy {
	uv_loop_t *loop;
	uv_tcp_t *listener;      /* NULL while connections are refused */
	int port;                /* where clients connect */
	int target;              /* the port of the server */
	uint64_t delay_ms;       /* of every byte, each way */
	bool stalled[2];         /* by direction: no byte moves */
	uint64_t drop_after;     /* bytes until a connection is cut, 0: never */
	struct pair *pairs;      /* connections, utlist */
	uint64_t pair_count;     /* of these */
	uint64_t accepted_count; /* connections so far */
	uint64_t passed_bytes;   /* so far, both ways */
};

/** Listen at port and pass bytes to and from target. 0, or libuv's code. The
 * proxy stays in place until the loop has turned after proxy_close(). */
must_check int proxy_open(struct proxy *p, uv_loop_t *loop, int port,
			  int target);

/** No fault any more. 0, or libuv's code if the port could not be had again. */
must_check int proxy_pass(struct proxy *p);

/** Every byte comes ms later, each way. */
must_check int proxy_delay(struct proxy *p, uint64_t ms);

/** Close all connections and refuse new ones, until proxy_pass(). */
void proxy_cut(struct proxy *p);

/** Bytes stop in one direction; connections stay, and new ones are taken. */
must_check int proxy_stall(struct proxy *p, enum proxy_direction d);

/** Answer all connections with RST, once; new ones pass. */
must_check int proxy_reset(struct proxy *p);

/** Each connection, also a new one, is closed when bytes (> 0) more have
 * passed through it, wherever in a message that is. */
must_check int proxy_drop_after(struct proxy *p, uint64_t bytes);

/** Close everything; turn the loop afterwards. */
void proxy_close(struct proxy *p);

#endif
