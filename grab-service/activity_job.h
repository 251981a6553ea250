/**
 * Long work on one activity: a preload, the check before opening, a top-up. At
 * most one per activity in this process; whoever asks for the same meanwhile is
 * answered with the others when it ends.
 *
 *   job_start -> read the activity -> begin (of preload, open or top-up)
 *             -> job_allocate -> allocated (off the loop) -> steps -> job_end
 */
#ifndef GRAB_ACTIVITY_JOB_H
#define GRAB_ACTIVITY_JOB_H

#include <uthash.h>

#include "activity_op.h"
#include "adopt.h"
#include "claim.h"

enum { JOBS_MAX = 4, JOB_TRIES = 3 };

struct activity_job;

struct activity_job_kind {
	const char *operation; /* "preload" */
	const char *doing;     /* for people: "being loaded" */
	/** The activity is known and its data readable. */
	void (*begin)(struct activity_job *job);
	/** amounts are those of the rule. */
	void (*allocated)(struct activity_job *job);
	/** Whether who asks meanwhile asks for the same; NULL: certainly. */
	bool (*same)(const struct activity_op *first,
		     const struct activity_op *other);
};

struct activity_job {
	UT_hash_handle hh;
	const struct activity_job_kind *kind;
	struct activity_service *svc;
	char id[ID_MAX + 1];
	struct activity_view view; /* as it was when the job began */
	struct activity_op *ops;   /* who waits, utlist */
	/* The packets in question: at first those of the plan. */
	const struct allocate_rule *rule;
	const uint8_t *seed;
	uint64_t id_base;
	uv_work_t work;
	int64_t *amounts;    /* by the rule, NULL before */
	struct adopt *adopt; /* the check of an adopted list, NULL before */
	char list[LIST_DIGEST_TEXT]; /* the digest of an adopted list */
	uint64_t done;               /* packets pushed, or checked */
	int tries;                   /* failures in a row */
};

/** Join the job of op's activity, or start one. */
void job_start(struct activity_op *op, const struct activity_job_kind *kind);

/** Read the activity, again if it has changed since, and begin: nothing may have
 * been allocated yet. */
void job_read(struct activity_job *job);

/** Recompute the amounts on a thread of libuv's pool, then kind->allocated(). */
void job_allocate(struct activity_job *job);

/** Answer everybody and free the job. */
void printf_like(3, 4) job_end(struct activity_job *job, Rain__Outcome outcome,
			       const char *fmt, ...);

/** Whether no reply, or an error, may be met by doing the same once more; ends
 * the job if not. */
bool job_again(struct activity_job *job, enum redis_outcome outcome,
	       struct bytes error);

/** Whether the service stops: then the job is ended. */
bool job_stopped(struct activity_job *job);

/** Run a step for the job. */
void job_step(struct activity_job *job, const struct redis_script *script,
	      size_t argc, const struct bytes *argv, step_cb done);

/** The text of packet number i of the rule, from 0; returns its length. */
size_t job_packet(const struct activity_job *job, uint64_t i,
		  char out[PACKET_TEXT_MAX]);

#endif
