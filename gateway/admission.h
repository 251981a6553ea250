/**
 * Which requests are taken, decided from numbers alone.
 */
#ifndef GATEWAY_ADMISSION_H
#define GATEWAY_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	NOT_AFTER_DEFAULT_MS = 1000,
	NOT_AFTER_AHEAD_MS = 10 * 1000,
	/* An app knows the server's clock only about so well. */
	NOT_AFTER_SLACK_MS = 250,
};

enum admission {
	ADMITTED,
	TOKEN_EXPIRED,   /* DENIED */
	KEY_REMOVED,     /* DENIED */
	CONNECTION_FULL, /* BUSY */
	GATEWAY_FULL,    /* BUSY */
	LEDGER_FULL,     /* BUSY */
	SERVICES_SLOW,   /* BUSY */
};

struct admission_view {
	int64_t now_ms;     /* wall clock */
	int64_t expires_ms; /* of the token */
	bool key_removed;   /* that signed it */
	size_t in_flight;   /* of the connection */
	size_t in_flight_max;
	size_t loop_in_flight; /* of the loop, with its share of the total */
	size_t loop_in_flight_max;
	bool for_ledger;         /* this one asks the ledger */
	size_t ledger_in_flight; /* of loop_in_flight, those that do */
	size_t window; /* of the others: what is answered in time, window.h */
};

/** The first bound that v breaks, or ADMITTED. */
enum admission admission_decide(const struct admission_view *v);

enum not_after {
	NOT_AFTER_AHEAD,    /* *left_ms is how long it may be executed yet */
	NOT_AFTER_PASSED,   /* too late to execute it */
	NOT_AFTER_TOO_FAR,  /* more ahead than an app may ask for */
	NOT_AFTER_NEGATIVE, /* no time at all */
};

/** What an app's not_after_ms means at server time now_ms. *resolved_ms is the
 * server time to send on: 0 becomes receipt + 1,000. */
enum not_after admission_not_after(int64_t now_ms, int64_t not_after_ms,
				   int64_t *resolved_ms, uint64_t *left_ms);

#endif
