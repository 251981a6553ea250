/**
 * A top-up: shared by activity_topup.c, which announces a tranche, and
 * activity_topup_load.c, which pushes its packets once it is funded.
 */
#ifndef GRAB_ACTIVITY_TOPUP_H
#define GRAB_ACTIVITY_TOPUP_H

#include "activity_job.h"

struct topup_op {
	struct activity_op op; /* first: every op of the job is one of these */
	struct tranche wanted;
};

/** What is asked for; as long as the job. */
const struct tranche *topup_wanted(const struct activity_job *job);

/** The tranche as it was announced; NULL if it was not. */
const struct view_topup *topup_announced(const struct activity_job *job);

/** activity_topup_load.c: it is announced; wait for its money, then push it. */
void topup_load(struct activity_job *job);
/** activity_topup_load.c: send and whole of the job. */
void topup_push(struct activity_job *job, uint64_t from, uint64_t n);
void topup_whole(struct activity_job *job);

#endif
