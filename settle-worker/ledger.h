/**
 * The ledger: the books of every activity, behind an interface that several
 * databases can implement. docs/ledger.md has the tables.
 *
 * One transaction per batch makes the effect of messages and the offsets after
 * them durable together. Applying a message again changes nothing, and the
 * order of messages of different topics or partitions does not matter.
 *
 * Functions block: call them off the loop. A struct ledger and a struct
 * ledger_reader may move between threads, but serve one at a time.
 */
#ifndef SETTLE_WORKER_LEDGER_H
#define SETTLE_WORKER_LEDGER_H

#include <stdint.h>

#include "audit.h"
#include "base/buf.h"
#include "event.h"
#include "settle.h"

enum {
	LEDGER_NAME_MAX = 249,  /* Kafka's bound for names of topics */
	LEDGER_HEX_ID = 33,     /* 32 hex digits and a NUL */
	LEDGER_PAGE_MAX = 1000, /* rows of one answer */
	LEDGER_WHY_MAX = 256,
	LEDGER_ALARM_MAX = 1024, /* with what the audit found */
	LEDGER_TOPUPS_MAX = 20,  /* more than an activity can have */
	/* Of a message, on its way to the dead letter topic, where all of it
	 * as hex is to stay below the megabyte that a broker takes. */
	LEDGER_DEAD_KEY_MAX = 4096,
	LEDGER_DEAD_VALUE_MAX = 256 * 1024,
};

struct ledger;
struct ledger_reader;

/* A partition of a topic in the Kafka cluster of that id. */
struct ledger_position {
	char topic[LEDGER_NAME_MAX + 1];
	int32_t partition;
	int64_t next_offset; /* everything before it is applied; 0 at first */
};

/* A partition of which a batch has messages. */
struct ledger_move {
	struct bytes topic;
	int32_t partition;
	int64_t from; /* must be next_offset in the ledger */
	int64_t to;   /* next_offset afterwards */
};

struct ledger_batch {
	struct bytes cluster_id;         /* Kafka's */
	const struct ledger_move *moves; /* each partition once */
	size_t move_count;
	const struct event *events; /* in the order of their partitions */
	size_t event_count;
	int64_t now_ms; /* when this is credited */
};

struct ledger_result {
	bool moved; /* another worker moved an offset: nothing done */
	int64_t credits;
	int64_t credited_cents;
	int64_t replays; /* claims that were known */
	int64_t changes; /* of activities, that were new */
	int64_t conflicts;
	int64_t parked; /* claims; applied later they count as credits */
	int64_t dead_letters;
	int64_t refunds;
	int64_t refunded_cents;
	int64_t alarms; /* activities whose alarm is new or another */
};

struct ledger_record {
	int64_t number;
	char activity_id[ID_MAX + 1];
	char red_packet_id[ID_MAX + 1];
	char user_id[ID_MAX + 1];
	int64_t amount_cents;
	int64_t seq;
	int64_t tranche;
	int64_t at_ms;
	int64_t credited_ms;
};

/* Pages of records: of a user (newest first, numbers below `after`, 0 for
 * all), or of an activity (ascending seq above `after`). */
struct ledger_page {
	struct bytes user_id;
	struct bytes activity_id;
	int64_t after;
	size_t limit; /* 1 to LEDGER_PAGE_MAX */
};

/* A tranche after the first, as one `topped_up` announced it. */
struct ledger_topup {
	int64_t tranche;
	int64_t packets;
	int64_t amount_cents;
	char commitment[4 * 65 + 1]; /* as that of ledger_totals */
};

struct ledger_totals {
	char activity_id[ID_MAX + 1];
	struct settle_books books;
	int64_t revision;
	char sponsor[ID_MAX + 1];
	char currency[8];
	char title[1025];
	char commitment[4 * 65 + 1]; /* 64 hex digits; else 65 characters */
	char entropy[4 * 129 + 1];   /* 128 hex digits; else 129 characters */
	char alarm[LEDGER_ALARM_MAX];
	struct ledger_topup topups[LEDGER_TOPUPS_MAX]; /* by revision */
	size_t topup_count;
	int64_t total_cents;
	int64_t total_packets;
	int64_t seq_count;
	int64_t conflict_count; /* decided ones too */
	int64_t postings_cents; /* sum of all postings */
	int64_t created_ms;
	int64_t updated_ms;
};

/* An activity whose claims have a gap, or that can still get claims. */
struct ledger_watch {
	char activity_id[ID_MAX + 1];
	int64_t whole_seq; /* everything up to here was seen */
	int64_t gap_after; /* the seq before the gap, or -1 */
	int64_t credited;  /* claims */
	int64_t changes;   /* of the activity that were seen */
};

/* Claims that are owed and not paid. */
struct ledger_parked {
	int64_t count;
	/* The oldest that waits for funds; number 0: none does. */
	int64_t number;
	int64_t since_ms;
	char activity_id[ID_MAX + 1];
};

struct ledger_dead_letter {
	int64_t number;
	char topic[LEDGER_NAME_MAX + 1];
	int32_t partition;
	int64_t offset;
	char reason[LEDGER_WHY_MAX];
	struct buf key;   /* cut at LEDGER_DEAD_KEY_MAX */
	struct buf value; /* cut at LEDGER_DEAD_VALUE_MAX */
	int64_t key_bytes;
	int64_t value_bytes; /* of the whole, which the table has */
};

struct ledger_ops {
	void (*close)(struct ledger *l);
	int (*positions)(struct ledger *l, struct bytes cluster_id,
			 struct ledger_position *positions, size_t n);
	int (*apply)(struct ledger *l, const struct ledger_batch *b,
		     struct ledger_result *result);
	int (*dead_letters)(struct ledger *l, struct ledger_dead_letter *out,
			    size_t max, size_t *n);
	int (*dead_letter_sent)(struct ledger *l, int64_t number,
				int64_t now_ms);
	int (*reader)(struct ledger *l, struct ledger_reader **out);
};

/* What an implementation has in front of its own. */
struct ledger {
	const struct ledger_ops *ops;
	char id[LEDGER_HEX_ID];
	char why[LEDGER_WHY_MAX]; /* the last error, for people */
};

struct ledger_reader_ops {
	void (*close)(struct ledger_reader *r);
	int (*balance)(struct ledger_reader *r, struct bytes user_id,
		       int64_t *cents, char currency[8]);
	int (*records)(struct ledger_reader *r, const struct ledger_page *page,
		       struct ledger_record *out, size_t *n);
	int (*record)(struct ledger_reader *r, struct bytes activity_id,
		      struct bytes user_id, struct ledger_record *out,
		      bool *found);
	int (*totals)(struct ledger_reader *r, struct bytes activity_id,
		      struct ledger_totals *out, bool *known);
	int (*activities)(struct ledger_reader *r, struct bytes after,
			  size_t limit, struct ledger_totals *out, size_t *n);
	int (*positions)(struct ledger_reader *r, struct bytes cluster_id,
			 struct ledger_position *out, size_t max, size_t *n);
	int (*watch)(struct ledger_reader *r, struct ledger_watch *out,
		     size_t max, size_t *n);
	int (*parked)(struct ledger_reader *r, struct ledger_parked *out);
	int (*audit)(struct ledger_reader *r, struct audit *a,
		     uint64_t budget_us);
};

struct ledger_reader {
	const struct ledger_reader_ops *ops;
};

/*
 * All functions that return an int give 0, or ERR_STORE after which nothing
 * was changed that is not as if the call had not been (a commit whose outcome
 * is lost may have happened: applying again then says `moved`).
 */

/** Open the ledger at a location, a file of SQLite's; it is made if there is
 * none. Logs what is wrong. */
must_check int ledger_open(const char *location, struct ledger **out);
/** No reader of it may be open any more. */
void ledger_close(struct ledger *l);

/** Random, made once with the ledger: 32 hex digits. */
const char *ledger_id(const struct ledger *l);
/** What the last ERR_STORE was about; valid until the next call. */
const char *ledger_why(const struct ledger *l);

/** Fill in next_offset of each; a partition never seen starts at 0 and is
 * remembered. */
must_check int ledger_positions(struct ledger *l, struct bytes cluster_id,
				struct ledger_position *positions, size_t n);

/** Apply a batch in one transaction and commit it. result is set with 0. */
must_check int ledger_apply(struct ledger *l, const struct ledger_batch *b,
			    struct ledger_result *result);

/** Dead letters not yet sent to the dead letter topic, oldest first: *n of
 * them; the caller closes the buffers. */
must_check int ledger_dead_letters(struct ledger *l,
				   struct ledger_dead_letter *out, size_t max,
				   size_t *n);
/** Remember that one is sent. */
must_check int ledger_dead_letter_sent(struct ledger *l, int64_t number,
				       int64_t now_ms);

/** A view on the ledger that reads beside ledger_apply(), each call a state
 * between two transactions. */
must_check int ledger_reader_open(struct ledger *l, struct ledger_reader **out);
void ledger_reader_close(struct ledger_reader *r);

/** What a user has; 0 and an empty currency for one never seen. A user with
 * money in several currencies: the one of the first credit. */
must_check int ledger_balance(struct ledger_reader *r, struct bytes user_id,
			      int64_t *cents, char currency[8]);
/** Up to page->limit records. */
must_check int ledger_records(struct ledger_reader *r,
			      const struct ledger_page *page,
			      struct ledger_record *out, size_t *n);
/** The one record of a user in an activity. */
must_check int ledger_record(struct ledger_reader *r, struct bytes activity_id,
			     struct bytes user_id, struct ledger_record *out,
			     bool *found);
/** The books of an activity, or *known false. */
must_check int ledger_totals(struct ledger_reader *r, struct bytes activity_id,
			     struct ledger_totals *out, bool *known);
/** The books of activities with ids after this one, in byte order. */
must_check int ledger_activities(struct ledger_reader *r, struct bytes after,
				 size_t limit, struct ledger_totals *out,
				 size_t *n);
/** Every partition known of a cluster. */
must_check int ledger_reader_positions(struct ledger_reader *r,
				       struct bytes cluster_id,
				       struct ledger_position *out, size_t max,
				       size_t *n);
/** Activities that are not refunded yet, those with a gap first, and of these
 * the ones that are more than a name. */
must_check int ledger_watch(struct ledger_reader *r, struct ledger_watch *out,
			    size_t max, size_t *n);
/** What waits. */
must_check int ledger_parked(struct ledger_reader *r,
			     struct ledger_parked *out);
/** Go on with a round of the audit, zeroed at its beginning, for about that
 * many microseconds; a->done says whether it went through all of the ledger.
 * What is compared is always one state between two transactions. */
must_check int ledger_audit(struct ledger_reader *r, struct audit *a,
			    uint64_t budget_us);

#endif
