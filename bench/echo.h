/**
 * What the files of rain-echo share: echo.c (loops), echo_client.c (frames in,
 * answers out).
 */
#ifndef BENCH_ECHO_H
#define BENCH_ECHO_H

#include <uv.h>

#include "base/buf.h"

enum { ECHO_INPUT = 64 * 1024 };

struct echo {
	uv_loop_t loop;
	uv_thread_t thread;
	uv_tcp_t listener;
	uv_async_t stop;
	uint64_t frames;    /* answered */
	struct bytes reply; /* GrabReply as a field of ServerMessage */
	uint8_t input[ECHO_INPUT];
};

/** For uv_listen(): take a client, and answer it until it goes. data of the
 * listener is its struct echo. */
void echo_connection_cb(uv_stream_t *listener, int status);

/** For uv_close() of a client. */
void echo_closed_cb(uv_handle_t *handle);

#endif
