/**
 * What dubbo_server.c (the server's life), dubbo_serve.c (a connection) and
 * dubbo_call.c (what it asked) share.
 */
#ifndef NET_DUBBO_SERVER_INTERNAL_H
#define NET_DUBBO_SERVER_INTERNAL_H

#include "net/dubbo_server.h"
#include "net/dubbo_wire.h"

struct dubbo_conn {
	struct stream stream;
	struct dubbo_server *server;
	struct dubbo_cutter cutter;
	size_t calls; /* of this connection, not answered yet */
	bool closed;  /* freed once calls is 0 */
	bool slow;    /* not read until it has read our answers */
	struct dubbo_conn *prev;
	struct dubbo_conn *next;
};

struct dubbo_call {
	struct dubbo_conn *conn;
	uint64_t id;
	uint64_t deadline; /* loop time */
	bool two_way;
	bool with_attachments;
};

struct dubbo_server {
	struct stream_hub *hub;
	struct dubbo_server_options options;
	const struct dubbo_interface *interfaces;
	size_t interface_count;
	struct listener *listener; /* NULL once it accepts no more */
	char *address;
	struct dubbo_conn *conns;
	int64_t conn_count;
	int64_t in_flight;
	uint64_t last_request_ms;
	uint64_t next_event_id;
	uv_timer_t idle;  /* looks for silent connections */
	uv_timer_t drain; /* looks whether the drain is complete */
	uv_timer_t slow;  /* looks at slow connections, while there are some */
	uint64_t drain_start_ms;
	void (*drained)(void *ctx); /* NULL unless draining */
	void *drained_ctx;
	bool refusing; /* it drains, and everybody had time to hear of it */
	int handles;   /* not closed yet */
	bool freeing;
};

/* ---- dubbo_serve.c ---- */

/** Serve the connected socket fd. */
void dubbo_conn_start(struct dubbo_server *s, int fd);
/** Tell the peer to send no new calls. */
void dubbo_conn_readonly(struct dubbo_conn *c);
/** Something was written: if its peer does not read, it is not read. */
void dubbo_conn_wrote(struct dubbo_conn *c);
/** Read it again, if it has caught up; whether it is still slow. */
bool dubbo_conn_slow(struct dubbo_conn *c);
/** Free it if it is closed and every call is answered. */
void dubbo_conn_release(struct dubbo_conn *c);

/* ---- dubbo_call.c ---- */

/** A call of this connection, to be answered once. */
struct dubbo_call *dubbo_call_new(struct dubbo_conn *c,
				  const struct dubbo_header *h,
				  uint64_t deadline);

/** Metrics: register them, once in a process; count what was refused, how
 * many connections there are, and which were too many. */
void dubbo_server_metrics(void);
void dubbo_count_refusal(enum dubbo_status status);
void dubbo_count_connections(int64_t n);
void dubbo_count_turned_away(void);

/* ---- dubbo_server.c ---- */

/** A connection is slow: look at it again soon. */
void dubbo_server_watch_slow(struct dubbo_server *s);
/** Something ended: free the server if it was the last. */
void dubbo_server_release(struct dubbo_server *s);

#endif
