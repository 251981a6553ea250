/**
 * From what the scripts say about one user to what the user is told. Pure but
 * for the jitter.
 */
#ifndef GRAB_ANSWER_H
#define GRAB_ANSWER_H

#include "proto/grab_batch.h"

#include "claim.h"
#include "lane.h"
#include "step.h"

/* The rest of a reply of lua/grab.lua and lua/result.lua whose code is OK or
 * COUNTS; from REPLY_USERS on an element for each user. */
enum { REPLY_LEFT, REPLY_CLAIMS, REPLY_PACKETS, REPLY_WAIT, REPLY_USERS };

/* What a reply says about one user, and what it was asked under. */
struct verdict {
	int64_t status;     /* rain.Status, unchecked */
	struct bytes claim; /* text, or empty */
	struct bytes user;  /* whose it must be */
	uint64_t revision;
	uint64_t packets; /* of the activity, taken or not */
	int64_t wait_ms;  /* until it starts, or a packet is released, or 0 */
	bool unsure;      /* an earlier try may yet be executed */
	bool question;    /* a result, not a grab */
	bool counts;      /* the counts do not hold */
};

/** Read what such a reply says about the user asked for i-th, from 0: v's
 * status, PENDING if it can't be read, and claim, a view into the reply. */
void answer_read(const struct step_reply *reply, size_t i, struct verdict *v);

/** The answer, and the claim that it tells, whose seq is 0 without one. Views
 * into v->claim. A claim that can't be read or is another user's is PENDING,
 * never a no. */
struct answer answer_make(const struct verdict *v, struct claim *claim);

/** The answer while what Redis says about the user can't be. */
struct answer answer_unproven(const struct verdict *v);

/** How long to wait before the next try, with jitter. */
uint32_t answer_retry_ms(int status, int64_t wait_ms);

/** For how long nobody can win where a user is told this status, unless the
 * activity's revision or number of packets moves: UINT32_MAX until they do, 0
 * not known. wait_ms as in struct verdict. */
uint32_t answer_stands_ms(int status, int64_t wait_ms);

/** Some time around base_ms: nobody who was refused together comes back
 * together. */
uint32_t answer_jitter(uint64_t base_ms);

/** A sentence for the log of the app; static. */
const char *answer_message(int status);

/** The message that says it, which borrows from answer. */
void answer_response(const struct answer *answer, struct grab_answer *m);

#endif
