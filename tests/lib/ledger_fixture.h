/**
 * A ledger in a file of its own, and the messages that are applied to it.
 */
#ifndef TESTS_LIB_LEDGER_FIXTURE_H
#define TESTS_LIB_LEDGER_FIXTURE_H

#include "settle-worker/ledger.h"

enum { FIXTURE_NOW = 1764430000 }; /* seconds; what the fixture says it is */
/* Of every activity, and of every tranche that is added. */
#define FIXTURE_COMMITMENT \
	"0b8c824b1a23c77f2cc1fb632562e67ef1973ec4bd9ea5fe4bae1a77382bd2a6"

/* A message as Kafka would carry it. */
struct fixture_message {
	enum event_topic topic;
	struct buf value;
};

struct fixture {
	char dir[64];
	char path[96];
	struct ledger *ledger;
	struct ledger_reader *reader;
	struct fixture_message *messages; /* added, in order */
	size_t count;
	size_t size;
	size_t applied;  /* of them, by fixture_apply() */
	int64_t next[2]; /* next offset per topic */
};

/** A new ledger in a new directory. */
void fixture_open(struct fixture *f);
/** Removes the directory too. */
void fixture_close(struct fixture *f);
/** Close the ledger and open it again. */
void fixture_reopen(struct fixture *f);

/** Add a claim in tranche 1. */
void fixture_claim(struct fixture *f, const char *activity, const char *packet,
		   const char *user, int64_t cents, uint64_t seq);
/** Add a claim in any tranche. */
void fixture_claim_in(struct fixture *f, const char *activity,
		      const char *packet, const char *user, int64_t cents,
		      uint64_t seq, uint32_t tranche);
/** Add `created`: revision 1, sponsor "acme", CNY. */
void fixture_created(struct fixture *f, const char *activity, int64_t cents,
		     uint64_t packets);
/** The same with another sponsor. */
void fixture_created_by(struct fixture *f, const char *activity,
			const char *sponsor, int64_t cents, uint64_t packets);
/** Add `loaded` (tranche 1) or `topped up` (the others). */
void fixture_loaded(struct fixture *f, const char *activity, uint64_t revision,
		    uint32_t tranche, int64_t cents, uint64_t packets);
/** Add a change with nothing but a reason, or `opened`. */
void fixture_changed(struct fixture *f, const char *activity, uint64_t revision,
		     enum event_change_kind kind);
void fixture_entropy(struct fixture *f, const char *activity, uint64_t revision,
		     const char *hex);
void fixture_closed(struct fixture *f, const char *activity, uint64_t revision,
		    uint64_t claims, uint64_t left);
void fixture_counted(struct fixture *f, const char *activity, uint64_t revision,
		     int64_t leftover_cents);
/** Add bytes as they are. */
void fixture_raw(struct fixture *f, enum event_topic topic, struct bytes bytes);

/** Apply messages by index in one batch: 0 or ERR_STORE, then the next offsets
 * are what they were. */
must_check int fixture_try(struct fixture *f, const size_t *which, size_t n,
			   struct ledger_result *result);
/** The same; asserts that it is applied. */
struct ledger_result fixture_apply_some(struct fixture *f, const size_t *which,
					size_t n);
/** Apply what was added and not applied yet, in one batch. */
struct ledger_result fixture_apply(struct fixture *f);

/** The books; asserts that the activity is known and Σ postings is 0. */
struct ledger_totals fixture_totals(struct fixture *f, const char *activity);
/** What a user has. */
int64_t fixture_balance(struct fixture *f, const char *user);
/** The number that an SQL query answers. */
int64_t fixture_number(struct fixture *f, const char *query);
/** Run statements on the ledger's own connection; asserts that they may. */
void fixture_run(struct fixture *f, const char *sql);
/** A whole round of the audit. */
struct audit fixture_audit(struct fixture *f);
/** Asserts that the audit finds nothing. */
void fixture_sound(struct fixture *f);

#endif
