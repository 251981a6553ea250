/**
 * A Redis client on a loop of its own, and what became of its commands.
 *
 * rig_open() starts the client; rig_close() frees it and fails the test if
 * the loop still has a handle or a command was not ended exactly once.
 */
#ifndef TESTS_LIB_REDIS_RIG_H
#define TESTS_LIB_REDIS_RIG_H

#include "client/redis.h"

#include "lib/turns.h"

enum { RIG_TEXT = 160, RIG_TIMEOUT_MS = 9000 };

/* One command; lives until its end. */
struct answer {
	struct rig *rig;
	int ended;                  /* how often; must become 1 */
	size_t place;               /* it was the n-th to end, from 1 */
	enum redis_outcome outcome; /* once ended */
	bool replied;               /* there was a reply */
	char text[RIG_TEXT]; /* of the reply: a string, a number, an error; of
			      * an array all of them, with spaces between */
};

struct rig {
	uv_loop_t loop;
	struct stream_hub *hub;
	struct redis *redis;
	struct redis_options options; /* what it runs with */
	size_t started;               /* commands */
	size_t ended;
	int changes;    /* how often the watcher was called */
	bool was_ready; /* at its last call */
	bool in_call;   /* a command is being sent: no callback now */
};

/** The loop and the hub only, for what must be there before the client. */
void rig_open_loop(struct rig *g);
/** Then the client, with short times for tests: connect 2 s, silence 60 s,
 * backoff 5 to 50 ms. change may alter the options, or is NULL. */
void rig_start(struct rig *g, const char *url,
	       void (*change)(struct redis_options *o));
/** Both. */
void rig_open(struct rig *g, const char *url,
	      void (*change)(struct redis_options *o));
void rig_close(struct rig *g);

/** Free the client now; rig_close() does it otherwise. */
void rig_free_redis(struct rig *g);

/** Turn the loop until the client is ready, or not; fails the test if it takes
 * more than 10 s. */
void rig_ready(struct rig *g, bool ready);
/** ... until a, or everything sent so far, has ended. */
void rig_answer(struct rig *g, struct answer *a);
void rig_all(struct rig *g);
/** Turn the loop for so many ms: for what must NOT happen. */
void rig_spin(struct rig *g, uint64_t ms);

/** Send a command of words separated by spaces. */
void rig_send(struct rig *g, struct answer *a, uint64_t timeout_ms,
	      const char *words);
/** Send a script; words are its keys, then its arguments. */
void rig_script(struct rig *g, struct answer *a, uint64_t timeout_ms,
		const struct redis_script *script, size_t key_count,
		const char *words);
/** Send a script and one command behind it, as a transaction. */
void rig_transaction(struct rig *g, struct answer *a, uint64_t timeout_ms,
		     const struct redis_script *script, size_t key_count,
		     const char *words, const char *then);
/** Send, wait for the end, and tell the text; "" without a reply. */
const char *rig_ask(struct rig *g, struct answer *a, const char *words);

/** A script of this source, with its SHA1. */
struct redis_script rig_make_script(const char *name, const char *source);

#endif
