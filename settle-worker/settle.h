/**
 * The decisions of settlement, pure: what happens to a claim, which state an
 * activity is in, when its rest goes back to the sponsor, what a person must
 * look at. Whatever stores the books gathers the facts and obeys.
 */
#ifndef SETTLE_WORKER_SETTLE_H
#define SETTLE_WORKER_SETTLE_H

#include "base/buf.h"
#include "event.h"

/* What the books already know about a claim, the first that applies. */
enum settle_found {
	SETTLE_FOUND_NOTHING,
	SETTLE_FOUND_SAME,   /* this very claim is paid, or in conflict */
	SETTLE_FOUND_PACKET, /* its packet is paid: another user or amount */
	SETTLE_FOUND_HELD,   /* the money of its packet is held */
	SETTLE_FOUND_USER,   /* its user has another packet */
	SETTLE_FOUND_SEQ,    /* another packet has its seq */
};

struct settle_claim {
	enum settle_found found;
	bool void_claim; /* of nobody: fills a hole, its money is held */
	bool funded;     /* its tranche is */
	bool cancelled;  /* its activity is */
	bool refunded;   /* the rest of the pool went back already */
	int64_t pool_cents;
	int64_t amount_cents;
};

enum settle_action {
	SETTLE_CREDIT,   /* pool to user */
	SETTLE_REPLAY,   /* nothing */
	SETTLE_PARK,     /* keep it, no money moves */
	SETTLE_HOLD,     /* a conflict about an unpaid packet: pool to held */
	SETTLE_CONFLICT, /* a conflict about a paid packet: no money moves */
};

struct settle_verdict {
	enum settle_action action;
	const char *why; /* a word for the tables; static, NULL for CREDIT and
			    REPLAY */
};

/** What to do with a claim. */
struct settle_verdict settle_claim(const struct settle_claim *c);

/* The states as the ledger writes them. */
#define SETTLE_STATE_MAP(X) \
	X(UNKNOWN)          \
	X(CREATED)          \
	X(LOADED)           \
	X(OPEN)             \
	X(PAUSED)           \
	X(HALTED)           \
	X(CLOSED)           \
	X(CANCELLED)        \
	X(SETTLED)

enum settle_state {
#define X(name) SETTLE_STATE_##name,
	SETTLE_STATE_MAP(X)
#undef X
		SETTLE_STATE_END
};

/** "OPEN", ...; static. */
const char *settle_state_name(enum settle_state s);
/** The state of that name, or UNKNOWN. */
enum settle_state settle_state_named(struct bytes name);

/** Whether a change leaves the state as it was: a top-up, a count. */
bool settle_keeps_state(enum event_change_kind kind);
/** The state after these changes, the newest first; the last two that do not
 * keep it are enough. */
enum settle_state settle_state(const enum event_change_kind *newest_first,
			       size_t n);

/* The books of one activity. */
struct settle_books {
	enum settle_state state;
	bool cancelled;
	bool refund_done;
	int64_t waiting_tranches; /* announced, and not funded yet */
	int64_t refused_tranches; /* of these, what the books cannot hold */
	int64_t funded_cents;
	int64_t funded_packets;
	int64_t credited_cents;
	int64_t credited_packets;
	int64_t held_cents;
	int64_t held_packets;
	int64_t refunded_cents;
	int64_t refunded_packets;
	int64_t pool_cents; /* what is left of the funded */
	int64_t pool_packets;
	int64_t final_claims;    /* as `closed` says, -1 before */
	int64_t leftover_cents;  /* as `counted` says, -1 before */
	int64_t max_seq;         /* the highest seen */
	int64_t whole_seq;       /* every seq up to here was seen */
	int64_t parked;          /* claims that wait */
	int64_t parked_alarming; /* of these, not for want of `loaded` */
	int64_t conflicts;       /* not decided by a person yet */
};

/* What a balance may come to, either way: twice that can still be added. */
#define SETTLE_BALANCE_MAX (INT64_C(1) << 62)

/** Whether the books can hold another tranche: what an activity was given
 * stays within AMOUNT_MAX_CENTS, for money and packets, and what its sponsor
 * owes within SETTLE_BALANCE_MAX. */
bool settle_fundable(const struct settle_books *b, int64_t sponsor_balance,
		     int64_t cents, int64_t packets);

/** Whether a user with this balance can be given that much more. */
bool settle_creditable(int64_t balance, int64_t cents);

enum settle_refund {
	SETTLE_REFUND_WAIT,    /* not now */
	SETTLE_REFUND_NOW,     /* pool_cents go back; may be 0 */
	SETTLE_REFUND_DIFFERS, /* refused: the numbers do not agree */
};

/** Whether the rest of the pool goes back to the sponsor. */
enum settle_refund settle_refund(const struct settle_books *b);

/** Append one sentence per thing that a person must look at, or nothing. A
 * function of the books alone, so an alarm ends when its cause does. */
void settle_alarm(const struct settle_books *b, struct buf *out);

/** Whether two alarms say the same but for their numbers. */
bool settle_alarm_same(const char *one, const char *other);

/** The seq after which the claims have a gap, or -1 for none. */
int64_t settle_gap(const struct settle_books *b);

#endif
