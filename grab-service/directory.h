/**
 * The activities that this process knows, by id: what it has seen of each, and
 * what its parts keep for each. Bounded: an activity that nobody needs makes
 * room for another, and when all are needed there is none.
 */
#ifndef GRAB_DIRECTORY_H
#define GRAB_DIRECTORY_H

#include <uthash.h>

#include "base/check.h"
#include "base/id.h"
#include "draws.h"
#include "lane.h"

struct roll;
struct track;
struct directory;

/* What this process can testify to after a restart of Redis. */
struct seen {
	uint64_t seq;          /* the highest claim seen, 0 none */
	char user[ID_MAX + 1]; /* whose it is, with a NUL */
	uint64_t revision;     /* the highest seen */
	uint64_t events;       /* the longest list of events seen */
	bool served;           /* registered as a witness */
};

/* Asks that Redis could not answer, see elsewhere.h. */
struct elsewhere {
	struct ask *asks;         /* waiting for the ledger's totals */
	bool asking;              /* a question about totals is in flight */
	uint64_t absent_until_ms; /* loop time: known to be nowhere */
	bool refunded;            /* no packet is final here */
};

struct activity {
	UT_hash_handle hh;
	char id[ID_MAX + 1]; /* with a NUL */
	size_t id_len;
	bool listed;          /* in rain:activities at the last look */
	uint64_t listed_scan; /* the look that found it there */
	int state;            /* rain.State as last told, 0 unknown */
	struct seen seen;
	uint64_t witness_on; /* connection on which it registered */
	struct lane lanes[LANE_KINDS];
	struct draws draws; /* if it is live */
	struct elsewhere elsewhere;
	struct track *track;    /* the relay's, NULL if none */
	struct roll *roll;      /* the relay's, NULL if there is none yet */
	bool roll_awaited;      /* no claim is told before there is one */
	uint64_t log_after_ms;  /* loop time: no refusal is logged before */
	bool halting;           /* a halt is in flight */
	uint64_t halt_after_ms; /* loop time: no halt is sent before */
	size_t pins;            /* who needs it to stay */
};

/** max activities at a time. */
struct directory *directory_new(size_t max);
/** No activity may be pinned any more. */
void directory_free(struct directory *d);

/** The activity, made if it is new. NULL if there is no room. Stays until the
 * next call, or as long as it is pinned or listed. */
struct activity *directory_get(struct directory *d, struct bytes id);
/** NULL if it is not known. */
struct activity *directory_find(struct directory *d, struct bytes id);

/** It is needed, and not any more; counted. */
void activity_pin(struct activity *a);
/** See activity_pin(). */
void activity_unpin(struct activity *a);

/** Whether a refusal of a grab may be logged: a storm on one activity is one
 * line a second. */
must_check bool activity_may_log(struct activity *a, uint64_t now_ms);

/** The id as a view; valid as long as a. */
struct bytes activity_id(const struct activity *a);

/** All activities, in no particular order: start with NULL. */
struct activity *directory_next(struct directory *d, struct activity *a);
size_t directory_count(const struct directory *d);

/** Remember what a reply told. A claim with seq 0 is none. */
void activity_saw(struct activity *a, int state, uint64_t revision);
void activity_saw_claim(struct activity *a, uint64_t seq, struct bytes user);

#endif
