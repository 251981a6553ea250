/**
 * A real Dubbo peer in a Java process (tests/java), on the loop of
 * dubbo_peer.h. run.sh names its command in JAVA_PEER.
 */
#ifndef TESTS_LIB_JAVA_PEER_H
#define TESTS_LIB_JAVA_PEER_H

#include <uv.h>

#include "base/buf.h"

enum { START_MS = 60000 /* a JVM on a busy machine */ };

struct java {
	uv_process_t process;
	uv_pipe_t in; /* closing it ends the peer */
	uv_pipe_t out;
	struct buf said;
	char piece[4096];
	bool ended;
	int64_t status;
};

extern struct java java;

/** Start "consumer URL" or "provider PORT". */
void java_start(const char *role, const char *what);
/** Whether it has written text by now. */
bool java_said(const char *text);
/** Fail the test, showing what it said, unless it said line. */
void expect_said(const char *line);
/** Close its standard input: it ends, a provider gracefully. */
void java_let_go(void);
/** The same, and wait for its end. */
void java_end(void);

#endif
