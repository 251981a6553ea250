/**
 * fault_check: what the apps were told against Redis, both topics and the
 * ledger. The readers fill the tables below, the rules judge them, and nothing
 * in the rules reads anything.
 *
 *   check_main.c      the program     check_log.c       the apps' log
 *   check_lists.c     adopted lists   check_plan.c      rules of the packets
 *                                     check_live.c      rules of what is drawn
 *   check.c           the tables      check_answers.c   rules of each answer
 *   check_redis.c     reads Redis     check_persons.c   rules of each user
 *   check_topics.c    reads Kafka     check_events.c    rules of the states
 *   check_ledger.c    reads SQLite    check_money.c     rules of the books
 *
 * First all the tables are entered, then check_log_line() takes the log in its
 * order, then check_judge() the rest.
 */
#ifndef TESTS_FAULT_CHECK_H
#define TESTS_FAULT_CHECK_H

#include <uthash.h>

#include "base/id.h"
#include "console/books.h"
#include "plan/tranche.h"
#include "rain/events.pb-c.h"

enum {
	CHECK_PACKET_MAX = 64,
	/* Two clocks of one machine, rounded to milliseconds. */
	CHECK_CLOCK_MS = 5,
	/* What a gateway may remember of a state, and some. */
	CHECK_STATE_MS = 300,
	/* How long after its not_after_ms a grab may stay without an answer
	 * while later requests of its connection are answered. */
	CHECK_LATE_MS = 3000,
	CHECK_LATE_AGAIN_MS = 1000,
	CHECK_NOT_AFTER_MS = 1000, /* what not_after_ms 0 means */
	/* Packets that a top-up puts into the list in one step. */
	CHECK_CHUNK = 500,
	CHECK_WHAT_MAX = 160,
};

enum check_place { CHECK_REDIS, CHECK_TOPIC, CHECK_LEDGER, CHECK_PLACES };

struct check_event {
	uint64_t revision;
	int kind; /* Rain__ActivityEvent__ChangeCase */
	int64_t at_ms;
	char what[CHECK_WHAT_MAX]; /* of a tranche that was added; else "" */
};

/* A claim as a place or an answer tells it. */
struct check_claim {
	char packet[CHECK_PACKET_MAX + 1]; /* "": there is none */
	int64_t amount_cents;
	int64_t at_ms;
	uint64_t seq;     /* 0 in an answer */
	uint32_t tranche; /* likewise */
};

/* A user in an activity. */
struct check_person {
	char user[ID_MAX + 2];
	struct check_claim in[CHECK_PLACES];
	struct check_claim told; /* by the first answer with a packet */
	uint64_t told_line;      /* of the log */
	bool asked;              /* stands in the log */
	bool explained;          /* a grab may have made the claim */
	UT_hash_handle hh;
};

/* Who was told a packet first. */
struct check_told {
	char packet[CHECK_PACKET_MAX + 1];
	const struct check_person *person;
	UT_hash_handle hh;
};

/* The activity's row in the ledger. */
struct check_row {
	bool there;
	int64_t total_cents;
	int64_t funded_cents, funded_packets;
	int64_t pool_cents, pool_packets;
	int64_t credited_cents, credited_packets;
	int64_t held_cents, held_packets;
	int64_t refunded_cents, refunded_packets;
	int64_t leftover_cents; /* -1 until counted */
	uint64_t revision;
	bool refund_done;
};

/* A packet as the plan has it, or the list that was adopted. */
struct check_packet {
	char id[CHECK_PACKET_MAX + 1];
	int64_t amount_cents;
};

struct check_tranche {
	uint64_t packets;
	uint64_t loaded; /* of them, ever in Redis */
	int64_t cents;
	char commitment[PLAN_COMMITMENT];
};

/* What meta says of an activity without a list; -1: nothing, or no number. */
struct check_live {
	int64_t left, balance_cents, claimed_cents;
};

struct check_activity {
	char id[ID_MAX + 1];
	bool wanted; /* to be judged: named on the command line */
	struct books books;
	/* Redis */
	bool known;      /* it has a meta */
	bool lists_gone; /* settled long ago */
	int state;       /* rain.State */
	uint64_t revision;
	int64_t start_ms, end_ms;  /* 0: no bound */
	int64_t release_ms;        /* of the plan, 0: all at once */
	int64_t leftover_cents;    /* -1 until counted */
	int64_t last_claim_ms;     /* of all claims */
	bool adopted;              /* its list was made by somebody else */
	bool live;                 /* packets are drawn, there is no list */
	bool planned_live;         /* so said the command line */
	struct check_live drawn;   /* if it is live */
	struct check_packet *plan; /* all packets; owned, NULL: not known */
	uint64_t plan_count;
	struct check_tranche tranches[TRANCHES_MAX];
	size_t tranche_count;      /* 0: not known */
	struct check_packet *left; /* in Redis, as they would be taken; owned */
	uint64_t left_count;
	int64_t *made_ms; /* of each claim by seq, 0: none; owned */
	uint64_t made_count;
	/* by place, as they stand there */
	struct check_event *events[CHECK_PLACES];
	size_t event_count[CHECK_PLACES];
	struct check_row row;
	struct check_person *persons;
	struct check_told *told;
	UT_hash_handle hh;
};

struct check_account {
	char kind[16];
	char owner[ID_MAX + 1];
	char currency[4];
	int64_t balance, moved; /* moved: the sum of its postings */
	int64_t records;        /* the sum of its credits */
};

/* One line of the apps' log. */
enum check_line_kind { CHECK_ASK, CHECK_ANSWER, CHECK_CLOSED, CHECK_END };

struct check_line {
	enum check_line_kind kind;
	uint64_t mono_ms;
	int64_t wall_ms;
	uint64_t connection;
	uint64_t seq;
	bool query;
	const char *activity; /* CHECK_ASK */
	const char *user;     /* CHECK_ASK */
	int64_t not_after_ms; /* CHECK_ASK */
	const char *status;   /* CHECK_ANSWER: of rain.Status or an Error */
	const char *packet;   /* CHECK_ANSWER: or NULL */
	int64_t amount_cents;
	int64_t at_ms;
};

struct check_ask; /* a request without an answer yet */

struct check_connection {
	uint64_t number;
	struct check_ask *asks; /* the oldest first */
	UT_hash_handle hh;
};

struct check {
	struct check_activity *activities;
	struct check_connection *connections;
	struct check_account *accounts; /* owned */
	size_t account_count;
	bool others; /* users who are not in the log may have claims */
	uint64_t lines;
	uint64_t taps;
	uint64_t unanswered; /* at the end of the log */
	uint64_t wins;       /* users who were told a packet */
	uint64_t violations;
	struct buf report; /* a line per violation, the first ones */
};

/** Start empty; close frees everything that was entered. */
void check_init(struct check *c);
void check_close(struct check *c);

/** One more violation: a sentence without the line's end. */
void printf_like(2, 3) check_violation(struct check *c, const char *fmt, ...);

/** Find or add; the pointer stays good until check_close(). */
struct check_activity *check_activity(struct check *c, const char *id);
struct check_person *check_person(struct check_activity *a, struct bytes user);

/* Tables. The ids are copied. */
void check_enter_claim(struct check_activity *a, enum check_place place,
		       const struct check_claim *claim, struct bytes user);
void check_enter_event(struct check_activity *a, enum check_place place,
		       const struct check_event *event);
void check_enter_account(struct check *c, const struct check_account *account);

/** The next tranche, and its packets: those that the seed makes; of an adopted
 * list no seed does. */
void check_enter_tranche(struct check_activity *a,
			 const uint8_t seed[ALLOCATE_SEED],
			 const struct allocate_rule *rule, uint64_t id_base);
/** What is left of a live activity, as its meta says. */
void check_enter_drawn(struct check_activity *a,
		       const struct check_live *drawn);
/** The packet that follows on those that were entered: of the plan, and of what
 * is left in Redis. */
void check_enter_plan(struct check_activity *a, struct bytes packet,
		      int64_t cents);
void check_enter_left(struct check_activity *a, struct bytes packet,
		      int64_t cents);
/** An event as a message tells it. */
void check_enter_message(struct check_activity *a, enum check_place place,
			 const Rain__ActivityEvent *m);
/** Say in e what a topped_up announces. */
void check_event_tranche(struct check_event *e, uint32_t tranche,
			 uint64_t packets, int64_t cents,
			 struct bytes commitment);

/** A line of the log; they come in their order, after the tables. */
void check_log_line(struct check *c, const struct check_line *line);

/** Everything else; once, at the end. */
void check_judge(struct check *c);

/* Parts of check_judge(). */
void check_judge_asks(struct check *c);
void check_judge_persons(struct check *c, struct check_activity *a);
void check_judge_events(struct check *c, struct check_activity *a);
void check_judge_plan(struct check *c, const struct check_activity *a);
void check_judge_live(struct check *c, const struct check_activity *a);
void check_judge_money(struct check *c, struct check_activity *a);
void check_judge_accounts(struct check *c);

/** Whether a could be in one of the states (a bit 1 << rain.State each) at a
 * moment of the span, which is both ends included. */
bool check_state_within(const struct check_activity *a, int64_t from_ms,
			int64_t to_ms, unsigned states);

/** The tranche that packet seq is of, from 1; 0: of none. */
uint32_t check_tranche_of(const struct check_activity *a, uint64_t seq);
/** How many packets there were at most at that time. */
uint64_t check_announced(const struct check_activity *a, int64_t at_ms);
/** Whether a could be sold out at a moment between the question and the answer;
 * else why is the half of a sentence. */
bool check_sold_out(const struct check_activity *a, int64_t asked_ms,
		    int64_t answered_ms, char why[CHECK_WHAT_MAX]);

/* The readers. CTL_OK, or another CTL_ with a sentence in why. */
int check_read_redis(const char *url, struct check_activity *a, struct check *c,
		     struct buf *why);
int check_read_topics(struct ctl *ctl, struct check *c, struct buf *why);
int check_read_ledger(const char *path, struct check *c, struct buf *why);
/* What lay in lists that were adopted: a line "ACTIVITY PACKET CENTS" each, in
 * the order in which they are taken. Before Redis is read. */
int check_read_lists(const char *path, struct check *c, struct buf *why);
int check_read_log(const char *path, struct check *c, struct buf *why);

#endif
