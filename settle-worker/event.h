/**
 * What a Kafka message means to the ledger: a claim, a change of an activity,
 * or something that cannot be settled, with the reason.
 */
#ifndef SETTLE_WORKER_EVENT_H
#define SETTLE_WORKER_EVENT_H

#include "base/bytes.h"
#include "base/id.h"

/* An id in place: checked, with a NUL. */
struct event_id {
	uint8_t n; /* length in bytes */
	char s[ID_MAX + 1];
};

/** A view of the id, valid as long as it. */
static inline struct bytes event_id_view(const struct event_id *id)
{
	return bytes_make(id->s, id->n);
}

/* X(NAME, what the ledger calls it) in the order of the oneof of
 * rain.ActivityEvent, whose first field number is 4. */
#define EVENT_CHANGE_MAP(X)       \
	X(CREATED, "created")     \
	X(LOADED, "loaded")       \
	X(TOPPED_UP, "topped_up") \
	X(OPENED, "opened")       \
	X(PAUSED, "paused")       \
	X(RESUMED, "resumed")     \
	X(HALTED, "halted")       \
	X(CLOSED, "closed")       \
	X(COUNTED, "counted")     \
	X(CANCELLED, "cancelled") \
	X(SETTLED, "settled")     \
	X(ENTROPY, "entropy")

enum event_change_kind {
	EVENT_CHANGE_NONE,
#define X(name, text) EVENT_##name,
	EVENT_CHANGE_MAP(X)
#undef X
		EVENT_CHANGE_END
};

/** The ledger's word for a kind; static. */
const char *event_change_name(enum event_change_kind kind);
/** The kind for a word, or EVENT_CHANGE_NONE. */
enum event_change_kind event_change_kind(struct bytes name);

struct event_claim {
	struct event_id red_packet_id;
	struct event_id user_id; /* or '#' and digits: a void claim */
	int64_t amount_cents;    /* 1 to AMOUNT_MAX_CENTS */
	int64_t seq;             /* from 1 */
	int64_t at_ms;           /* when it was won, by Redis */
	int64_t tranche;         /* from 1 */
};

/* Fields that a kind does not have are 0 and empty. */
struct event_change {
	enum event_change_kind kind;
	int64_t revision; /* from 1 */
	int64_t at_ms;
	int64_t tranche;      /* loaded, topped up */
	int64_t packets;      /* loaded: how many; closed, counted: left */
	int64_t amount_cents; /* created, loaded: total; counted: leftover */
	int64_t claims;       /* closed: the final seq */
	int64_t start_ms;     /* created */
	int64_t end_ms;
	struct bytes title; /* created; views into `owned` */
	struct bytes sponsor;
	struct bytes currency;
	struct bytes commitment;
	struct bytes ack;
	char *text; /* detail, if it is no view: owned */
	/* The reason, the seeds of closed with a comma between two, the
	 * commitment of topped_up, `HEX by WHO` of entropy. */
	struct bytes detail;
};

enum event_kind { EVENT_CLAIM, EVENT_CHANGE, EVENT_POISON };

/* Where a message stands; everything borrowed. */
struct event_place {
	struct bytes topic;
	int32_t partition;
	int64_t offset;
	struct bytes key;
	struct bytes value;
};

struct event {
	enum event_kind kind;
	struct event_place place;
	struct event_id activity_id; /* empty for poison */
	union {
		struct event_claim claim;
		struct event_change change;
		const char *reason; /* poison: static text */
	};
	void *owned; /* what the views of change point into */
};

enum event_topic { EVENT_TOPIC_ACTIVITIES, EVENT_TOPIC_CLAIMS };

/** Read one message of a topic. Never fails: what cannot be read is poison.
 * place must outlive the event; then event_close(). */
void event_read(struct event *e, enum event_topic topic,
		const struct event_place *place);
void event_close(struct event *e);

#endif
