/**
 * The relay's work on one activity, shared by its files: relay_set.c
 * finds the activities, relay.c drives them, track.c holds the lease, track_read.c
 * understands what was read, publish.c sends it to Kafka, keeper.c and fence.c
 * do what only a lease owner may.
 */
#ifndef GRAB_TRACK_H
#define GRAB_TRACK_H

#include "client/kafka.h"

#include "env.h"
#include "evidence.h"
#include "fence.h"
#include "keeper.h"
#include "relay.h"
#include "roll.h"
#include "step.h"
#include "window.h"

enum {
	TRACK_EVENTS_MAX = 256, /* events in one read, and in flight */
	TRACK_BACKOFF_MS = 200, /* after Kafka refused something */
	TRACK_POKE_MS = 10,     /* between a read and a poked one */
	TRACK_ADVANCE_MS = 250, /* longest that a delivery waits for a cursor */
};

/* What is published: each has a topic. */
enum track_kind { KIND_CLAIM, KIND_EVENT, KIND_COUNT };

struct relay {
	struct grab_env *env;
	struct redis *redis;
	struct kafka_producer *producer;
	char owner[33];       /* random, of this process */
	uv_timer_t tick;      /* every poll_ms */
	uv_timer_t kick;      /* the loop's next turn */
	int handles;          /* of these two, not yet closed */
	struct track *tracks; /* utlist */
	size_t count;
	struct track **slots; /* by slot number; slot_max of them */
	size_t slot_max;
	uint32_t epoch; /* last one given out */
	struct evidence evidence;
	uint64_t roll_packets; /* in the rolls of all tracks */
	bool scanning;         /* SMEMBERS is in flight */
	bool listing;          /* SADD is in flight */
	uint64_t scan;         /* number of the scan */
	uint64_t scan_due_ms;
	bool topics_ready;     /* they were there */
	bool topics_gone;      /* one is not there any more */
	bool lost[KIND_COUNT]; /* all was to be published again, as it did not
				* take this; until it takes it */
	bool topics_asking;
	uint64_t topics_due_ms;
	bool stopping;  /* publish the rest, take nothing new */
	bool releasing; /* then the leases */
	bool abandoned;
	uint64_t stop_by_ms;
	size_t leaving; /* witness fields being removed */
	void (*stopped)(void *ctx);
	void *stopped_ctx;
};

struct track {
	struct track *prev, *next;
	struct relay *relay;
	struct activity *activity; /* pinned */
	size_t slot;
	uint32_t epoch;     /* of what is in flight; see publish.c */
	size_t outstanding; /* messages without a delivery report */
	bool busy;          /* a step of track.c is in flight */
	bool gone;          /* not in rain:activities any more */
	bool lost;          /* it was in Redis, and is not */
	uint64_t lost_on;   /* connection that listed it all the same */
	bool ours;          /* we hold the lease */
	bool free;          /* nobody held it at the last read */
	bool wanted;        /* there is work for who holds it */
	bool rewind;        /* publish all of it again: Kafka lost a topic */
	uint64_t revision;  /* at the last read */
	int state;          /* likewise */
	uint64_t generation;
	int64_t lease_until_ms; /* in Redis's time */
	uint64_t due_ms;        /* loop time of the next read */
	uint64_t read_ms;       /* loop time of the last one */
	uint64_t read_count;    /* reads so far */
	uint64_t stop_reads;    /* read_count when the stop began */
	uint64_t read_after;    /* claims.sent when it was last asked */
	uint64_t quiet;         /* reads in a row that found nothing, a few */
	uint64_t advance_ms;    /* loop time: the cursors wait for it, while
				   anything is on its way */
	uint64_t pause_ms;      /* loop time: nothing is sent before */
	uint64_t claims_cursor;
	uint64_t events_cursor;
	uint64_t claims_length;
	uint64_t events_length;
	uint64_t blocked; /* position that can't be published, 0 none */
	uint64_t told;    /* the last one that was logged */
	int64_t lag;      /* what the gauge holds for us */
	struct window claims;
	struct window events;
	struct keeper keeper;
	struct fence fence;
	bool rolling;         /* its roll is being made */
	bool unproven;        /* there can be none */
	bool adopted;         /* its packets were made by somebody else */
	bool foreign;         /* and are not those that were opened */
	uint64_t roll_due_ms; /* loop time: none is made before */
};

/* What to do next about one activity. */
enum track_action {
	TRACK_WAIT,
	TRACK_READ,
	TRACK_ACQUIRE,
	TRACK_RENEW,
	TRACK_ADVANCE,
	TRACK_REWIND,
};

struct track_view {
	bool ours;
	bool free; /* nobody else holds the lease */
	bool wanted;
	bool progress; /* more is acknowledged than the cursors say, and it is
			* time to write it down */
	bool rewind;   /* the cursors are to go back */
	bool due;      /* time to read */
	int64_t lease_left_ms;
	int64_t lease_ms;
};

/** Pure. */
enum track_action track_decide(const struct track_view *v);

/** track.c: go on; the lease; forget what is in flight and start again at the
 * cursors. */
void track_step(struct track *t);
void track_drop(struct track *t, const char *why);
void track_release(struct track *t);
/** publish.c: whether something was delivered that the cursors do not have. */
bool track_progress(const struct track *t);
/** publish.c: what was sent is in the outbox, whatever an older read told. */
void track_sent(struct track *t);
/** Whether everything is published and recorded, as far as is known. */
bool track_published(const struct track *t);
/** Whether anything is in flight that holds a pointer to t. */
bool track_held(const struct track *t);
/** How many claims may be sent now. */
size_t track_room(const struct track *t);
/** Update the gauges. */
void track_count(struct track *t);
/** Whether an activity that was there is there; counted, logged once. */
void track_lost(struct track *t, bool lost);

/** relay.c: run all tracks on the loop's next turn. */
void relay_kick(struct relay *relay);
/** relay.c: Kafka does not know a topic any more: make it anew. */
void relay_topics_gone(struct relay *relay, enum track_kind kind);

/** relay_set.c: look at the set if it is time; t is not held by anything. */
void relay_scan(struct relay *relay);
void track_free(struct track *t);

/** relay_stop.c: go on with the stop that has begun. */
void relay_stop_step(struct relay *relay);

/** track_read.c: what a reply of relay_read.lua says; epoch is that of t when
 * it was asked. */
void track_learn(struct track *t, const struct step_reply *reply,
		 uint32_t epoch);
/** Decide anew whether the lease is wanted. */
void track_want(struct track *t);

/** track.c: the lease is not ours, or may not be: the next read tells. */
void track_lose(struct track *t, const char *why);
/** Element i of rest as a number. */
bool track_number(const struct step_reply *reply, size_t i, uint64_t *out);

/** publish.c: send elements; those that do not fit are read again. */
void publish_claims(struct track *t, const redisReply *list);
void publish_events(struct track *t, const redisReply *list);
/** A delivery report, with what was given to kafka_produce(). */
void publish_delivered(void *ctx, void *opaque, rd_kafka_resp_err_t error);

extern struct metric relay_published;
extern struct metric relay_unpublished;
extern struct metric relay_leases;
extern struct metric relay_dropped;
extern struct metric relay_lost;

#endif
