/**
 * The way of one ask, a grab or a result, through Redis: a queue per activity,
 * batches by batch.h, one script call per batch (flight.h), one answer per
 * ask, at its deadline at the latest.
 *
 *   lane_put ──► queue ──lane_pump──► script call ──► answer
 *                  ▲                      │
 *                  └── outcome unknown ───┘  asked again: the step is
 *                                            idempotent
 *
 * What can't be done in time is refused when it comes: a queue that would
 * take too long (pace.h), a Redis that has said nothing for redis.stall.
 */
#ifndef GRAB_LANE_H
#define GRAB_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

#include "pace.h"

struct activity;
struct flight;
struct grab_env;

enum lane_kind { LANE_GRAB, LANE_RESULT, LANE_KINDS };

enum { LANE_TRIES_MAX = 8 }; /* script calls for one ask */

/* What one ask is answered. */
struct answer {
	int status;                 /* rain.Status */
	struct bytes red_packet_id; /* with WON and ALREADY_GRABBED */
	int64_t amount_cents;
	int64_t at_ms;
	uint32_t retry_after_ms;
	uint64_t revision;   /* 0 if none is known */
	uint64_t packets;    /* of the activity, 0 if not known */
	uint32_t stands_ms;  /* as answer_stands_ms() */
	const char *message; /* static */
};

struct ask;
/** The answer is valid during the call. May come from inside lane_put() and
 * lane_pump(). ask is the owner's again. */
typedef void (*ask_cb)(struct ask *ask, const struct answer *answer);

/* The asks of one call, which is answered when the last of them is. For each
 * activity they get room together or are refused together: one that is refused
 * must not wait for the answers of the others. */
struct lane_group {
	const struct activity *activity; /* the last one, NULL at first */
	bool room;
};

/* Owned by the caller, in place until done. */
struct ask {
	struct ask *prev, *next;   /* in a queue */
	struct activity *activity; /* pinned until done */
	ask_cb done;
	enum lane_kind kind;
	char user[ID_MAX];
	size_t user_len;
	int64_t not_after_ms;     /* in Redis's time; 0: not known (result) */
	uint64_t deadline_ms;     /* loop time: the caller's patience */
	bool repeat;              /* says that it may have won already */
	unsigned tries;           /* script calls so far */
	bool unsure;              /* one of them may have been executed */
	struct lane_group *group; /* read by lane_put(); NULL: alone */
};

struct lane {
	struct ask *queue; /* utlist, oldest first */
	size_t waiting;
	size_t calls;           /* script calls in flight */
	struct flight *flights; /* these, oldest first */
	struct pace pace;
	struct lane *prev, *next; /* in the watch's list, while busy */
	struct activity *busy;    /* whose it is, pinned, while something waits
				   * or is in flight; else NULL */
};

/** Queue an ask; all fields but prev, next, tries and unsure are set. Without
 * room it is answered at once. lane_pump() sends. */
void lane_put(struct grab_env *env, struct ask *ask);

/** Send what batch.h says. */
void lane_pump(struct grab_env *env, struct activity *a, enum lane_kind kind);

/** Answer and let go of an ask that is in no queue. */
void lane_answer(struct ask *ask, const struct answer *answer);
/** Without a packet and without a word of Redis: PENDING if the ask may have
 * been executed or is a question, else BUSY. */
void lane_refuse(struct ask *ask, uint64_t revision, const char *message);
/** The outcome can't be told. */
void lane_pending(struct ask *ask, uint64_t revision, const char *message);

/* ---- For flight.c and lane_watch.c ---- */

/** An ask comes back to the front of its queue, whatever room there is. */
void lane_put_first(struct grab_env *env, struct ask *ask);
/** The first ask of a queue that has one. */
struct ask *lane_take_first(struct grab_env *env, struct lane *lane);
/** Answer the asks in the queue that nobody can help any more: all if Redis is
 * silent, else those whose time has passed. */
void lane_drop_late(struct grab_env *env, struct lane *lane);

/* ---- lane_watch.c ---- */

/** Have lanes looked after while they are busy: answers at the deadline, and
 * a Redis that says nothing. Without a watch (env->watch NULL) neither is. */
void lane_watch_start(struct grab_env *env);
/** No lane is busy any more. The memory goes on a later turn of the loop. */
void lane_watch_stop(struct grab_env *env);
/** This lane of a has something to look after. */
void lane_watch(struct grab_env *env, struct activity *a, struct lane *lane);
/** An ask was given a turn, or was shed; what one that is shed is told to wait
 * grows while most are, so that those who come again are no flood of their
 * own. */
void lane_watch_taken(struct grab_env *env);
uint32_t lane_watch_shed(struct grab_env *env);
/** Whether Redis has been silent for so long that nothing is sent to it. */
bool lane_redis_silent(const struct grab_env *env);

/** Register the metrics; once per process, again is harmless. */
void lane_metrics(void);

#endif
