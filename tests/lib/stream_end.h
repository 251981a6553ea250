/**
 * One end of a stream, for tests: what it received and how it ended. And the
 * loop and hub that they all run on.
 */
#ifndef TESTS_LIB_STREAM_END_H
#define TESTS_LIB_STREAM_END_H

#include "lib/turns.h"
#include "net/stream.h"

struct end {
	struct stream stream;
	struct buf got;
	size_t chunk; /* consume only multiples of it; 0: everything */
	bool echo;
	bool pause; /* pause after each piece */
	int calls;  /* of on_data */
	int opened;
	int closed;
	int why;
	int close_on_data; /* close with this code when data comes */
};

extern uv_loop_t loop;
extern struct stream_hub *hub;
extern const struct stream_ops ops;

/** For TestSuite: .init and .fini, which fails if anything is left open. */
void ends_setup(void);
void ends_teardown(void);

/** Close it and wait for its end. */
void end_close(struct end *e);

#endif
