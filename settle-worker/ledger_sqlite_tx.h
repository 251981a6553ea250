/**
 * One transaction on the SQLite ledger: the activities that a batch touches
 * are read once, changed in memory beside their rows, and written back.
 */
#ifndef SETTLE_WORKER_LEDGER_SQLITE_TX_H
#define SETTLE_WORKER_LEDGER_SQLITE_TX_H

#include <uthash.h>

#include "ledger_sqlite.h"

struct tx_tranche {
	int64_t number;
	int64_t packets;
	int64_t amount_cents;
	bool funded;
};

/* A transfer that grows while the transaction lasts: of the pool, to winners
 * or to what is held. */
struct tx_transfer {
	int64_t number; /* 0 until it is made */
	int64_t cents;
	int64_t count; /* credit: records, each with this transfer */
	int64_t first; /* numbers of the first and the last */
	int64_t last;
};

struct tx_activity {
	struct event_id id;
	int64_t number;
	struct settle_books books;
	int64_t revision;
	int64_t refund_ms;
	int64_t conflicts;    /* rows, decided ones too */
	char uid[ID_MAX + 1]; /* the sponsor, "" until created */
	char currency[8];
	char alarm[LEDGER_ALARM_MAX];
	struct tx_tranche *tranches; /* owned */
	size_t tranche_count;
	struct tx_transfer credit;
	struct tx_transfer hold;
	struct audit proof; /* of its books, before a refund */
	bool changed;       /* has new rows of activity_change */
	bool look_again;    /* at the parked claims: some may be payable, or
			    contradict what is settled now */
	bool alarm_new;
	UT_hash_handle hh; /* by id */
};

enum { TX_GROUP = 32 }; /* claims that one statement settles, at most */

/* Claims of one activity that nothing known speaks against: the books have them,
 * balances and records follow. */
struct tx_group {
	struct tx_activity *activity;
	size_t n;
	const struct event_claim *claims[TX_GROUP]; /* borrowed */
};

struct tx {
	struct ledger_sqlite *l;
	struct sql *q;
	const struct ledger_batch *batch;
	struct ledger_result *result;
	struct tx_activity *activities; /* hash; owned */
	struct tx_group group;
};

/* All functions that return an int give 0, or ERR_STORE: then the transaction
 * is to be rolled back. */

/** For what is only counted: the sum, or the largest number. */
static inline int64_t tx_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* ---- ledger_sqlite_activity.c ---- */

/** The activity of that id, with a stub row if it was never heard of. */
must_check int tx_activity_get(struct tx *tx, const struct event_id *id,
			       struct tx_activity **out);
/** Apply a change of an activity, or find that it is known. */
must_check int tx_change(struct tx *tx, struct tx_activity *a,
			 const struct event *e);

/* ---- ledger_sqlite_finish.c ---- */

/** The state, the gap, the refund, the alarm; then write it all back. */
must_check int tx_activity_finish(struct tx *tx, struct tx_activity *a);
/** Frees the memory of all activities. */
void tx_activities_free(struct tx *tx);

/* ---- ledger_sqlite_book.c ---- */

/** The number of an account, which is made if it is new, and its balance
 * without what this transaction has not posted yet of a pool or what is held.
 */
must_check int tx_account(struct tx *tx, const char *kind, struct bytes owner,
			  struct bytes currency, int64_t *number,
			  int64_t *balance);
/** Add delta cents to the balance of account, which must be there. */
must_check int tx_account_move(struct tx *tx, int64_t account, int64_t delta);
/** Start the transfer unless it is started. */
must_check int tx_transfer_start(struct tx *tx, struct tx_activity *a,
				 struct tx_transfer *t, const char *kind);
/** Write the postings of the records, and the pool's as their sum. */
must_check int tx_credit_finish(struct tx *tx, struct tx_activity *a);
/** Write the two postings of what is held, and the balances. */
must_check int tx_hold_finish(struct tx *tx, struct tx_activity *a);
/** Fund every tranche that waits, if the sponsor is known and the books can
 * hold it. */
must_check int tx_fund(struct tx *tx, struct tx_activity *a);
/** The whole pool back to the sponsor. */
must_check int tx_refund(struct tx *tx, struct tx_activity *a);

/* ---- ledger_sqlite_claim.c ---- */

/** Settle a claim. It may wait in the group: tx_group_flush() must follow
 * while c is there. */
must_check int tx_claim(struct tx *tx, struct tx_activity *a,
			const struct event_claim *c);
/** Settle a claim by all that is known, with an empty group. */
must_check int tx_claim_closely(struct tx *tx, struct tx_activity *a,
				const struct event_claim *c);
/** Once its record is there, a claim does not wait any more; others for its
 * packet that wait contradict it now. */
must_check int tx_unpark_one(struct tx *tx, struct tx_activity *a,
			     const struct event_claim *c);

/* ---- ledger_sqlite_group.c ---- */

/** Add a record, in the transfer that is started, and to the balance. *added
 * false: it contradicts one that is there. */
must_check int tx_record(struct tx *tx, struct tx_activity *a,
			 const struct event_claim *c, int64_t account,
			 bool *added);
/** Into the group, which is flushed when it is full. */
must_check int tx_group_put(struct tx *tx, struct tx_activity *a,
			    const struct event_claim *c);
/** Settle the claims of the group; if they cannot be all credited, each is
 * looked at closely. */
must_check int tx_group_flush(struct tx *tx);

/* ---- ledger_sqlite_parked.c ---- */

/** Settle the parked claims of an activity again. */
must_check int tx_unpark(struct tx *tx, struct tx_activity *a);

/* ---- ledger_sqlite_apply.c ---- */

/** Keep a message that cannot be settled, once. */
must_check int tx_dead_letter(struct tx *tx, const struct event_place *place,
			      const char *reason);

#endif
