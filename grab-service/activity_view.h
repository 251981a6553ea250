/**
 * What Redis knows about an activity, read with two plain commands: the fields
 * of meta as lua/README.md names them, and how many packets are pushed.
 */
#ifndef GRAB_ACTIVITY_VIEW_H
#define GRAB_ACTIVITY_VIEW_H

#include "client/redis.h"

#include "plan/plan.h"

#include "list_digest.h"

enum { VIEW_REASON_MAX = 512 };

struct activity_view {
	bool known;        /* there is a meta; else the rest is empty */
	char problem[128]; /* why meta cannot be used, "" if it can */
	int state;         /* rain.State */
	uint64_t revision;
	struct plan plan;
	uint8_t seed[ALLOCATE_SEED];
	uint8_t mixed[ALLOCATE_SEED];           /* the seed with the entropy */
	char entropy[2 * PLAN_ENTROPY_MAX + 1]; /* "": none */
	char entropy_by[ID_MAX + 1];
	int64_t entropy_ms;
	char commitment[PLAN_COMMITMENT];
	uint64_t id_base;            /* id of the first packet */
	char list[LIST_DIGEST_TEXT]; /* of an adopted list, "": not opened */
	char incarnation[96];
	char reason[VIEW_REASON_MAX];
	uint64_t loaded; /* packets pushed so far */
	uint64_t tranches;
	int64_t created_ms;
	int64_t updated_ms;
	bool closed; /* the two below are final */
	uint64_t final_claims;
	uint64_t final_left;
	int64_t leftover_cents; /* -1 until counted */
	bool unlinked;          /* the lists are gone */
};

/** Fill from the reply to HGETALL, an array. */
void view_parse(const redisReply *meta, struct activity_view *out);

/** view is NULL if Redis did not answer; then why says so. Both valid during
 * the call. */
typedef void (*view_cb)(void *ctx, const struct activity_view *view,
			const char *why);

/** Read the activity; done is called later. Reading never changes anything. */
void view_read(struct redis *r, struct bytes activity_id, uint64_t timeout_ms,
	       view_cb done, void *ctx);

/* A message that points into a view, which must outlive it. */
struct view_message {
	Rain__Activity activity;
	Rain__Plan plan;
	struct plan_tiers tiers;
	char seed[2 * ALLOCATE_SEED + 1];
	char id_base[24];
};

/** The seed is told from CLOSED and CANCELLED on: before, it would tell what
 * the packets to come are worth. */
void view_message(const struct activity_view *v, struct view_message *out);

/** Whether seed and plan are those that the commitment was made of. */
bool view_is_committed(const struct activity_view *v);

#endif
