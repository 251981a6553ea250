/**
 * What came of the taps: counts and latencies. Each thread has one; in the end
 * they are added up.
 *
 * The window is the time that is measured: after the warm-up, until the end. A
 * rate counts what came in during it. A latency counts for the tap that was due
 * during it, however late its answer comes; a tap without an answer counts with
 * the time until it was given up. So nothing that is slow is left out.
 */
#ifndef BENCH_TALLY_H
#define BENCH_TALLY_H

#include "base/histogram.h"
#include "bench/winners.h"
#include "rain/gateway.pb-c.h"

enum { TALLY_STATUSES = 16 };

/* Of one activity. */
struct tally_won {
	uint64_t winners; /* users with a packet */
	uint64_t cents;   /* of these packets */
};

struct tally {
	/* ---- All of the run ---- */
	uint64_t sent;
	uint64_t again;  /* of these, because of an answer, or of none */
	uint64_t unsent; /* due, with no connection, or all of them too full */
	uint64_t answers;
	uint64_t statuses[TALLY_STATUSES];
	uint64_t errors;      /* answered by an Error */
	uint64_t lost;        /* open when the connection closed */
	uint64_t unanswered;  /* open when we stopped waiting */
	uint64_t strange;     /* answers that nobody asked for */
	uint64_t closed;      /* connections that ended before we ended them */
	uint64_t turned_away; /* connections that were told to come later */
	uint64_t wrong;       /* answers that cannot be: a packet too many, one
			     missing, one of nobody */
	uint64_t waits_missing; /* refused without retry_after_ms */
	uint64_t wait_min_ms;   /* shortest and longest wait told with a refusal
				 that has some chance in it */
	uint64_t wait_max_ms;
	struct tally_won *won; /* by activity; the owner's */
	uint64_t activities;
	/* ---- In the window ---- */
	uint64_t in_window;   /* answers */
	uint64_t useful;      /* of these, Redis was asked and gave its word */
	uint64_t useful_late; /* of these, more than a second late */
	uint64_t wins;        /* users who were told a packet first */
	struct histogram all; /* latencies, us */
	struct histogram executed;
	struct histogram refused;
	struct histogram pending;
	struct histogram late; /* left after it was due, open loop */
};

/* An answer, and when. */
struct tally_answer {
	uint64_t user;
	uint64_t activity;
	uint64_t latency_us;
	bool due_in_window;
	bool in_window; /* came in it */
};

/** Start from nothing; free with tally_free(). */
struct tally *tally_new(uint64_t activities);
void tally_free(struct tally *t);

/** Whether a status says that Redis was asked and gave its word. */
bool tally_executed(unsigned status);

/** Whether the app needs not ask again to know what it has. */
bool tally_final(unsigned status);

/** Count an answer. winners is NULL where there is no money (rain-echo). */
void tally_count(struct tally *t, struct winners *winners,
		 const struct tally_answer *a, const Rain__GrabReply *m);

/** Count a tap that was given up after so long. */
void tally_give_up(struct tally *t, uint64_t age_us, bool due_in_window);

/** Add what other counted. */
void tally_merge(struct tally *t, const struct tally *other);

/** All users with a packet, and their money. */
struct tally_won tally_won(const struct tally *t);

#endif
