/**
 * The books of one activity, from four places that know of each other only by
 * what travelled between them: the lists in Redis, the topic in Kafka, and the
 * records and totals of the ledger. Reading is books_read.c, judging is pure.
 */
#ifndef CONSOLE_BOOKS_H
#define CONSOLE_BOOKS_H

#include "base/buf.h"
#include "console/ctl.h"
#include "rain/activity_service.pb-c.h"
#include "rain/ledger_service.pb-c.h"

enum book {
	BOOK_REDIS,  /* the list of claims */
	BOOK_KAFKA,  /* distinct events of the topic */
	BOOK_LEDGER, /* records that were credited */
	BOOK_COUNT,
};

/* The packets of the largest plan: whoever can write to the topic has no say
 * in how much memory is taken. */
enum { BOOKS_SEQ_MAX = 10000000 };

/* One claim as one place tells it. */
struct book_entry {
	char *packet; /* NULL: that place does not have the claim */
	char *user;
	int64_t amount_cents;
};

/* All that is known of one sequence number. */
struct book_line {
	struct book_entry in[BOOK_COUNT];
	char *answer; /* what the user is told; NULL: the claim in Redis */
};

/* What the lists in Redis say of themselves. */
struct book_counts {
	uint64_t claims;
	uint64_t users; /* who are told a packet */
	uint64_t left;
};

struct book_sum {
	uint64_t count;
	int64_t cents;
};

struct books {
	char *activity;
	struct book_line *lines; /* by seq - 1 */
	size_t line_count;
	struct book_sum sums[BOOK_COUNT];
	struct book_sum left;      /* packets that nobody has */
	struct book_counts counts; /* after the lists were read */
	bool steady;        /* and before too: nobody grabbed meanwhile */
	uint64_t conflicts; /* events of one seq that differ */
	bool lists_gone;    /* Redis has given the lists up: settled */
	Rain__State state;
	int64_t plan_cents;
	uint64_t plan_packets;
	bool topped_up;         /* the two above count that too */
	int64_t unloaded_cents; /* announced, funded, not in the list */
	int64_t funded_cents;
	uint64_t funded_packets;
	int64_t held_cents;
	int64_t refunded_cents;
	int64_t pool_cents;
	int64_t postings_cents;
	uint64_t parked;
	uint64_t ledger_conflicts;
	bool refund_done;
	char *alarm;              /* of the ledger, or NULL */
	int64_t violations;       /* of all its books, that its audit found */
	char *first_violation;    /* a sentence, or NULL */
	int64_t last_claim_ms;    /* newest claim credited: when it was won */
	int64_t last_credit_ms;   /* the newest credit */
	uint64_t published_again; /* events that came more than once */
	uint64_t differences;
	struct buf report; /* a line per difference, the first 50 */
};

/** Start empty; activity is copied. */
void books_init(struct books *b, const char *activity);
/** Free everything; what was read is gone. */
void books_close(struct books *b);

/**
 * Enter one claim of one place. The same entry again is counted in
 * published_again (Kafka repeats) and changes nothing; another one for the same
 * seq is a difference. seq is 1 to BOOKS_SEQ_MAX; beyond that it is a stranger's,
 * and told.
 */
void books_enter(struct books *b, enum book where, uint64_t seq,
		 struct bytes packet, struct bytes user, int64_t amount_cents);

/**
 * Enter that the user of claim seq, which was entered for BOOK_REDIS, is told
 * something else than the claim: the text in the hash of users, empty if there
 * is none.
 */
void books_enter_answer(struct books *b, uint64_t seq, struct bytes text);

/** Judge: fills sums, differences and report. Once, after all was entered. */
void books_judge(struct books *b);

/** Whether everything that was grabbed has arrived everywhere, and after the
 * end the refund too: what --wait waits for. */
bool books_at_rest(const struct books *b);

/** For the judges: one more difference, a sentence without a line's end. */
void printf_like(2, 3) books_differ(struct books *b, const char *fmt, ...);

/** Part of books_judge(): what the users are told, and the lengths of the
 * lists. */
void books_judge_redis(struct books *b);

/** Read everything. CTL_OK, or another CTL_ with a sentence in why. */
int books_read(struct ctl *ctl, struct books *b, struct buf *why);

/** Read again until they are at rest or seconds have passed. */
int books_wait(struct ctl *ctl, const char *activity, uint64_t seconds,
	       struct books *b, struct buf *why);

/** The table and the verdict, as text or JSON. */
void books_print(const struct ctl *ctl, const struct books *b);

#endif
