/**
 * A Dubbo client and what became of its calls, for tests. Its providers listen
 * on unix sockets in a directory of the test's own.
 */
#ifndef TESTS_LIB_DUBBO_CALLER_H
#define TESTS_LIB_DUBBO_CALLER_H

#include "client/dubbo_client.h"
#include "lib/dubbo_peer.h"

extern char paths[3][64]; /* addresses of providers */
extern struct dubbo_client *client;
extern const struct dubbo_target target; /* grab */

/** For TestSuite: .init and .fini, which fails if anything is left open. */
void caller_setup(void);
void caller_teardown(void);

/** Impatient options for these addresses; start client with some. */
struct dubbo_client_options client_options(const char *addresses);
void client_start(const struct dubbo_client_options *o);
/** The service of dubbo_peer.h at paths[i]. */
struct dubbo_server *serve(int i);

/* What became of one call. */
struct outcome {
	int times;
	enum dubbo_outcome outcome;
	enum dubbo_result_kind kind;
	uint8_t status;
	int provider;
	char text[200]; /* of the answer, the exception or the error */
};

/** For dubbo_client_call(): ctx is a struct outcome. Fails the test if it is
 * called from inside call(). */
void done_cb(void *ctx, enum dubbo_outcome outcome,
	     const struct dubbo_result *r, int provider);
/** Call grab with activity_id what; o stays in place until it is done. */
void call(struct outcome *o, const char *what, uint64_t timeout_ms, int avoid);
/** Wait until it is done, once. */
void wait_for(struct outcome *o);
void call_and_wait(struct outcome *o, const char *what);
/** Fail unless the answer is a reply with this text. */
void expect_text(const struct outcome *o, const char *text);

/** The value of a metric line ("name{labels} "), from the page that operators
 * see. */
long metric_value(const char *line);

#endif
