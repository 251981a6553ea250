/**
 * Long work on one activity: a preload, the check before opening, a top-up. At
 * most one per activity in this process; whoever asks for the same meanwhile is
 * answered with the others when it ends.
 *
 *   job_start -> read the activity -> begin (of preload, open or top-up)
 *             -> job_allocate -> allocated (off the loop)
 *             -> job_go_on -> send, send, ... -> whole -> job_end
 *
 * The packets go in chunks, and several are in flight: Redis finds the next one
 * when it is done with one. They take effect in the order in which they were
 * sent. Something else than a good reply lets no more go out; what it leads to
 * waits until all that are in flight have landed, and they count no more.
 */
#ifndef GRAB_ACTIVITY_JOB_H
#define GRAB_ACTIVITY_JOB_H

#include <uthash.h>

#include "activity_op.h"
#include "adopt.h"
#include "claim.h"

enum {
	JOBS_MAX = 4,
	JOB_TRIES = 3,
	JOB_CHUNKS_MAX = 4, /* in flight: more are no faster, and cost memory */
};

struct activity_job;

struct activity_job_kind {
	const char *operation; /* "preload" */
	const char *doing;     /* for people: "being loaded" */
	/** The activity is known and its data readable. */
	void (*begin)(struct activity_job *job);
	/** amounts are those of the rule. */
	void (*allocated)(struct activity_job *job);
	/** Send n packets from number `from` on, or ask for them. The callback
	 * begins with job_landed(). */
	void (*send)(struct activity_job *job, uint64_t from, uint64_t n);
	/** All packets are done. */
	void (*whole)(struct activity_job *job);
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
	uint64_t sent;               /* the same, with those in flight */
	unsigned flying;             /* chunks in flight */
	int tries;                   /* failures in a row */
	/* To be done when nothing is in flight; NULL: the next chunk. */
	void (*then)(struct activity_job *job);
	Rain__Outcome outcome; /* the answer, since job_end() */
	char message[OP_MESSAGE_MAX];
};

/** Join the job of op's activity, or start one. */
void job_start(struct activity_op *op, const struct activity_job_kind *kind);

/** Read the activity, again if it has changed since, and begin: nothing may have
 * been allocated yet. */
void job_read(struct activity_job *job);

/** Recompute the amounts on a thread of libuv's pool, then kind->allocated(). */
void job_allocate(struct activity_job *job);

/** Begin to send, or begin again where job->done says when those in flight
 * have landed. */
void job_go_on(struct activity_job *job);
/** job->done has grown: send as many chunks as there is room for. */
void job_send(struct activity_job *job);
/** A chunk has its reply, or none. False: it counts no more, and job may be
 * gone. */
must_check bool job_landed(struct activity_job *job);
/** Send no more, and do this when nothing is in flight. Nobody else looks at
 * what lands meanwhile. */
void job_land(struct activity_job *job, void (*then)(struct activity_job *job));

/** Answer everybody and free the job, when nothing is in flight. */
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

/** The same of n packets from `from` on. Free what it returns when out is used
 * no more. */
must_check void *job_packets(const struct activity_job *job, uint64_t from,
			     uint64_t n, struct bytes *out);

#endif
